import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditLogQuery } from '../../../http/audit-log/audit-entry.ts';
import { AUDIT_KEYS, listChanges } from '../../../http/audit-log/audit-reader.ts';
import type { Read, Store } from '../../../runtime/store.ts';
import { fakeOf } from '../../testbed/fake-of.ts';

const CHANGE = JSON.stringify({ operator: 'ada', role: 'admin', method: 'POST', route: '/x', params: {} });
/** Ids of 450 changes, the newest first. */
const IDS = Array.from({ length: 450 }, (_, index) => `${1_800_000_000_000 - index}-${'0'.repeat(24)}`);

/** Returns a store whose newest entry is removed between the reads of the ids and of the entries. */
function storeWithout(removedId: string | undefined): Pick<Store, 'read'> {
  const answer = ([command, key, first, ...others]: Read): unknown => {
    if (command === 'HMGET') {
      const isOfEntries = key === AUDIT_KEYS.entries;
      return [first, ...others].map((id) => (isOfEntries && id !== removedId ? CHANGE : null));
    }
    const from = first === '+' ? 0 : IDS.indexOf(String(first).slice(1)) + 1;
    return IDS.slice(from, from + 200);
  };
  return fakeOf<Store>({ read: (async (reads: readonly Read[]) => reads.map(answer)) as never });
}

test('a list continues after a read in which an entry was removed', async () => {
  for (const [removedId, count] of [
    [undefined, 450],
    [IDS[0], 449],
  ] as const) {
    const query = fakeOf<AuditLogQuery>({ operator: 'ada', limit: 1_000 });
    const { items, nextCursor } = await listChanges(storeWithout(removedId), query);
    assert.deepEqual([items.length, nextCursor], [count, null]);
  }
});
