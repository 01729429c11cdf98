/** The operators' view of shops: a summary of all, and full details of those on the page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SeenActor, takeCensus } from '../../../../actors/shops/inspection/shop-census.ts';
import { inspectShop, type ShopActorView } from '../../../../actors/shops/inspection/shop-inspection.ts';
import { type ShopSummary, shopSummary, statusOf } from '../../../../actors/shops/inspection/shop-summary.ts';
import { shopAddress } from '../../../../actors/shops/records/shop-keys.ts';
import type { ShopState } from '../../../../actors/shops/state/shop-state.ts';
import { localActors } from '../../../../http/operator-api/fleet/actor-list.ts';
import { resolveSettings } from '../../../../policy/tenant-settings.ts';
import type { ActorSummary, Actors } from '../../../../runtime/actors.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import type { Store } from '../../../../runtime/store.ts';
import { QuietLog } from '../../../testbed/quiet-log.ts';
import { BatchHarness } from '../batches/batch-harness.ts';
import { ShopHarness, testEgressVault } from '../shop-harness.ts';

function seen(state: ShopState | undefined, status: ActorSummary['status'] = 'active'): ActorSummary {
  const address = shopAddress({ tenantId: 'a'.repeat(24), shopId: 'b'.repeat(24) });
  return { address, status, mailboxDepth: 2, oldestCommandAgeMs: 7, restarts: 1, state };
}

function all<Seen extends SeenActor>(seen: readonly Seen[]): (visit: (actor: Seen) => void) => Promise<void> {
  return async (visit) => seen.forEach(visit);
}

test('a shop is found by every word for its state, and trouble ranks', async () => {
  const shop = await ShopHarness.connected();
  assert.deepEqual(shopSummary(seen(shop.state)).status.words, ['connected', 'active', 'idle']);
  shop.command({ type: 'pause' });
  const heldSummary = shopSummary(seen(shop.state));
  assert.deepEqual(heldSummary.status.words, ['connected', 'active', 'idle', 'held']);
  const inactive = await ShopHarness.connected();
  inactive.command({ type: 'tenant_active', isActive: false });
  const barred = shopSummary(seen(inactive.state)).status;
  assert.deepEqual(barred.words, ['connected', 'active', 'idle', 'tenant_inactive']);
  // Its operators did that on purpose.
  assert.equal(barred.trouble, 0);
  const lostHarness = await ShopHarness.connected();
  lostHarness.session({ type: 'session.closed', end: 'logged_out', statusCode: 401, detail: '' });
  const flagged = shopSummary(seen(lostHarness.state));
  assert.deepEqual(flagged.status.words, ['disconnected', 'active', 'idle', 'flagged']);
  const gated = await ShopHarness.start();
  gated.command({ type: 'connect' });
  gated.session({ type: 'session.qr', qr: 'one', expiresAtMs: 1 });
  gated.session({ type: 'session.closed', end: 'passkey_required', statusCode: undefined, detail: '' });
  const unpaired = shopSummary(seen(gated.state));
  assert.deepEqual(unpaired.status.words, ['disconnected', 'active', 'idle', 'passkey_required']);
  const asleep = shopSummary(seen(undefined, 'suspended'));
  assert.deepEqual(asleep.status.words, ['suspended']);
  const ranks = [asleep, flagged, unpaired, heldSummary].map(({ status }) => status.trouble);
  assert.deepEqual(
    ranks,
    [...ranks].sort((one, other) => other - one),
  );
  const tenant = { kind: 'tenant', tenantId: 'c', mailboxDepth: 2, isSuspended: true } as const;
  const census = await takeCensus(all([heldSummary, flagged, asleep, tenant]));
  assert.deepEqual(census.suspendedTenants, ['c']);
  assert.deepEqual(
    [census.shops, census.mailboxDepth, census.states.held, census.states.flagged, census.states.suspended],
    [3, 8, 1, 1, 1],
  );
});

test('a node reports the age of the longest waiting message of all its shops', async () => {
  const waitingHarness = await ShopHarness.connected();
  waitingHarness.command({ type: 'pause' });
  waitingHarness.send();
  const acceptedMs = waitingHarness.nowMs;
  waitingHarness.pass(5_000);
  waitingHarness.send('+33612345679');
  const shops = [
    summary(1),
    shopSummary(seen(waitingHarness.state)),
    summary(2, { oldestMessageAtMs: acceptedMs + 1 }),
  ];
  assert.equal((await takeCensus(all(shops))).oldestMessageMs, acceptedMs);
  assert.equal((await takeCensus(all([summary(1)]))).oldestMessageMs, null);
});

test('batches are counted by state, and the one that stands longest is found', async () => {
  const runningHarness = await BatchHarness.connected();
  const firstId = await runningHarness.batch({ recipients: runningHarness.know(100), share: 0.1 });
  await runningHarness.batch({ recipients: runningHarness.know(1, 200), paused: true });
  const madeMs = runningHarness.shop.nowMs;
  const census = (): ReturnType<typeof takeCensus> =>
    takeCensus(all([summary(1), shopSummary(seen(runningHarness.shop.state))]));
  assert.deepEqual((await census()).batches, { waiting: 1, paused: 1 });
  await runningHarness.pass(30 * MINUTE_MS);
  const lastSent = runningHarness.sent.at(-1)?.atMs ?? 0;
  const { batches, batchStandsSinceMs } = await census();
  assert.deepEqual(batches, { running: 1, paused: 1 });
  assert.ok(batchStandsSinceMs !== null && batchStandsSinceMs > madeMs && batchStandsSinceMs <= lastSent);
  runningHarness.shop.pass(60_000);
  assert.equal((await census()).batchStandsSinceMs, batchStandsSinceMs, 'it waits for its share of a cap');
  await runningHarness.steer(firstId, 'pause');
  assert.equal((await census()).batchStandsSinceMs, null, 'a paused batch does not stand');
  await runningHarness.steer(firstId, 'resume');
  assert.equal((await census()).batchStandsSinceMs, runningHarness.shop.nowMs);
});

const summary = (index: number, more: Partial<ShopSummary> = {}): ShopSummary => ({
  kind: 'shop',
  id: `t/${String(index).padStart(5, '0')}`,
  searchText: `shop ${index}`,
  mailboxDepth: index % 7,
  oldestCommandAgeMs: 0,
  restarts: 0,
  queued: 0,
  scheduled: 0,
  oldestMessageAtMs: undefined,
  batches: [],
  batchStandsSinceMs: undefined,
  status: statusOf([index % 2 === 0 ? 'connected' : 'disconnected', 'active']),
  ...more,
});

/** Returns the part of a shop's actor that a list needs here. */
const viewOf = (id: string): ShopActorView => ({ shopId: id }) as ShopActorView;

