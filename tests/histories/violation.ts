/** A promise that a history breaks. `names` are the ids, texts or numbers that it is about. */
export interface Violation {
  readonly promise: string;
  readonly names: readonly string[];
}

/** Names a broken promise, and what it is about. */
export function broken(promise: string, ...names: string[]): Violation {
  return { promise, names };
}
