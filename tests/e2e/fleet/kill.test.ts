/**
 * The service is killed at random moments while it accepts and sends, and started again on the same store. Sessions
 * resume without a scan, nothing accepted is lost, and nothing is sent twice. A STOP that the network believes
 * delivered has taken effect. TEST_SEED repeats a run, TEST_RUNS sets the number of kills.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../testbed/seeded-random.ts';
import { testEnvironment } from '../../testbed/test-environment.ts';
import { pause } from '../../testbed/waiting.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop, sendText, untilConnected, untilEnded, untilTaken } from '../stack/shop-steps.ts';

const { seed, runs: rounds = 4 } = testEnvironment();
const SHOPS = 4;
const SENDS_PER_SHOP = 10;

interface Send {
  readonly shopId: string;
  readonly to: string;
  readonly text: string;
}

const stack = sharedStack({ gapMs: '20-200' });

test(`${rounds} kills at random moments: nothing lost, nothing doubled (seed ${seed})`, async (context) => {
  context.diagnostic(`seed ${seed}`);
  const random = seededRandom(seed);
  const shops = await connectShops(random);
  const accepted: (Send & { readonly id: string })[] = [];
  const unansweredSends: Send[] = [];
  let next = 0;
  let stops = 0;
  for (let round = 0; round < rounds; round += 1) {
    const stopper = `+3367${String(next).padStart(7, '0')}`;
    const sends = Array.from({ length: Math.floor((SHOPS * SENDS_PER_SHOP) / rounds) }, () => {
      next += 1;
      return {
        shopId: shops[next % SHOPS]?.id ?? '',
        to: `+3366${String(next).padStart(7, '0')}`,
        text: `message ${next}`,
      };
    });
    const stopShop = shops[round % SHOPS];
    assert.ok(stopShop);
    const stop = stack.network.write(stopper, { to: stopShop.phone, text: 'STOP' }).then(
      ({ delivered }) => delivered,
      () => false,
    );
    const sending = Promise.all(
      sends.map(async (send) => {
        await pause(random() * 1_500);
        try {
          const reply = await sendText(stack, send.shopId, { ...send, idempotencyKey: send.text });
          assert.equal(reply.status, 202, JSON.stringify(reply.error));
          accepted.push({ ...send, id: String(reply.data.id) });
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error;
          unansweredSends.push(send);
        }
      }),
    );
    await pause(random() * 1_500);
    const believedDelivered = await Promise.race([stop, Promise.resolve(undefined)]);
    await stack.end('SIGKILL');
    await sending;
    await stack.start();
    if (believedDelivered === true) {
      stops += 1;
      const refusedAnswer = await sendText(stack, stopShop.id, { to: stopper, text: `round ${round}` });
      assert.equal(refusedAnswer.error?.code, 'RECIPIENT_OPTED_OUT', `STOP of round ${round} was lost`);
    }
    for (const shop of shops) await untilConnected(stack, shop.id);
    await stop;
  }
  // A caller that was cut off asks again with the same idempotency key: accepted before or now, it is sent once.
  for (const send of unansweredSends) {
    const reply = await sendText(stack, send.shopId, { ...send, idempotencyKey: send.text });
    assert.ok(reply.status === 202 || reply.status === 200, JSON.stringify(reply.error));
    accepted.push({ ...send, id: String(reply.data.id) });
  }
  let restarted = 0;
  let restartedYetDelivered = 0;
  for (const message of accepted) {
    const record = await untilEnded(stack, message.id);
    const deliveredEntries = (await stack.network.inbox(message.to)).items.filter(
      ({ text }) => text === message.text,
    );
    const outcome = `${message.id} ${record.status} ${record.reason}`;
    if (record.status === 'sent') {
      assert.equal(deliveredEntries.length, 1, outcome);
    } else {
      assert.deepEqual([record.status, record.reason], ['failed', 'BOT_RESTARTED'], outcome);
      assert.ok(deliveredEntries.length <= 1, `${outcome} was delivered ${deliveredEntries.length} times`);
      restarted += 1;
      restartedYetDelivered += deliveredEntries.length;
    }
  }
  context.diagnostic(
    `${accepted.length} messages, ${unansweredSends.length} of them cut off by a kill and asked again; ${stops} STOPs held; ` +
      `${restarted} failed BOT_RESTARTED, ${restartedYetDelivered} of them were delivered`,
  );
  assert.ok(accepted.length > 0);
});

/** Shops of one tenant, connected; all recipients are customers, so that the caps for strangers do not bind. */
async function connectShops(random: () => number): Promise<{ id: string; phone: string }[]> {
  const phones = Array.from(
    { length: SHOPS * SENDS_PER_SHOP + 1 },
    (_, n) => `+3366${String(n).padStart(7, '0')}`,
  );
  await untilTaken(() => stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones }));
  const base = Math.floor(random() * 1_000_000);
  const shops: { id: string; phone: string }[] = [];
  for (let index = 0; index < SHOPS; index += 1) {
    const createdAnswer = await untilTaken(() => stack.api.post('/shops', { name: `Shop ${index}` }));
    const shop = {
      id: String(createdAnswer.data.id),
      phone: `+3365${String(base + index).padStart(7, '0')}`,
    };
    await connectShop(stack, shop.id, shop.phone);
    shops.push(shop);
  }
  return shops;
}
