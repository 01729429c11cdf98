import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { BaileysHost } from '../../../../actors/sessions/main-thread/baileys-host.ts';
import type { BaileysHostOptions } from '../../../../actors/sessions/main-thread/baileys-host-options.ts';
import type { SessionEvent } from '../../../../actors/sessions/session-events.ts';
import type { SessionHost, SessionListener } from '../../../../actors/sessions/session-host.ts';
import { type Clock, systemClock } from '../../../../runtime/clock.ts';
import { deferred } from '../../../testbed/deferred.ts';
import { seededRandom } from '../../../testbed/seeded-random.ts';
import { newShop } from '../conformance-network.ts';
import { HOST_SETTINGS } from '../host-settings.ts';
import { MemoryStore } from '../memory-store.ts';
import { startSimulated } from '../simulated-network.ts';

const quiet = (): void => undefined;
/** How long a worker may take to start in these tests, in milliseconds. No other wait is as long. */
const START_MS = 59_999;

/** Starts a host on a network of its own. Both stop when the test ends. */
async function startHost(
  context: TestContext,
  listener: SessionListener,
  change: Partial<BaileysHostOptions> = {},
): Promise<SessionHost> {
  const { simulator, stop } = await startSimulated();
  const host = new BaileysHost({
    store: new MemoryStore(),
    clock: systemClock,
    random: seededRandom(1),
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    listener,
    credentialsKeys: [Buffer.alloc(32)],
    socketUrl: simulator.chatUrl,
    noiseRootKey: Buffer.from(simulator.noiseRootKey, 'base64'),
    ...HOST_SETTINGS,
    ...change,
  });
  context.after(async () => {
    await host.stop();
    await stop();
  });
  return host;
}

test('sessions asked for before any worker is there are spread over all of them', async (context) => {
  const shops = Array.from({ length: 6 }, () => newShop());
  const codes = new EventEmitter();
  const host = await startHost(context, ({ shopId }, event) => void codes.emit(shopId, event.type), {
    workers: 3,
  });
  const told = shops.map(({ shopId }) => once(codes, shopId));
  for (const shop of shops) host.open(shop, { generation: 1 });
  assert.deepEqual(
    await Promise.all(told),
    Array.from(shops, () => ['session.qr']),
  );
  const workers = shops.map((shop) => host.describe(shop)?.worker as number);
  assert.deepEqual(workers.toSorted(), [0, 0, 1, 1, 2, 2]);
});

test('a session asked for before the first worker is there opens with it, and no end is reported meanwhile', async (context) => {
  const shop = newShop();
  const { promise: first, resolve: heard } = deferred<SessionEvent>();
  const host = await startHost(context, (_shop, event) => heard(event));
  assert.equal(host.isAvailable(), true);
  host.open(shop, { generation: 1 });
  assert.equal((await first).type, 'session.qr');
});

test('a session asked for while no worker could start for a minute opens once one can', async (context) => {
  const shop = newShop();
  const events: SessionEvent['type'][] = [];
  const heard = new EventEmitter();
  let isHeldUp = true;
  // Workers get no time to start until the sending component is unreachable.
  const clock: Clock = {
    ...systemClock,
    after: (delayMs, act) => systemClock.after(delayMs === START_MS && isHeldUp ? 0 : delayMs, act),
  };
  const host = await startHost(
    context,
    (_shop, { type }) => {
      events.push(type);
      heard.emit('event');
    },
    {
      clock,
      supervision: {
        startMs: START_MS,
        unreachableAfterMs: 50,
        longestRestartDelayMs: 20,
        restartDelayMs: 20,
      },
    },
  );
  const keptTimeout = setInterval(() => undefined, 1_000);
  context.after(() => clearInterval(keptTimeout));
  host.open(shop, { generation: 1 });
  while (!events.includes('session.unreachable')) await once(heard, 'event');
  assert.equal(host.isAvailable(), false);
  host.open(shop, { generation: 2 });
  isHeldUp = false;
  while (!events.includes('session.qr')) await once(heard, 'event');
  const reported = events.filter((type) => type !== 'session.worker_lost');
  assert.deepEqual(reported, ['session.unreachable', 'session.qr']);
  assert.equal(host.isAvailable(), true);
});
