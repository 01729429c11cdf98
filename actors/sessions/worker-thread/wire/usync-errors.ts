import { type BinaryNode, getAllBinaryNodeChildren } from '@whiskeysockets/baileys';

/** The longest wait that is accepted from the network's reply: a day. */
const LONGEST_BACKOFF_SECONDS = 86_400;

/**
 * The form of the wait at the end of an error's message. The client keeps only the code and the text of the network's
 * error.
 */
const BACKOFF = /; backoff (\d{1,9}) s$/;

/**
 * An error of one protocol inside the result of a usync query becomes an error of the whole query. So the client
 * rejects it. The server replies to a throttled look-up with such an error and an empty list. The client reads only the
 * list, and took "not now" for "no such number" (vinikjkkj/zapo, src/transport/node/builders/usync.ts). A wait in the
 * answer is added to its text. Call it with each frame before the client sees it.
 */
export function spellOutErrors(frame: BinaryNode | Uint8Array): void {
  if (frame instanceof Uint8Array || frame.tag !== 'iq') return;
  const error = frame.attrs.type === 'error' ? childOf(frame, 'error') : usyncError(frame);
  if (error === undefined) {
    leaveOutErrors(frame);
    return;
  }
  const { code, text = 'refused', backoff } = error.attrs;
  const attrs = {
    ...(code === undefined ? {} : { code }),
    text: Number(backoff) > 0 ? `${text}; backoff ${backoff} s` : text,
  };
  frame.attrs.type = 'error';
  frame.content = [{ tag: 'error', attrs }];
}

/**
 * Leaves out errors in some rows of a usync answer if other rows have a result. The client's reader fails the whole
 * answer for one row, and a group would get no post because of one member. The error of a single number, or of all,
 * stays an error.
 */
function leaveOutErrors(frame: BinaryNode): void {
  const list = childOf(childOf(frame, 'usync'), 'list');
  if (!Array.isArray(list?.content)) return;
  for (const row of list.content) nameUnknownId(row);
  const rows = list.content.map((row) => ({ row, results: resultsIn(row) }));
  if (!rows.some(({ row, results }) => results.length > 0 && results.length === countOf(row))) return;
  for (const { row, results } of rows) if (results.length < countOf(row)) row.content = results;
}

/**
 * Makes an error about a person's id an empty id, so that it is not read as "has no id". The client's reader ignores
 * that error, and a row without an id counts as "has none" for an hour (`lookUpNumbers`).
 */
function nameUnknownId(row: BinaryNode): void {
  const lid = childOf(row, 'lid');
  if (lid === undefined || childOf(lid, 'error') === undefined) return;
  lid.attrs = { val: '' };
  delete lid.content;
}

/** Returns the parts of a row that are no errors. */
function resultsIn({ content }: BinaryNode): BinaryNode[] {
  return Array.isArray(content) ? content.filter((part) => childOf(part, 'error') === undefined) : [];
}

const countOf = ({ content }: BinaryNode): number => (Array.isArray(content) ? content.length : 0);

/**
 * Returns how long the network refuses such queries, in milliseconds, at most a day. Empty if the error names no wait.
 */
export function backoffOf(error: unknown): { readonly backoffMs?: number } {
  const message = error instanceof Error ? error.message : '';
  const seconds = BACKOFF.exec(message)?.[1];
  if (seconds === undefined) return {};
  return { backoffMs: Math.min(Number(seconds), LONGEST_BACKOFF_SECONDS) * 1_000 };
}

function usyncError(answer: BinaryNode): BinaryNode | undefined {
  const protocols = childOf(childOf(answer, 'usync'), 'result');
  if (protocols === undefined) return undefined;
  for (const protocol of getAllBinaryNodeChildren(protocols)) {
    const error = childOf(protocol, 'error');
    if (error !== undefined) return error;
  }
  return undefined;
}

/** The client's own look-up caches a node's children, and this node's are about to change. */
function childOf(node: BinaryNode | undefined, tag: string): BinaryNode | undefined {
  return Array.isArray(node?.content) ? node.content.find((child) => child.tag === tag) : undefined;
}
