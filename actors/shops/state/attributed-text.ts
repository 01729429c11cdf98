import { hasText, MESSAGE_TEXT_LIMIT } from '../../../policy/message-content.ts';

/** How the line under a pooled message is made. */
interface Attribution {
  readonly shopName: string;
  readonly platformName: string;
}

/**
 * The text as the pool sends it: with a last line that says for whom and by whom, since nothing is ever sent
 * silently as the tenant (docs/contract.md, Enforced in the sending component). An attachment without a text
 * has the line as its caption.
 */
export function attributedText(text: string | null, { shopName, platformName }: Attribution): string {
  // Part of a name with a line break would look like part of the message.
  const line = `Sent for ${oneLine(shopName)} via ${oneLine(platformName)}`;
  return hasText(text ?? undefined) ? `${text}\n\n${line}` : line;
}

/** How many characters too long a text is for one message; 0 when it fits. */
export function excessCharacters(text: string): number {
  return Math.max(0, [...text].length - MESSAGE_TEXT_LIMIT);
}

function oneLine(name: string): string {
  return name.replace(/\s+/gu, ' ').trim();
}
