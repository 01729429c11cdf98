import type { BinaryNode } from '@whiskeysockets/baileys';

const number = (bytes: number): Uint8Array => new Uint8Array(bytes);

/** Returns the row of an answer with the keys of the device that this row of a question names. */
export function withKeys({ attrs }: BinaryNode): BinaryNode {
  const signed = ['id', 'value', 'signature'].map((tag, index) => ({
    tag,
    attrs: {},
    content: number([3, 32, 64][index] ?? 0),
  }));
  const content: BinaryNode[] = [
    { tag: 'registration', attrs: {}, content: number(4) },
    { tag: 'identity', attrs: {}, content: number(32) },
    { tag: 'skey', attrs: {}, content: signed },
    { tag: 'key', attrs: {}, content: signed.slice(0, 2) },
  ];
  return { tag: 'user', attrs, content };
}
