/** The wait of a test of a webhook for a slot, among other tests of the tenant. No endpoint answers by itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AddressGuard } from '../../../actors/outbound/address-guard.ts';
import { makeSecret } from '../../../actors/webhooks/signature.ts';
import { WebhookPump, type WebhookPumpOptions } from '../../../actors/webhooks/webhook-pump.ts';
import { secretUse } from '../../../actors/webhooks/webhook-secrets.ts';
import type { RuntimeFailure } from '../../../runtime/runtime-failure.ts';
import { textCipher } from '../../../runtime/text-cipher.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { fakeOf } from '../../testbed/fake-of.ts';
import { webhookRecord } from './endpoint-world.ts';

/** The number of tests of one tenant that run at a time. */
const SHARE = 16;
const TENANT = '66b1f0a2c3d4e5f607182901';

test('a test that gets no slot within two seconds is refused and never sent, and a later one gets a free slot', async () => {
  const clock = new FakeClock();
  const cipher = textCipher([Buffer.alloc(32, 1)], 'webhooks');
  /** Ends the look-up of each test that was sent, which fails the test. */
  const underWay: (() => void)[] = [];
  const pump = new WebhookPump(
    fakeOf<WebhookPumpOptions>({
      clock,
      cipher,
      delivery: {
        guard: new AddressGuard({ allowLoopback: false, deniedRanges: [] }),
        resolve: () => new Promise((_, fail) => underWay.push(() => fail(new Error('no such name')))),
      },
    }),
  );
  const secret = cipher.seal(secretUse(TENANT, 'hook'), makeSecret());
  const webhook = webhookRecord({ id: 'hook', url: 'https://example.com/', secret });
  const send = () => pump.send(TENANT, webhook, { id: 'event', body: '{}' });
  const sent = Array.from({ length: SHARE }, send);
  const refusedCode = send().then(
    () => 'sent',
    (error: RuntimeFailure) => error.code,
  );
  await clock.advance(1_999);
  const inTime = send();
  await clock.advance(1);
  assert.equal(await refusedCode, 'NODE_BUSY');
  assert.equal(underWay.length, SHARE);
  underWay[0]?.();
  await sent[0];
  await clock.advance(1_000);
  assert.equal(underWay.length, SHARE + 1, 'only the one that may still wait was sent');
  for (const end of underWay) end();
  const results = await Promise.all([...sent, inTime]);
  assert.ok(results.every(({ status, error }) => status === null && error !== null));
});
