import type { BinaryNode } from '@whiskeysockets/baileys';
import { SERVER_ADDRESS } from './addresses.ts';

/** Returns a stanza or a child of one. */
export function node(
  tag: string,
  attrs: Record<string, string | undefined> = {},
  content?: BinaryNode['content'],
): BinaryNode {
  const presentAttributes: Record<string, string> = {};
  for (const name of Object.keys(attrs)) {
    const value = attrs[name];
    if (value !== undefined) presentAttributes[name] = value;
  }
  return content === undefined
    ? { tag, attrs: presentAttributes }
    : { tag, attrs: presentAttributes, content };
}

/** Returns the answer to an iq. */
export const iqResult = (query: BinaryNode, content?: BinaryNode[]): BinaryNode =>
  node('iq', { id: query.attrs.id, from: query.attrs.to ?? SERVER_ADDRESS, type: 'result' }, content);

/** Returns a refusal of an iq. The client rejects with `text` as message and `code` as data. */
export const iqError = (query: BinaryNode, code: number, text: string): BinaryNode =>
  node('iq', { id: query.attrs.id, from: query.attrs.to ?? SERVER_ADDRESS, type: 'error' }, [
    node('error', { code: String(code), text }),
  ]);

/** Returns the end of the stream. `code` becomes the client's disconnect code. */
export const streamError = (code: number | undefined, reason: BinaryNode): BinaryNode =>
  node('stream:error', { code: code === undefined ? undefined : String(code) }, [reason]);

/** Returns the attribute, or an empty string. */
export const attribute = (stanza: BinaryNode, name: string): string => stanza.attrs[name] ?? '';
