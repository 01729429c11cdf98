/** The network decides who a person is, in whichever form of their number a caller writes to them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedStack } from '../stack/shared-stack.ts';
import { sendText, untilEnded, untilStatus } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110077';

const stack = sharedStack({ phone: SHOP_PHONE }, async () => {
  // More than the five strangers of a day.
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, {
    phones: ['+33655550004', '+33655550005'],
  });
});

const send = (to: string, text: string) => sendText(stack, stack.shopId, { to, text });

async function texts(phone: string): Promise<(string | null)[]> {
  return (await stack.network.inbox(phone)).items.map(({ text }) => text);
}

for (const [country, canonical, written] of [
  ['Brazil', '+553196348800', '+5531996348800'],
  ['Mexico', '+525512345678', '+5215512345678'],
  ['Argentina', '+5491123456789', '+541123456789'],
] as const) {
  test(`${country}: a message to the other form arrives, STOP counts for both, and one person’s limits apply`, async () => {
    await stack.network.setNumber(canonical, true, [written]);
    const accepted = await send(written, `Hello ${country}`);
    assert.equal(accepted.status, 202);
    for (const form of [canonical, written]) {
      const second = await send(form, 'Once more');
      assert.deepEqual([form, second.status, second.error?.code], [form, 429, 'RECIPIENT_RATE_LIMITED']);
    }
    const sent = await untilStatus(stack, String(accepted.data.id), 'sent');
    assert.equal(sent.to, written, 'the record shows what the caller wrote');
    assert.deepEqual([await texts(canonical), await texts(written)], [[`Hello ${country}`], []]);
    await stack.network.write(canonical, { to: SHOP_PHONE, text: 'STOP' });
    for (const form of [canonical, written]) {
      const refused = await send(form, 'Are you there?');
      assert.deepEqual([form, refused.status, refused.error?.code], [form, 422, 'RECIPIENT_OPTED_OUT']);
    }
  });
}

test('a person who writes under the number the network knows is known under the other form too, and has replied', async () => {
  const [canonical, written] = ['+553196348811', '+5531996348811'];
  await stack.network.setNumber(canonical, true, [written]);
  await stack.network.write(canonical, { to: SHOP_PHONE, text: 'Are you open?' });
  const first = await send(written, 'Yes');
  await untilStatus(stack, String(first.data.id), 'sent');
  await stack.network.write(canonical, { to: SHOP_PHONE, text: 'Go on' });
  const known = await send(written, 'Thank you');
  assert.equal((known.data.policy as { recipientClass: string }).recipientClass, 'known');
  await untilStatus(stack, String(known.data.id), 'sent');
  assert.deepEqual(await texts(canonical), ['Yes', 'Thank you']);
});

test('numbers that only the network knows to be one person: the second message is rejected before the wire', async () => {
  const canonical = '+33655550001';
  const written = '+33655550002';
  await stack.network.setNumber(canonical, true, [written]);
  // Both are accepted before either was checked, so it is not known yet that they are one person.
  const both = await Promise.all([send(written, 'First'), send(canonical, 'Second')]);
  assert.deepEqual(
    both.map(({ status }) => status),
    [202, 202],
  );
  const ended = await Promise.all(both.map(({ data }) => untilEnded(stack, String(data.id))));
  assert.deepEqual(
    ended.map(({ status, reason }) => [status, reason]),
    [
      ['sent', null],
      ['rejected', 'RECIPIENT_RATE_LIMITED'],
    ],
  );
  assert.deepEqual([await texts(canonical), await texts(written)], [['First'], []]);
  const third = await send(written, 'Third');
  assert.deepEqual([third.status, third.error?.code], [429, 'RECIPIENT_RATE_LIMITED']);
  await stack.network.write(canonical, { to: SHOP_PHONE, text: 'stop' });
  assert.equal((await send(written, 'Fourth')).error?.code, 'RECIPIENT_OPTED_OUT');
  assert.equal(await stack.end('SIGKILL'), null);
  await stack.start();
  assert.equal((await send(written, 'Fifth')).error?.code, 'RECIPIENT_OPTED_OUT', 'also after a restart');
});

test('STOP under the number the network knows rejects what was accepted under another before the check', async () => {
  const canonical = '+33655550003';
  const written = '+33655550004';
  await stack.network.setNumber(canonical, true, [written]);
  await stack.network.write(canonical, { to: SHOP_PHONE, text: 'STOP' });
  const accepted = await send(written, 'Hello');
  assert.equal(accepted.status, 202);
  const ended = await untilEnded(stack, String(accepted.data.id));
  assert.deepEqual([ended.status, ended.reason], ['rejected', 'RECIPIENT_OPTED_OUT']);
  assert.deepEqual(await texts(canonical), []);
});

test('STOP from a person without a known number counts once the number is known', async () => {
  const person = '+33655550005';
  const stop = { to: SHOP_PHONE, text: 'STOP', addressing: 'lid_only' } as const;
  assert.equal((await stack.network.write(person, stop)).delivered, true);
  const accepted = await send(person, 'Hello');
  assert.equal(accepted.status, 202, 'nobody can tell yet whose STOP it was');
  const ended = await untilEnded(stack, String(accepted.data.id));
  assert.deepEqual([ended.status, ended.reason], ['rejected', 'RECIPIENT_OPTED_OUT']);
  assert.deepEqual(await texts(person), []);
  assert.equal(
    (await send(person, 'Hello again')).error?.code,
    'RECIPIENT_OPTED_OUT',
    'from then on at once',
  );
  await stack.network.write(person, { ...stop, text: 'I changed my mind' });
  const lifted = await send(person, 'Welcome back');
  assert.equal(lifted.error?.code, undefined);
  await untilStatus(stack, String(lifted.data.id), 'sent');
});
