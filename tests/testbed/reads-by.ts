import type { Read, Store } from '../../runtime/store.ts';

/** A fake store's `read` or `readBytes`. The function answers each read as Redis would. */
export function readsBy(answer: (read: Read) => unknown): Store['read'] & Store['readBytes'] {
  const read = async (reads: readonly Read[]): Promise<unknown[]> => reads.map(answer);
  return read as Store['read'] & Store['readBytes'];
}
