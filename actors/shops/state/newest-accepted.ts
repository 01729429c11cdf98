import { LEDGER_BOUND } from '../../../policy/send-ledger.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import type { Read, Store } from '../../../runtime/store.ts';
import { addedAtMs, entryTextOf } from './accepted-list.ts';

/** Returns the read of the newest elements of a shop's list; `allThatCount` completes its reply. */
export function newestRead(listKey: string): Read<'LRANGE'> {
  return ['LRANGE', listKey, -LEDGER_BOUND, -1];
}

/**
 * Returns all elements of a shop's list that the policy may count at `nowMs`, oldest first. `firstPart` is the reply to
 * `newestRead`. A cancelled message leaves an element that counts nothing, so the counted ones then reach further back.
 */
export async function allThatCount(
  listKey: string,
  firstPart: readonly string[],
  { store, nowMs }: { readonly store: Pick<Store, 'read'>; readonly nowMs: number },
): Promise<readonly string[]> {
  let elements = firstPart;
  let step = firstPart;
  while (step.length === LEDGER_BOUND && countedOf(elements) < LEDGER_BOUND) {
    if (!step.some((element) => isOfDay(element, nowMs))) break;
    const end = -elements.length - 1;
    [step] = await store.read([['LRANGE', listKey, end - LEDGER_BOUND + 1, end]]);
    elements = [...step, ...elements];
  }
  return elements;
}

function countedOf(elements: readonly string[]): number {
  return elements.filter((element) => entryTextOf(element) !== '').length;
}

/** True if an element may be less than a day old. Ids contain whole seconds. */
function isOfDay(element: string, nowMs: number): boolean {
  const atMs = addedAtMs(element);
  return atMs === undefined || atMs > nowMs - DAY_MS - 1_000;
}
