/** The message of one order, without a client. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AddressGuard } from '../../../../actors/outbound/address-guard.ts';
import { DEFAULT_SESSION_TIMING } from '../../../../actors/sessions/session-timing.ts';
import { makeMessage } from '../../../../actors/sessions/worker-thread/sending/make-message.ts';
import {
  beginningOf,
  type PendingOrder,
} from '../../../../actors/sessions/worker-thread/sending/pending-order.ts';
import { FairSlots } from '../../../../runtime/fair-slots.ts';
import { textOrder } from '../session-conformance.ts';

test('an order that is given up just when it gets its slot gives the slot back', async () => {
  const slots = new FairSlots({ share: 1 });
  const { giveBack } = await slots.take('tenant');
  const order = textOrder('', { mediaUrl: 'https://files.example/photo.jpg', mediaType: 'image' });
  const pendingOrder: PendingOrder = {
    ...beginningOf({ attempt: 1, order, composingMs: 0 }),
    deadline: { cancel: () => undefined },
  };
  const parts = {
    timing: DEFAULT_SESSION_TIMING,
    tenantId: 'tenant',
    chatTimers: { of: async () => undefined },
    media: {
      slots,
      guard: new AddressGuard({ allowLoopback: false, deniedRanges: [] }),
      resolve: async () => [],
    },
  } as unknown as Parameters<typeof makeMessage>[0];
  const made = makeMessage(parts, pendingOrder, '33622222222@s.whatsapp.net');
  await nextTurn();
  // Two orders of one session end together: the first gives its slot to the second, which then ends too.
  giveBack();
  pendingOrder.release();
  pendingOrder.cancel?.abort();
  await assert.rejects(made);
  assert.ok(await Promise.race([slots.take('tenant'), nextTurn(false)]), 'the slot is free');
});