test('only the shops on the page are described out of thousands, and pages follow each other without a gap', async () => {
  const shops = Array.from({ length: 5_000 }, (_, index) => summary((index * 2_741) % 5_000));
  const described: string[] = [];
  const ownNode = {
    eachShop: all(shops),
    localShop: (id: string) => {
      described.push(id);
      return viewOf(id);
    },
  };
  const query = { sort: 'mailbox', state: 'connected', q: 'shop', limit: 30, after: undefined } as const;
  const expected = shops
    .filter(({ status }) => status.words.includes('connected'))
    .sort((left, right) => right.mailboxDepth - left.mailboxDepth || (left.id < right.id ? -1 : 1))
    .map(({ id }) => id);
  const first = await localActors(ownNode, query);
  const secondActors = await localActors(ownNode, { ...query, after: first.at(-1) });
  assert.deepEqual(
    [...first, ...secondActors].map(({ id }) => id),
    expected.slice(0, 60),
  );
  assert.equal(described.length, 60);
});

test('a shop is found by its number, however it is written, and by a name that looks like a number', async () => {
  const shops = [
    summary(1, { searchText: 't/1\nbakery 24/7\n+41791234567' }),
    summary(2, { searchText: 't/2\nbutcher\n+33612345678' }),
  ];
  const ownNode = { eachShop: all(shops), localShop: viewOf };
  const found = async (q: string): Promise<string[]> => {
    const query = { sort: 'id', state: undefined, limit: 10, after: undefined } as const;
    return (await localActors(ownNode, { ...query, q })).map(({ id }) => id);
  };
  for (const written of ['+41 79 123 45 67', '0041791234567', '0041 (0)79/123-45-67', '(79) 123.45', '24/7'])
    assert.deepEqual(await found(written), ['t/00001'], written);
  for (const written of ['+41 79 123 45 68', '0079 123', '24-7', '00', '(0)'])
    assert.deepEqual(await found(written), [], written);
  for (const every of ['', '+']) assert.equal((await found(every)).length, 2, every);
});

