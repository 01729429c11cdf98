import type { Stanza } from './library.ts';

export const SERVER = 's.whatsapp.net';

/** The children with a tag. */
export function childrenOf(stanza: Stanza | undefined, tag?: string): readonly Stanza[] {
  const { content } = stanza ?? {};
  if (content === undefined || typeof content === 'string' || content instanceof Uint8Array) return [];
  return tag === undefined ? content : content.filter((child) => child.tag === tag);
}

export const childOf = (stanza: Stanza | undefined, tag: string): Stanza | undefined =>
  childrenOf(stanza, tag)[0];

/** Returns the server's answer to a question. */
export function result(iq: Stanza, content: readonly Stanza[] = []): Stanza {
  return { tag: 'iq', attrs: { id: iq.attrs.id ?? '', from: SERVER, type: 'result' }, content };
}

/** How the server refuses a question. */
export function refusal(iq: Stanza, code: number): Stanza {
  const error = { tag: 'error', attrs: { code: String(code) } };
  return { tag: 'iq', attrs: { id: iq.attrs.id ?? '', from: SERVER, type: 'error' }, content: [error] };
}
