import { hasText, MESSAGE_TEXT_LIMIT } from '../../../policy/content-rules.ts';

/** The names in the last line of a pooled message. */
interface Attribution {
  readonly shopName: string;
  readonly platformName: string;
}

/**
 * Returns the text as the pool sends it: the last line names the shop and the platform. The pool never sends silently
 * as the tenant (docs/contract.md, Enforced in the sending component). An attachment without a text has the line as its
 * caption.
 */
export function attributedText(text: string | null, { shopName, platformName }: Attribution): string {
  // Part of a name with a line break would look like part of the message.
  const line = `Sent for ${oneLine(shopName)} via ${oneLine(platformName)}`;
  return hasText(text ?? undefined) ? `${text}\n\n${line}` : line;
}

/** Returns how many characters a text is too long for one message; 0 if it fits. */
export function excessCharacters(text: string): number {
  return Math.max(0, [...text].length - MESSAGE_TEXT_LIMIT);
}

function oneLine(name: string): string {
  return name.replace(/\s+/gu, ' ').trim();
}