test('a shop that went between the summary and the description is left out', async () => {
  const ownNode = {
    eachShop: all([summary(1), summary(2)]),
    localShop: (id: string) => (id.endsWith('1') ? undefined : viewOf(id)),
  };
  const listedActors = await localActors(ownNode, {
    sort: 'id',
    state: undefined,
    q: undefined,
    limit: 10,
    after: undefined,
  });
  assert.deepEqual(
    listedActors.map(({ id }) => id),
    ['t/00002'],
  );
});

test('a suspended shop is shown as its last commit left it, and without details when that cannot be read', async () => {
  const address = shopAddress({ tenantId: 'a'.repeat(24), shopId: 'b'.repeat(24) });
  const actors = {
    snapshot: () => ({ address, status: 'suspended', state: undefined, restarts: 6, lastError: undefined }),
    state: () => Promise.reject(new Error('nobody may ask a suspended actor')),
  } as unknown as Actors;
  const empty = [[null, null], [], 0, [], [], null, [], [], []];
  const stored = [JSON.stringify({ name: 'Bakery' }), ...empty];
  const settings = resolveSettings({});
  const log = new QuietLog();
  const look = (store: Pick<Store, 'read'>): ReturnType<typeof inspectShop> =>
    inspectShop(
      address,
      {
        actors,
        store: store as Store,
        egressVault: testEgressVault,
        log,
        host: { describe: () => undefined, isAvailable: () => true },
      },
      { settings, nowMs: 0 },
    );
  const shownInspection = await look({ read: (async () => stored) as Store['read'] });
  const details = shownInspection?.details;
  assert.deepEqual(
    [shownInspection?.name, shownInspection?.status, details?.channel.state],
    ['Bakery', 'suspended', 'unconfigured'],
  );
  assert.deepEqual(log.errors, []);
  const brokenInspection = await look({ read: (async () => ['{', ...empty]) as Store['read'] });
  assert.deepEqual(
    [brokenInspection?.shopId, brokenInspection?.status, brokenInspection?.details, brokenInspection?.policy],
    ['b'.repeat(24), 'suspended', null, null],
  );
  assert.deepEqual(log.errors, ['the stored state of a suspended or crashed shop cannot be read']);
});

test('a search finds a part of the id, the name or the number, and nothing across two of them', async () => {
  const shop = await ShopHarness.connected();
  const { channel } = shop.state;
  const name = 'Alpha Bakery';
  const alpha = shopSummary(seen({ ...shop.state, name }));
  const ownNode = { eachShop: all([alpha]), localShop: viewOf };
  const isFound = async (q: string): Promise<boolean> => {
    const query = { sort: 'id', state: undefined, limit: 10, after: undefined } as const;
    return (await localActors(ownNode, { ...query, q })).length === 1;
  };
  const idEnd = alpha.id.slice(-3);
  const phone = `+${channel.context.phone}`;
  for (const part of [idEnd, 'Alpha B', phone, phone.slice(1, 6)]) assert.ok(await isFound(part), part);
  for (const between of [' ', '\n', ' \n']) {
    assert.equal(await isFound(`${idEnd}${between}alpha`), false);
    assert.equal(await isFound(`bakery${between}${phone}`), false);
  }
});
