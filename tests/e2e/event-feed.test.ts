/**
 * A reader of GET /events, while the service is killed at random moments under it: it sees the end of every message
 * exactly once, in the order of cursors. TEST_SEED repeats a run, TEST_RUNS sets the number of kills.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { testEnvironment } from '../../bin/environment.ts';
import { systemClock } from '../../runtime/clock.ts';
import { seededRandom } from '../../runtime/random.ts';
import { type ServiceStack, startServiceStack } from './service-stack.ts';
import { connectShop, sendText, untilEnded } from './shop-steps.ts';
import { until } from './waiting.ts';

const { seed = Date.now() % 2 ** 31, runs: kills = 3 } = testEnvironment();
const SENDS_A_ROUND = 5;
/** What tells the end of a message. What its recipient says comes after it. */
const END_TYPES = new Set(['message.sent', 'message.failed', 'message.rejected']);
const SHOPS = 2;

interface SeenEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

let stack: ServiceStack;
const shops: string[] = [];
before(async () => {
  stack = await startServiceStack({ gapMs: '20-100' });
  for (let index = 0; index < SHOPS; index += 1) {
    const { data } = await stack.api.post('/shops', { name: `Told ${index}` });
    shops.push(String(data.id));
    await connectShop(stack, String(data.id), `+3361111003${index}`);
  }
});
after(() => stack.stop());

/** Reads on and on, as a client would: the same cursor again after every failure. */
function startReader(waitMs: number) {
  const seen: SeenEvent[] = [];
  let cursor = '0'.repeat(24);
  let isStopped = false;
  const running = (async () => {
    while (!isStopped) {
      try {
        const { data, status } = await stack.api.get(`/events?limit=5&waitMs=${waitMs}&cursor=${cursor}`);
        assert.ok(status === 200 || status === 429 || status >= 500, `status ${status}`);
        if (status !== 200) throw new Error('away');
        seen.push(...(data.items as SeenEvent[]));
        cursor = String(data.nextCursor);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        await new Promise<void>((resolve) => void systemClock.after(200, resolve));
      }
    }
  })();
  return {
    seen,
    stop: () => {
      isStopped = true;
      return running;
    },
  };
}

/** Reads the stream on and on, as a client would: with the id it saw last after every connection that broke. */
function startStream() {
  const seen: SeenEvent[] = [];
  const end = new AbortController();
  let place = '0'.repeat(24);
  const read = async (): Promise<void> => {
    const { body, status } = await stack.api.stream('/events', { lastEventId: place, signal: end.signal });
    assert.ok(status === 200 || status >= 500, `status ${status}`);
    if (status !== 200 || body === null) throw new Error('away');
    let rest = '';
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = /^data: (.+)$/m.exec(block)?.[1];
        if (data !== undefined) seen.push(JSON.parse(data) as SeenEvent);
        place = /^id: (.+)$/m.exec(block)?.[1] ?? place;
      }
    }
  };
  const running = (async () => {
    while (!end.signal.aborted) {
      await read().catch((error: unknown) => {
        if (error instanceof assert.AssertionError) throw error;
      });
      await new Promise<void>((resolve) => void systemClock.after(200, resolve));
    }
  })();
  return {
    seen,
    stop: () => {
      end.abort();
      return running;
    },
  };
}

test(`${kills} kills under readers: every end once, in order (seed ${seed})`, async (context) => {
  const random = seededRandom(seed);
  const pause = (): Promise<void> =>
    new Promise((resolve) => void systemClock.after(random() * 1_200, () => resolve()));
  const phones = Array.from({ length: (kills + 1) * SENDS_A_ROUND }, (_, n) => `+3366${1_000_000 + n}`);
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones });
  const readers = [startReader(10_000), startReader(1_000), startStream()];
  const accepted: string[] = [];
  const sendSome = async (round: number): Promise<void> => {
    for (let index = 0; index < SENDS_A_ROUND; index += 1) {
      const number = round * SENDS_A_ROUND + index;
      const text = `message ${number}`;
      const sent = await until(text, async () => {
        const message = { to: phones[number] ?? '', text, idempotencyKey: text };
        const answer = await sendText(stack, shops[number % SHOPS] ?? '', message).catch(() => undefined);
        // Its hour is spent before its day is: what is refused is no message.
        if (answer?.error?.code === 'HOURLY_CAP_REACHED') return answer;
        return (answer?.status === 202 || answer?.status === 200) && answer;
      });
      if (sent.error === undefined) accepted.push(String(sent.data.id));
    }
  };
  for (let round = 0; round < kills; round += 1) {
    const sending = sendSome(round);
    await pause();
    await stack.end('SIGKILL');
    await pause();
    await stack.start();
    await sending;
  }
  const ends = new Map<string, string>();
  for (const id of new Set(accepted)) ends.set(id, `message.${String((await untilEnded(stack, id)).status)}`);
  for (const { seen, stop } of readers) {
    await until('the reader has seen every end', async () =>
      [...ends.keys()].every((id) => seen.some(({ data }) => data.id === id)),
    ).catch(() => undefined);
    await stop();
    const cursors = seen.map(({ id }) => id);
    assert.deepEqual(cursors, [...new Set(cursors)].toSorted(), 'each event once, in order');
    const told = seen.filter(({ type }) => END_TYPES.has(type));
    assert.equal(new Set(told.map(({ data }) => data.id)).size, told.length, 'each end once');
    assert.equal(told.length, ends.size, 'every end');
    for (const { type, data } of told) assert.equal(type, ends.get(String(data.id)));
  }
  context.diagnostic(`${ends.size} messages: ${[...new Set(ends.values())].join(', ')}`);
  assert.ok(ends.size > 5);
});
