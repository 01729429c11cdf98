import { successBody } from './envelope.ts';

const bodies = new WeakMap<object, string>();

/** The body of a success with this data, if `rememberBody` was called with it; undefined for any other. */
export function knownBody(data: object): string | undefined {
  return bodies.get(data);
}

/** Remembers the body of a success with data that never changes, for as long as the data lives. */
export function rememberBody(data: object): void {
  if (!bodies.has(data)) bodies.set(data, successBody(data));
}
