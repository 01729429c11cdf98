import { createHash } from 'node:crypto';

const MOST_CHARACTERS = 64;
const MARK_CHARACTERS = 12;

/**
 * Returns the id of a node without a configured one: its host, and a number that is unique there. It has the 1 to 64
 * letters, digits, dots, dashes and underscores of a node id. A host name that does not fit is cut and marked with a
 * digest of the whole, so two of them differ.
 */
export function defaultNodeId(host: string, number: number): string {
  const whole = `${host}-${number}`;
  const plain = whole.replaceAll(/[^\w.-]/g, '-');
  if (plain === whole && whole.length <= MOST_CHARACTERS) return whole;
  const mark = createHash('sha256').update(whole).digest('hex').slice(0, MARK_CHARACTERS);
  return `${plain.slice(0, MOST_CHARACTERS - MARK_CHARACTERS - 1)}-${mark}`;
}
