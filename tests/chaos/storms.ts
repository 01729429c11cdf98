import assert from 'node:assert/strict';
import { MINUTE_MS } from '../../runtime/durations.ts';
import type { FaultKind } from '../../simulator/control/faults.ts';
import { sendText } from '../e2e/stack/shop-steps.ts';
import { pause, until } from '../testbed/waiting.ts';
import { allConnected, type ChaosShop, nextPhone, openShops } from './chaos-shops.ts';
import { type Fault, type Run, within } from './scenario.ts';

/** How soon all sessions are back when nothing refuses them: the first backoff, and their logins in line. */
const BACK_MS = 15_000;
/** More logins than there can be while they are refused. */
const EVERY_LOGIN = 1_000_000;

/** The network cuts all sessions at the same moment. */
export const networkDrops: Fault = {
  name: 'the network drops all sessions',
  async inflict(run) {
    const startedAtMs = Date.now();
    const startedMs = performance.now();
    await inflictOnAll(run, 'drop');
    const backMs = await backSince(run, startedAtMs);
    const recoveredMs = performance.now() - startedMs;
    within(run, BACK_MS, 'the return of all sessions', recoveredMs);
    const [first = 0, last = 0] = [Math.min(...backMs), Math.max(...backMs)];
    return { recoveredMs, note: `the first back after ${first} ms, the last after ${last}` };
  },
};

/** The network cuts all sessions and refuses every login for a time. Their backoff has doubled each time. */
export function loginsRefused(forMs: number): Fault {
  return {
    name: `every login is refused (${forMs / 1_000} s)`,
    async inflict(run) {
      await inflictOnAll(run, 'login_unavailable', EVERY_LOGIN);
      await pause(forMs);
      const startedAtMs = Date.now();
      const startedMs = performance.now();
      await inflictOnAll(run, 'login_unavailable', 0);
      await backSince(run, startedAtMs);
      const recoveredMs = performance.now() - startedMs;
      within(run, BACK_MS + 2 * forMs, 'the return of all sessions', recoveredMs);
      return { recoveredMs };
    },
  };
}

/** The network sends shops a rate signal at the same moment. Each pauses, and keeps its message. */
export const rateSignals: Fault = {
  name: 'a rate signal for all shops at once',
  async inflict(run) {
    const { fleet } = run;
    const shops = await openShops(fleet, run.shops.length);
    await Promise.all(shops.map(({ phone }) => fleet.network.ackErrors(phone, 429)));
    const startedMs = performance.now();
    const sends = await Promise.all(
      shops.map(async (shop) => {
        const to = shop.freshRecipients[0] ?? '';
        const { status, data, error } = await sendText(shop, shop.id, {
          to,
          text: 'Soon',
          idempotencyKey: to,
        });
        assert.ok(status === 202 || status === 200, JSON.stringify(error));
        return { shop, to, id: String(data.id) };
      }),
    );
    await Promise.all(shops.map((shop) => untilEvents(shop, 'queue.paused', 1)));
    const recoveredMs = performance.now() - startedMs;
    for (const { shop, to, id } of sends) {
      assert.equal((await shop.api.get(`/messages/${id}`)).data.status, 'queued', 'a message waits');
      assert.deepEqual((await fleet.network.inbox(to)).items, [], 'what was refused is on no handset');
    }
    await allConnected(shops);
    return { recoveredMs, note: `${shops.length} shops paused, each with its message` };
  },
};

/** `count` people write STOP while all sessions are offline, and all of it arrives when they return. */
export function inboundAtOnce(count: number): Fault {
  return {
    name: `${count} inbound messages at once`,
    async inflict(run) {
      const { fleet } = run;
      const shops = await openShops(fleet, run.shops.length);
      const away = { ...run, shops };
      await inflictOnAll(away, 'login_unavailable', EVERY_LOGIN);
      const each = Math.ceil(count / shops.length);
      for (const { phone } of shops) {
        const people = Array.from({ length: each }, nextPhone);
        await Promise.all(
          people.map((from) => fleet.network.write(from, { to: phone, text: 'STOP', wait: false })),
        );
      }
      const startedMs = performance.now();
      await inflictOnAll(away, 'login_unavailable', 0);
      await Promise.all(shops.map((shop) => untilEvents(shop, 'recipient.opted_out', each)));
      const recoveredMs = performance.now() - startedMs;
      return { recoveredMs, note: `${each * shops.length} taken once each` };
    },
  };
}

/** Inflicts a fault on all shops at once; where the session of one is away, on those to come alone. */
async function inflictOnAll({ fleet, shops }: Run, kind: FaultKind, count?: number): Promise<void> {
  await Promise.all(shops.map(({ phone }) => fleet.network.fault(phone, kind, count)));
}

/** Waits until each shop has a session that is younger than that; how long after it each came, in milliseconds. */
async function backSince({ fleet, shops }: Run, sinceMs: number): Promise<number[]> {
  const phones = new Set(shops.map(({ phone }) => phone));
  return until(
    'all sessions are back',
    async () => {
      const { items } = await fleet.network.sessions({ limit: 10_000 });
      const back = items.filter(
        ({ phone, since }) => phones.has(phone) && Date.parse(since ?? '') >= sinceMs,
      );
      return back.length === shops.length && back.map(({ since }) => Date.parse(since ?? '') - sinceMs);
    },
    { withinMs: 15 * MINUTE_MS },
  );
}

/** Waits until the shop's tenant has exactly this number of events of a type, and each of another message. */
export async function untilEvents(shop: ChaosShop, type: string, count: number): Promise<void> {
  const seen = await until(
    `${count} events ${type}`,
    async () => {
      const events: { readonly data: object }[] = [];
      for (let cursor: string | null = '0'.repeat(24); ; ) {
        const { data, status } = await shop.api.get(`/events?types=${type}&limit=100&cursor=${cursor}`);
        assert.equal(status, 200, JSON.stringify(data));
        const items = data.items as typeof events;
        events.push(...items);
        if (items.length === 0) return events.length >= count && events;
        cursor = String(data.nextCursor);
      }
    },
    { withinMs: 2 * MINUTE_MS, everyMs: 250 },
  );
  const subjects = new Set(seen.map(({ data }) => JSON.stringify(data)));
  assert.deepEqual([seen.length, subjects.size], [count, count], `each of ${type} told once`);
}
