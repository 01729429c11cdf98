/**
 * A reader of GET /events, while the service is killed at random moments. It sees the end of every message exactly
 * once, in the order of cursors. TEST_SEED repeats a run, TEST_RUNS sets the number of kills.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../testbed/seeded-random.ts';
import { testEnvironment } from '../../testbed/test-environment.ts';
import { pause, until } from '../../testbed/waiting.ts';
import { FEED_START, sawEachEndOnce, startReader, startStream } from '../stack/feed-readers.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop, sendText, untilEnded } from '../stack/shop-steps.ts';

const { seed, runs: kills = 3 } = testEnvironment();
const SENDS_PER_ROUND = 5;
const SHOPS = 2;

const stack = sharedStack({ gapMs: '20-100' }, async () => {
  for (let index = 0; index < SHOPS; index += 1) {
    const { data } = await stack.api.post('/shops', { name: `Told ${index}` });
    shops.push(String(data.id));
    await connectShop(stack, String(data.id), `+3361111003${index}`);
  }
});
const shops: string[] = [];

test(`${kills} kills under readers: every end once, in order (seed ${seed})`, async (context) => {
  const random = seededRandom(seed);
  const phones = Array.from({ length: (kills + 1) * SENDS_PER_ROUND }, (_, n) => `+3366${1_000_000 + n}`);
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones });
  const readers = [
    startReader(stack.api, { from: FEED_START, waitMs: 10_000 }),
    startReader(stack.api, { from: FEED_START, waitMs: 1_000 }),
    startStream(stack.api, FEED_START),
  ];
  const accepted: string[] = [];
  const sendSome = async (round: number): Promise<void> => {
    for (let index = 0; index < SENDS_PER_ROUND; index += 1) {
      const number = round * SENDS_PER_ROUND + index;
      const text = `message ${number}`;
      const sentAnswer = await until(text, async () => {
        const message = { to: phones[number] ?? '', text, idempotencyKey: text };
        const answer = await sendText(stack, shops[number % SHOPS] ?? '', message).catch(() => undefined);
        // Its hour is spent before its day is: what is refused is no message.
        if (answer?.error?.code === 'HOURLY_CAP_REACHED') return answer;
        return (answer?.status === 202 || answer?.status === 200) && answer;
      });
      if (sentAnswer.error === undefined) accepted.push(String(sentAnswer.data.id));
    }
  };
  for (let round = 0; round < kills; round += 1) {
    const sending = sendSome(round);
    await pause(random() * 1_200);
    await stack.end('SIGKILL');
    await pause(random() * 1_200);
    await stack.start();
    await sending;
  }
  const ends = new Map<string, string>();
  for (const id of new Set(accepted)) ends.set(id, `message.${String((await untilEnded(stack, id)).status)}`);
  for (const reader of readers) await sawEachEndOnce(reader, ends);
  context.diagnostic(`${ends.size} messages: ${[...new Set(ends.values())].join(', ')}`);
  assert.ok(ends.size > 5);
});
