import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBaileysHost } from '../../actors/session/main-thread/baileys-host.ts';
import type { SessionEvent } from '../../actors/session/session-host.ts';
import { systemClock } from '../../runtime/clock.ts';
import { seededRandom } from '../../runtime/random.ts';
import { MemoryStore } from './memory-store.ts';
import { newShop } from './session-conformance.ts';
import { startSimulated } from './simulated-network.ts';

const quiet = (): void => undefined;

test('a session asked for before the first worker is there opens with it, and no end is told meanwhile', async () => {
  const { simulator, stop } = await startSimulated();
  const shop = newShop();
  let heard: (event: SessionEvent) => void = quiet;
  const first = new Promise<SessionEvent>((resolve) => {
    heard = resolve;
  });
  const host = startBaileysHost({
    store: new MemoryStore(),
    clock: systemClock,
    random: seededRandom(1),
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    listener: (_shop, event) => heard(event),
    credentialsKeys: [Buffer.alloc(32)],
    socketUrl: simulator.chatUrl,
    noiseRootKey: Buffer.from(simulator.noiseRootKey, 'base64'),
  });
  try {
    assert.equal(host.available(), true);
    host.open(shop, { generation: 1 });
    assert.equal((await first).type, 'session.qr');
  } finally {
    await host.stop();
    await stop();
  }
});
