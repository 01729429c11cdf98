import { rememberLast } from '../runtime/memoize.ts';
import { type ContentPolicyCode, type PolicyRefusal, refuse } from './refusal.ts';

/** Most characters, counted as code points, that the text of a message may have (docs/contract.md, Input bounds). */
export const MESSAGE_TEXT_LIMIT = 4096;

/** Most characters of a status's caption (docs/contract.md, Input bounds). */
export const CAPTION_LIMIT = 700;

/** Refuses a text over its limit, and what `refuseFittingContent` refuses. */
export function refuseContent(
  text: string | undefined,
  mediaUrl: string | undefined,
): PolicyRefusal<'MESSAGE_TOO_LONG' | ContentPolicyCode> | undefined {
  if (text !== undefined && exceedsCodePoints(text, MESSAGE_TEXT_LIMIT))
    return refuse('MESSAGE_TOO_LONG', `The text has more than ${MESSAGE_TEXT_LIMIT} characters.`);
  return refuseFittingContent(text, mediaUrl);
}

/**
 * Refuses content that is within the bounds of a request and breaks another rule. Scheduled sends and batches ask it,
 * too, when they store a content.
 */
export function refuseFittingContent(
  text: string | undefined,
  mediaUrl: string | undefined,
): PolicyRefusal<ContentPolicyCode> | undefined {
  return refuseEmpty(text, mediaUrl !== undefined);
}

/** Refuses content with no attachment and no text. A text without a visible character counts as none. */
export function refuseEmpty(
  text: string | undefined,
  hasAttachment: boolean,
): PolicyRefusal<'EMPTY_MESSAGE'> | undefined {
  if (hasAttachment || hasText(text)) return undefined;
  return refuse('EMPTY_MESSAGE', 'A message needs a text or an attachment.');
}

/**
 * A visible character: no white space, no control character, and none that Unicode declares default-ignorable. Phones
 * also draw nothing for two symbols: the empty braille cell (U+2800) and the null notehead (U+1D159).
 */
const VISIBLE = /[^\s\p{Cc}\p{Default_Ignorable_Code_Point}\u{2800}\u{1d159}]/u;

/** True when the text has a visible character; a zero-width space or a variation selector alone is not visible. */
export function hasText(text: string | undefined): text is string {
  return text !== undefined && isVisible(text);
}

/** Remembers the last text, because a send asks twice about the same one. */
const isVisible = rememberLast((text: string) => VISIBLE.test(text));

function exceedsCodePoints(text: string, limit: number): boolean {
  // A code point takes one or two UTF-16 units, so most texts need no counting.
  if (text.length <= limit || text.length > 2 * limit) return text.length > limit;
  let pairs = 0;
  for (let index = 1; index < text.length; index += 1) {
    const isPair =
      (text.charCodeAt(index) & 0xfc00) === 0xdc00 && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800;
    pairs += isPair ? 1 : 0;
  }
  return text.length - pairs > limit;
}
