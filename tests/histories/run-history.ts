import { seededRandom } from '../../runtime/random.ts';
import { makeAccount } from '../e2e/account.ts';
import { FEED_START, type FeedReader, startReader } from '../e2e/feed-readers.ts';
import { type Fleet, startFleet } from '../e2e/fleet.ts';
import { until } from '../e2e/waiting.ts';
import { END_TYPES, type Violation, violationsOf } from './checker.ts';
import { circumstances } from './circumstances.ts';
import { type Endpoint, startEndpoint } from './endpoints.ts';
import { inflictFaults, pause } from './faults.ts';
import { History } from './history.ts';
import { liveShop, lookAtHandsets, lookForErased, type Shop, type Tenant } from './shop-life.ts';

const TENANTS = 3;
/** Of the events that are new to the endpoint, it refuses one in so many. */
const REFUSES_EVERY = 7;

/** As long as callers ask again before they give up. */
const LOOK_BACK_MS = 40_000;

/** A finished history and what it breaks. */
export interface RunHistory {
  readonly history: History;
  readonly violations: readonly Violation[];
  readonly shops: number;
}

/**
 * Lets tenants, operators and customers act at random for so many minutes on three nodes and a Redis with a replica, under
 * faults that overlap. Then everything is mended and followed to its end, and the history is checked. Rejects when
 * something does not end at all.
 */
export async function runHistory(options: {
  readonly seed: number;
  readonly minutes: number;
  readonly say: (line: string) => void;
}): Promise<RunHistory> {
  const history = new History(() => Date.now());
  const endpoint = await startEndpoint(history, REFUSES_EVERY);
  const fleet = await startFleet({ nodes: 3, redis: 'pair' });
  try {
    const shops = await actOut(fleet, endpoint, history, options);
    return { history, shops, violations: violationsOf(history) };
  } catch (error) {
    const when = circumstances(fleet, history, { sinceMs: Date.now() - LOOK_BACK_MS });
    throw new Error(`the history stopped: ${String(error)}\n${when}`, { cause: error });
  } finally {
    await fleet.stop();
    endpoint.close();
  }
}

async function actOut(
  fleet: Fleet,
  endpoint: Endpoint,
  history: History,
  {
    seed,
    minutes,
    say,
  }: { readonly seed: number; readonly minutes: number; readonly say: (line: string) => void },
): Promise<number> {
  let numbers = 0;
  const next = (): number => {
    numbers += 1;
    return numbers;
  };
  const tenants: Tenant[] = [];
  for (let index = 0; index < TENANTS; index += 1) {
    const { tenantId, apiKey } = await makeAccount(fleet.admin, `Tenant ${index}`);
    await endpoint.open(fleet, tenantId);
    tenants.push({
      id: tenantId,
      api: fleet.api(apiKey),
      fleet,
      history,
      random: seededRandom(seed * 31 + index),
      nextPhone: () => `+3366${String(next()).padStart(7, '0')}`,
      nextName: () => `n${next()}`,
    });
  }
  const readers = tenants.map(({ api }) => startReader(api, { from: FEED_START, waitMs: 1_000 }));
  const end = new AbortController();
  const lived: [Tenant, Shop][] = [];
  const live = async (tenant: Tenant): Promise<void> => {
    while (!end.signal.aborted) lived.push([tenant, await liveShop(tenant)]);
  };
  const faults = inflictFaults(fleet, { random: seededRandom(seed), history, signal: end.signal });
  const all = Promise.all([
    faults,
    ...tenants.flatMap((tenant) => [live(tenant), live(tenant), revokeKeys(tenant, end.signal)]),
  ]);
  await Promise.race([all, pause(minutes * 60_000)]);
  say('all faults end; what was begun is followed to its end');
  end.abort();
  await all;
  for (const [tenant, shop] of lived) await lookAtHandsets(tenant, shop);
  await untilTold(
    history,
    readers.map(({ seen }) => seen),
  );
  await Promise.all(readers.map(({ stop }) => stop()));
  for (const [index, { seen }] of readers.entries()) {
    for (const { id, type, data } of seen)
      history.add({
        kind: 'fed',
        tenant: tenants[index]?.id ?? '',
        eventId: id,
        type,
        about: String(data.id),
      });
  }
  await lookForErased(fleet, history);
  return lived.length;
}

/** Makes keys and revokes them; a revoked one is tried on every node. */
async function revokeKeys(
  { id, fleet, history, random, nextName }: Tenant,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const made = await fleet.admin.post(`/tenants/${id}/keys`, { name: nextName(), permissions: [] });
    const key = String(made.data.key);
    await fleet.api(key).get('/me');
    await fleet.admin.delete(`/tenants/${id}/keys/${String(made.data.id)}`);
    history.add({ kind: 'revoked', key: String(made.data.id) });
    for (const node of fleet.nodes) {
      const answer = await node
        .api(key)
        .get('/me')
        .catch(() => undefined);
      // A node that is away, or that cannot ask, says nothing about the key.
      if (answer === undefined || answer.status === 503) continue;
      const code = answer.error?.code ?? 'OK';
      history.add({
        kind: 'answered_after_revocation',
        key: String(made.data.id),
        status: answer.status,
        code,
      });
    }
    await pause(random() * 2_000);
  }
}

/** The second retry of a webhook comes five minutes after the first (docs/contract.md, Webhooks). */
const RETRIED_MS = 330_000;

/** Waits until readers and endpoints know of each end, as long as that can take. The checker names what is missing. */
async function untilTold(history: History, feeds: readonly FeedReader['seen'][]): Promise<void> {
  const erased = new Set(history.of('erased').map(({ shop }) => shop));
  const awaited = history
    .of('ended')
    .filter(({ shop }) => !erased.has(shop))
    .map(({ id }) => id);
  await until(
    `the ends of ${awaited.length} messages are told`,
    async () => {
      const fed = feeds.flat().filter(({ type }) => END_TYPES.has(type));
      const called = history.of('called').filter(({ type }) => END_TYPES.has(type));
      const inFeed = new Set(fed.map(({ data }) => String(data.id)));
      const atEndpoint = new Set(called.map(({ about }) => about));
      return awaited.every((id) => inFeed.has(id) && atEndpoint.has(id));
    },
    { withinMs: RETRIED_MS, everyMs: 500 },
  ).catch(() => undefined);
}
