import assert from 'node:assert/strict';
import type { Read, Store } from '../../../runtime/store.ts';
import { readsBy } from '../../testbed/reads-by.ts';

/** A fake store that answers reads of events only if they are confirmed. A failover may take back others. */
export function confirmedReads(answer: (read: Read) => unknown): Pick<Store, 'read' | 'readConfirmed'> {
  return {
    read: readsBy((read) =>
      /^X(?:REV)?RANGE$/.test(read[0]) ? assert.fail('events are read confirmed') : answer(read),
    ),
    readConfirmed: readsBy(answer),
  };
}
