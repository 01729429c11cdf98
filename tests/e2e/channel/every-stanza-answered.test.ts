/** A shop hears what people write, whatever else the network has for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE_MS } from '../../../runtime/durations.ts';
import { until } from '../../testbed/waiting.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { sendText } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110001';
const CUSTOMER = '+33622220001';
const FROM_ADVERT = '+33622220002';
const CONTACT = '+33622220003';
const FIFTY_MINUTES = 50 * MINUTE_MS;

const stack = sharedStack({ phone: SHOP_PHONE });

/** Resolves when the shop may not write to a person any more. */
async function untilOptedOut(person: string): Promise<void> {
  await until(`the STOP of ${person} is heard`, async () => {
    const answer = await sendText(stack, stack.shopId, { to: person, text: 'Your bread is ready' });
    return answer.error?.code === 'RECIPIENT_OPTED_OUT';
  });
}

async function untilAnswered(): Promise<void> {
  await until('the network has all its answers', async () => {
    const { waiting, unacknowledged } = await stack.network.unanswered(SHOP_PHONE);
    return waiting.length === 0 && unacknowledged.length === 0;
  });
}

const connectedSince = async (): Promise<string | null | undefined> =>
  (await stack.network.sessions()).items[0]?.since;

test('a STOP in the first message of an advert opts out', async () => {
  const message = { to: SHOP_PHONE, text: 'STOP', unavailable: true, wait: false };
  await stack.network.write(FROM_ADVERT, message);
  await untilOptedOut(FROM_ADVERT);
});

test('a STOP after 250 waiting stanzas, with statuses that are unreadable, opts out after a restart', async () => {
  const { network } = stack;
  await stack.end('SIGTERM');
  await network.arrive(SHOP_PHONE, { kind: 'status_message', from: CONTACT, readable: false });
  await network.arrive(SHOP_PHONE, { kind: 'status', from: CONTACT, readable: false, count: 199 });
  for (let index = 0; index < 50; index += 1)
    await network.write(CONTACT, { to: SHOP_PHONE, text: `Message ${index}`, wait: false });
  await network.write(CUSTOMER, { to: SHOP_PHONE, text: 'STOP', wait: false });
  await stack.start();
  await untilOptedOut(CUSTOMER);
  await untilAnswered();
});

test('a session stays open past fifty minutes with statuses, newsletters and messages arriving', async () => {
  const { network } = stack;
  await untilAnswered();
  const connectedAt = await connectedSince();
  assert.ok(connectedAt);
  for (const kind of ['status', 'status_message'] as const) {
    await network.arrive(SHOP_PHONE, { kind, from: CONTACT, readable: false });
    await network.arrive(SHOP_PHONE, { kind, from: CONTACT });
  }
  await network.arrive(SHOP_PHONE, { kind: 'newsletter' });
  await network.arrive(SHOP_PHONE, { kind: 'appdata' });
  assert.equal((await network.write(CONTACT, { to: SHOP_PHONE, text: 'Bonjour' })).delivered, true);
  await untilAnswered();
  await network.forward(FIFTY_MINUTES);
  assert.equal((await network.write(CONTACT, { to: SHOP_PHONE, text: 'Still there?' })).delivered, true);
  assert.equal(await connectedSince(), connectedAt);
  const answer = await fetch(`${stack.adminUrl()}/metrics`, {
    headers: { authorization: `Bearer ${stack.adminToken}` },
  });
  assert.match(await answer.text(), /msgapi_session_unanswered_total\{class="status"\} 0/);
});
