import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { MINUTE_MS } from '../../runtime/durations.ts';
import type { ApiAnswer } from '../e2e/stack/api-client.ts';
import type { Fleet } from '../e2e/stack/fleet.ts';
import { sendText } from '../e2e/stack/shop-steps.ts';
import { pause, until } from '../testbed/waiting.ts';
import { allConnected, type ChaosShop } from './chaos-shops.ts';
import { type Fault, type Run, within } from './scenario.ts';

/** A 503 while Redis is away must come quickly: at most the time Redis is given to answer, and a little. */
export const QUICK_MS = 2_500;

/** Redis is killed and started again after `forMs`, on the files that it left. */
export function storeDown(forMs: number): Fault {
  return {
    name: `Redis down (${forMs / 1_000} s)`,
    async inflict(run) {
      const { fleet, shops } = run;
      const before = await openSince(fleet, shops);
      const startedMs = performance.now();
      await Promise.all(fleet.servers.map((server) => server.kill()));
      let asked = 0;
      let slowestMs = 0;
      while (performance.now() - startedMs < forMs) {
        slowestMs = Math.max(slowestMs, await refusedMs(run));
        asked += 1;
        await pause(200);
      }
      await Promise.all(fleet.servers.map((server) => server.restart()));
      const backMs = performance.now();
      await untilReady(fleet);
      await allConnected(shops);
      const recoveredMs = performance.now() - backMs;
      assert.deepEqual(await openSince(fleet, shops), before, 'sockets were opened again');
      within(run, QUICK_MS, 'a 503 while Redis was away', slowestMs);
      const note = `time from its return; ${asked} rounds of 503, slowest ${Math.round(slowestMs)} ms; every socket stayed open`;
      return { recoveredMs, note };
    },
  };
}

/** Redis refuses every write, first as a full one, then as a read-only replica. */
export function storeRefuses(kind: 'full' | 'read-only', forMs: number): Fault {
  const words = kind === 'full' ? 'Redis is full (maxmemory)' : 'Redis is a read-only replica';
  return {
    name: `Redis ${kind} (${forMs / 1_000} s)`,
    async inflict(run) {
      const { fleet, shops } = run;
      const redis = new Redis(fleet.servers[0]?.url ?? '');
      const before = await openSince(fleet, shops);
      try {
        if (kind === 'full') await redis.config('SET', 'maxmemory', '1mb');
        else await redis.replicaof('127.0.0.1', 1);
        let slowestMs = 0;
        const endMs = performance.now() + forMs;
        while (performance.now() < endMs) {
          slowestMs = Math.max(slowestMs, await sendRefusedMs(run));
          await pause(100);
        }
        await until('the log says why', async () => fleet.nodes.some((node) => node.log().includes(words)));
        within(run, QUICK_MS, `a 503 of a ${kind} Redis`, slowestMs);
      } finally {
        if (kind === 'full') await redis.config('SET', 'maxmemory', '0');
        else await redis.replicaof('NO', 'ONE');
        redis.disconnect();
      }
      const backMs = performance.now();
      await untilReady(fleet);
      await allConnected(shops);
      const recoveredMs = performance.now() - backMs;
      assert.deepEqual(await openSince(fleet, shops), before, 'sockets were opened again');
      return { recoveredMs, note: `time from its end; the log says "${words}"` };
    },
  };
}

/** Another program's script keeps Redis busy. Redis answers nothing else for `forMs`. */
export function storeBusy(forMs: number): Fault {
  const words = 'Redis is busy with a script';
  return {
    name: `Redis busy (${forMs / 1_000} s)`,
    async inflict(run) {
      const { fleet, shops } = run;
      const before = await openSince(fleet, shops);
      const [busy, otherRedis] = [0, 1].map(() => new Redis(fleet.servers[0]?.url ?? '')) as [Redis, Redis];
      const ended = [];
      try {
        await otherRedis.config('SET', 'busy-reply-threshold', 100);
        ended.push(busy.eval('while true do end', 0).catch(() => undefined));
        await pause(forMs);
      } finally {
        await until('the script ends', () =>
          otherRedis.call('SCRIPT', 'KILL').then(
            () => true,
            () => false,
          ),
        );
        await Promise.all(ended);
        for (const client of [busy, otherRedis]) client.disconnect();
      }
      const backMs = performance.now();
      await untilReady(fleet);
      await allConnected(shops);
      const recoveredMs = performance.now() - backMs;
      within(run, QUICK_MS * 2, 'going on after Redis was busy', recoveredMs);
      assert.ok(
        fleet.nodes.some((node) => node.log().includes(words)),
        'the log does not say why',
      );
      assert.deepEqual(await openSince(fleet, shops), before, 'sockets were opened again');
      return { recoveredMs, note: `time from its end; the log says "${words}"` };
    },
  };
}

/** Since when each shop's socket is open, as the network sees it. */
export async function openSince(
  fleet: Fleet,
  shops: readonly ChaosShop[],
): Promise<(string | null | undefined)[]> {
  const { items } = await fleet.network.sessions();
  return shops.map(({ phone }) => items.find((session) => session.phone === phone)?.since);
}

/** Waits until every node reports that it is ready. */
export async function untilReady(fleet: Fleet): Promise<void> {
  await until(
    'every node is ready',
    async () => {
      const probes = await Promise.all(fleet.nodes.map((node) => fetch(`${node.adminUrl()}/readyz`)));
      return probes.every(({ status }) => status === 200);
    },
    { withinMs: MINUTE_MS },
  );
}

/** Each node refuses a read and a send; how long the slowest refusal took. */
async function refusedMs(run: Run): Promise<number> {
  const { fleet, shops, random } = run;
  const shop = shops[Math.floor(random() * shops.length)];
  assert.ok(shop);
  const asked = fleet.nodes.flatMap((node) => [
    refusal(() => node.api(shop.apiKey).get(`/shops/${shop.id}/messages`)),
    refusal(() => sendText({ api: node.api(shop.apiKey) }, shop.id, { to: '+33669999999', text: 'x' })),
  ]);
  return Math.max(...(await Promise.all(asked)));
}

/** Each node refuses a send; how long the slowest refusal took. */
export async function sendRefusedMs({ fleet, shops, random }: Run): Promise<number> {
  const shop = shops[Math.floor(random() * shops.length)];
  assert.ok(shop);
  const asked = fleet.nodes.map((node) =>
    refusal(() => sendText({ api: node.api(shop.apiKey) }, shop.id, { to: '+33669999999', text: 'x' })),
  );
  return Math.max(...(await Promise.all(asked)));
}

/** Makes a call that gets a 503 of the contract with the time to retry. Resolves with its duration. */
async function refusal(ask: () => Promise<ApiAnswer>): Promise<number> {
  const startedMs = performance.now();
  const { status, error, headers } = await ask();
  assert.deepEqual([status, error?.code], [503, 'SERVICE_UNAVAILABLE'], JSON.stringify(error));
  assert.ok(Number(headers.get('retry-after')) >= 1, 'it does not say when to come back');
  return performance.now() - startedMs;
}
