import { createHash } from 'node:crypto';

const MOST_CHARACTERS = 64;
const MARK_CHARACTERS = 12;

/**
 * Returns the id of a node without a configured one: its host, and a number that is unique there. It has the 1 to 64
 * letters, digits, dots, dashes and underscores of a node id. A host name that does not fit is cut and marked with a
 * digest of the whole, so two of them differ.
 */
export function defaultNodeId(host: string, number: number): string {
  const name = `${host}-${number}`;
  const plainName = name.replaceAll(/[^\w.-]/g, '-');
  if (plainName === name && name.length <= MOST_CHARACTERS) return name;
  const mark = createHash('sha256').update(name).digest('hex').slice(0, MARK_CHARACTERS);
  return `${plainName.slice(0, MOST_CHARACTERS - MARK_CHARACTERS - 1)}-${mark}`;
}
