import { MINUTE_MS } from '../../runtime/durations.ts';
import { SHIFTED_SERVICE } from '../chaos/clock-faults.ts';
import { FEED_START, type FeedReader, startReader } from '../e2e/stack/feed-readers.ts';
import { type Fleet, startFleet } from '../e2e/stack/fleet.ts';
import { seededRandom } from '../testbed/seeded-random.ts';
import { pause, until } from '../testbed/waiting.ts';
import { violationsOf } from './checker.ts';
import { circumstances } from './circumstances.ts';
import { type Endpoint, startEndpoint } from './endpoints.ts';
import { isKeptIn } from './event-checks.ts';
import { type FaultName, inflictFaults } from './faults.ts';
import { eventFact, History } from './history.ts';
import { lookForErased } from './left-behind.ts';
import { type OpenedTenant, tenantOpener } from './open-tenant.ts';
import type { Shop, Tenant } from './shop.ts';
import { liveShop, lookAtHandsets, type ShopEnd } from './shop-life.ts';
import { openAndErase } from './short-tenant.ts';
import { changeWebhook, revokeKeys, suspendAtTimes } from './tenant-life.ts';
import type { Violation } from './violation.ts';

const TENANTS = 3;
/** By default the endpoint refuses one in this many of the events that are new to it. */
const REFUSES_EVERY = 7;

/** How long callers retry before they give up. It is long, because a busy machine is slow to repair a fault. */
const PATIENCE_MS = 2 * MINUTE_MS;

/** A finished history and what it breaks. */
export interface RunHistory {
  readonly history: History;
  readonly violations: readonly Violation[];
  readonly shops: number;
}

/**
 * Lets tenants, operators and customers act at random for a number of minutes, under overlapping faults. They have
 * three nodes and a Redis with a replica. Then everything is repaired and followed to its end, and the history is
 * checked. A missed deadline is an entry of the history, which continues.
 */
export async function runHistory(options: {
  readonly seed: number;
  readonly minutes: number;
  /**
   * How long to wait at the end for events that readers and endpoints have not got. Default: the longest time that it
   * can take.
   */
  readonly toldMs?: number | undefined;
  readonly refusesEvery?: number;
  /** The only faults; default: all. */
  readonly faults?: readonly FaultName[];
  /** How long after a STOP or a suspension a frame may arrive that was on its way. */
  readonly onTheWayMs?: number;
  readonly say: (line: string) => void;
}): Promise<RunHistory> {
  const history = new History(() => Date.now(), options);
  const endpoint = await startEndpoint(history, options.refusesEvery ?? REFUSES_EVERY);
  const fleet = await startFleet({
    nodes: 3,
    redis: 'pair',
    program: SHIFTED_SERVICE,
    patienceMs: PATIENCE_MS,
  });
  try {
    const shops = await actOut(fleet, endpoint, history, options);
    return { history, shops, violations: violationsOf(history) };
  } catch (error) {
    const circumstancesText = circumstances(fleet, history, { sinceMs: Date.now() - PATIENCE_MS });
    throw new Error(`the history stopped: ${String(error)}\n${circumstancesText}`, { cause: error });
  } finally {
    await fleet.stop();
    endpoint.close();
  }
}

async function actOut(
  fleet: Fleet,
  endpoint: Endpoint,
  history: History,
  options: Parameters<typeof runHistory>[0],
): Promise<number> {
  const { seed, minutes, toldMs = RETRIED_MS, faults, say } = options;
  const open = tenantOpener(fleet, endpoint, history, seed);
  const opened: OpenedTenant[] = [];
  while (opened.length < TENANTS) opened.push(await open());
  const tenants = opened.map(({ tenant }) => tenant);
  const readers = tenants.map(({ api }) => startReader(api, { from: FEED_START, waitMs: 1_000 }));
  const end = new AbortController();
  const lived: [Tenant, Shop][] = [];
  const live = async (tenant: Tenant, endOfFirst: ShopEnd): Promise<void> => {
    let shopEnd: ShopEnd | undefined = endOfFirst;
    while (!end.signal.aborted) {
      const shop = await liveShop(tenant, shopEnd).catch(gaveUp(history, `a shop of ${tenant.id}`));
      if (shop !== undefined) lived.push([tenant, shop]);
      shopEnd = undefined;
    }
  };
  const eraseTenants = async (): Promise<void> => {
    while (!end.signal.aborted) {
      await openAndErase(open, (...shop) => lived.push(shop), end.signal).catch(
        gaveUp(history, 'a short tenant'),
      );
    }
  };
  const all = Promise.all([
    inflictFaults(fleet, { random: seededRandom(seed), history, signal: end.signal, only: faults }).catch(
      gaveUp(history, 'the nodes'),
    ),
    eraseTenants(),
    ...opened.flatMap(({ tenant, webhook }) => [
      // The events of erased shops are not checked, and a short history has few shops.
      live(tenant, 'kept'),
      live(tenant, 'erased'),
      ...[
        revokeKeys(tenant, end.signal),
        suspendAtTimes(tenant, end.signal),
        changeWebhook(tenant, endpoint, webhook, end.signal),
      ].map((operator) => operator.catch(gaveUp(history, `an operator of ${tenant.id}`))),
    ]),
  ]);
  await Promise.race([all, pause(minutes * MINUTE_MS)]);
  say('all faults end; what was begun is followed to its end');
  end.abort();
  await all;
  for (const [tenant, shop] of lived) await lookAtHandsets(tenant, shop);
  const feeds = readers.map(({ seen }) => seen);
  await untilTold(history, feeds, toldMs);
  await Promise.all(readers.map(({ stop }) => stop()));
  // The last polls may have brought more.
  await untilTold(history, feeds, toldMs);
  for (const [index, seenEvents] of feeds.entries())
    for (const event of seenEvents) history.add(eventFact('fed', tenants[index]?.id ?? '', event));
  await lookForErased(fleet, history);
  return lived.length;
}

/** Writes down what ended a shop's life, or the faults, before their time. */
function gaveUp(history: History, shop: string): (error: Error) => Promise<undefined> {
  return async ({ message, cause }) => {
    const description = cause === undefined ? message : `${message} ${JSON.stringify(cause)}`;
    history.add({ kind: 'gave_up', shop, what: description });
    await pause(1_000);
    return undefined;
  };
}

/** The second retry of a webhook comes five minutes after the first (docs/contract.md, Webhooks). */
const RETRIED_MS = 330_000;

/**
 * Waits until readers and endpoints know of each end, and endpoints of all else that readers do, as long as that can
 * take.
 */
async function untilTold(
  history: History,
  feeds: readonly FeedReader['seen'][],
  withinMs: number,
): Promise<void> {
  const isKept = isKeptIn(history);
  const ended = history.of('ended').filter(isKept);
  const written = history.of('wrote').filter(isKept);
  await until(
    `the ends of ${ended.length} messages are told`,
    async () => {
      const fed = feeds.flat();
      const called = new Set(history.of('called').map(({ eventId }) => eventId));
      const ends = new Set(fed.map(({ data }) => String(data.id)));
      const texts = new Set(fed.map(({ data }) => data.text));
      return (
        ended.every(({ id }) => ends.has(id)) &&
        written.every(({ text }) => texts.has(text)) &&
        fed.every(
          ({ id, data }) => called.has(id) || !isKept({ shop: String(data.shopId), text: String(data.text) }),
        )
      );
    },
    { withinMs, everyMs: 500 },
  ).catch(() => undefined);
}
