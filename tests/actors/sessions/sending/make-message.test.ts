/** The message of one order, without a client. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AddressGuard } from '../../../../actors/outbound/address-guard.ts';
import { DEFAULT_SESSION_TIMING } from '../../../../actors/sessions/session-timing.ts';
import { makeMessage } from '../../../../actors/sessions/worker-thread/sending/make-message.ts';
import type { OutboxOptions } from '../../../../actors/sessions/worker-thread/sending/outbox-options.ts';
import { PendingOrder } from '../../../../actors/sessions/worker-thread/sending/pending-order.ts';
import type { SessionContext } from '../../../../actors/sessions/worker-thread/shared/session-context.ts';
import type {
  MediaEnvironment,
  SessionEnvironment,
} from '../../../../actors/sessions/worker-thread/shared/session-environment.ts';
import { FairSlots } from '../../../../runtime/fair-slots.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';
import { newShop, textOrder } from '../conformance-network.ts';

test('an order that is given up just when it gets its slot gives the slot back', async () => {
  const slots = new FairSlots({ share: 1 });
  const shop = newShop();
  const { tenantId } = shop;
  const { giveBack } = await slots.take(tenantId);
  const order = textOrder('', { mediaUrl: 'https://files.example/photo.jpg', mediaType: 'image' });
  const pendingOrder = new PendingOrder({ attempt: 1, order, composingMs: 0 });
  const context = fakeOf<SessionContext>({
    timing: DEFAULT_SESSION_TIMING,
    shop,
    environment: fakeOf<SessionEnvironment>({
      media: fakeOf<MediaEnvironment>({
        slots,
        guard: new AddressGuard({ allowLoopback: false, deniedRanges: [] }),
        resolve: async () => [],
      }),
    }),
  });
  const parts = fakeOf<OutboxOptions>({ context, chatTimers: { of: async () => undefined } });
  const made = makeMessage(parts, pendingOrder, '33622222222@s.whatsapp.net');
  await nextTurn();
  // Two orders of one session end together: the first gives its slot to the second, which then ends too.
  giveBack();
  pendingOrder.end();
  await assert.rejects(made);
  assert.ok(await Promise.race([slots.take(tenantId), nextTurn(false)]), 'the slot is free');
});
