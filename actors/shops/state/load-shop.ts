import type { SendLedger } from '../../../policy/send-ledger.ts';
import type { Address } from '../../../runtime/address.ts';
import type { Store, Write } from '../../../runtime/store.ts';
import { type InboundMode, inboundModeOf } from '../../inbound-mode.ts';
import { isFinal } from '../../message-status.ts';
import type { EgressVault } from '../../sessions/egress-vault.ts';
import { type TenantKeys, tenantKeys } from '../../tenants/tenant-keys.ts';
import { restoreMachines } from '../machines/shop-machines.ts';
import { aliasField } from '../records/alias-field.ts';
import { readCarried } from '../records/carried-message.ts';
import { readMessages } from '../records/message-days.ts';
import { type ShopKeys, shopKeys, shopOf } from '../records/shop-keys.ts';
import { AcceptedList, messageIdOf, nextCutMs } from './accepted-list.ts';
import { decodeBatches } from './batches.ts';
import { allThatCount, newestRead } from './newest-accepted.ts';
import type { OfferedSend } from './offered-send.ts';
import { decodeNotices } from './opt-out-notice.ts';
import { decodePooled } from './pooled-message.ts';
import { RecentTransitions } from './recent-transitions.ts';
import { decodeScheduled } from './scheduled-sends.ts';
import { carriedEntry, type QueuedMessage, queueEntry, type ShopState } from './shop-state.ts';
import { mergeKnownNumbers, readLedger } from './stored-ledger.ts';
import { decodeLimits } from './stored-limits.ts';
import { decodeUndelivered } from './undelivered.ts';

/**
 * Rebuilds a shop from its commits, at `nowMs`. Returns undefined if its tenant has no such shop. Throws on data that a
 * newer program stored.
 */
export async function loadShop(
  address: Address,
  store: Store,
  nowMs: number,
  egressVault: Pick<EgressVault, 'renewed'>,
): Promise<ShopState | undefined> {
  const storedShop = await readShop(address, store, nowMs);
  return storedShop && withRenewedEgress(storedShop, egressVault);
}

const NO_OFFERS: readonly OfferedSend[] = [];

/** Returns the shop with its proxy's address, sealed again if the configured keys changed. */
function withRenewedEgress(state: ShopState, egressVault: Pick<EgressVault, 'renewed'>): ShopState {
  const { shop, keys, egress, unstored } = state;
  if (egress === undefined) return state;
  const renewedAddress = egressVault.renewed(shop, egress.sealed);
  const writes: Write[] =
    renewedAddress.sealed === egress.sealed ? [] : [['HSET', keys.shop, 'egress', renewedAddress.sealed]];
  return { ...state, egress: renewedAddress, unstored: [...unstored, ...writes] };
}

async function readShop(address: Address, store: Store, nowMs: number): Promise<ShopState | undefined> {
  const shop = shopOf(address);
  const { shard } = address;
  const keys = shopKeys(shard, shop.shopId);
  const people = tenantKeys(shop.tenantId);
  const [record, fields, newestPart, length, pooledFields, carriedIds, tenant, notices, scheduled, batches] =
    await readStored({ shopId: shop.shopId, keys, people }, store);
  const [actor, endedText, undelivered, limits, egress] = fields;
  if (record === null) return undefined;
  const ofTenant = tenant == null ? null : (JSON.parse(tenant) as StoredTenant);
  const newestElements = await allThatCount(keys.accepted, newestPart, { store, nowMs });
  const machines = restoreMachines(actor ?? null);
  const acceptedList = new AcceptedList(length, Number(endedText ?? 0), nextCutMs(shop.shopId, nowMs));
  const notEnded = await readNotEnded(keys.accepted, { acceptedList, newest: newestElements }, store);
  const pooled = decodePooled(pooledFields, (id) => notEnded.get(id) ?? acceptedList.ended);
  for (const { messageId } of pooled) notEnded.delete(messageId);
  const [ownMessages, carriedMessages] = await Promise.all([
    loadWaiting(shard, notEnded, store),
    readCarried(shard, carriedIds, store),
  ]);
  const { ledger, elements, isUnreadable } = readLedger(newestElements, nowMs);
  const forOthers = carriedMessages.flatMap((message) => (message?.body ? [carriedEntry(message.body)] : []));
  const queued = [...ownMessages, ...forOthers].sort((left, right) =>
    left.messageId < right.messageId ? -1 : 1,
  );
  const queue = await underKnownNumbers({ queued, ledger, aliases: keys.aliases }, store);
  if (elements !== undefined) acceptedList.next += elements.length - newestElements.length;
  const currentId = machines.pacing.context.currentMessage?.messageId;
  return {
    shop,
    shard,
    keys,
    people,
    name: (JSON.parse(record) as { name: string }).name,
    ...machines,
    queue: queue.filter((message) => message.messageId !== currentId),
    currentMessage: queue.find((message) => message.messageId === currentId),
    currentBody: undefined,
    pooled,
    offeredSends: NO_OFFERS,
    optOutNotices: decodeNotices(notices),
    scheduled: decodeScheduled(scheduled),
    batches: decodeBatches(batches),
    ledger,
    acceptedList,
    qr: undefined,
    pairingCode: undefined,
    groups: undefined,
    isDispatching: true,
    isTenantActive: ofTenant?.active !== false,
    inbound: inboundModeOf(ofTenant),
    egress: egress == null ? undefined : { sealed: egress, shown: null },
    unstored: elements === undefined ? [] : replaceNewest(keys.accepted, newestElements.length, elements),
    hasReplacedLedger: isUnreadable,
    limits: decodeLimits(limits),
    undelivered: decodeUndelivered(undelivered),
    transitions: new RecentTransitions(),
  };
}

/** Reads the data that a shop's actor keeps in memory, but for its messages, in one round trip. */
function readStored(
  { shopId, keys, people }: { readonly shopId: string; readonly keys: ShopKeys; readonly people: TenantKeys },
  store: Store,
) {
  return store.read([
    ['HGET', people.shops, shopId],
    ['HMGET', keys.shop, 'actor', 'settled', 'undelivered', 'limits', 'egress'],
    newestRead(keys.accepted),
    ['LLEN', keys.accepted],
    ['HGETALL', keys.pooled],
    ['ZRANGE', keys.carried, 0, -1],
    ['GET', people.record],
    ['HVALS', keys.optOutNotices],
    ['HGETALL', keys.scheduled],
    ['HGETALL', keys.batches],
  ]);
}

/** The fields of its tenant's record that a shop needs. */
interface StoredTenant {
  readonly active?: boolean;
  readonly inbound?: InboundMode;
}

function replaceNewest(list: string, count: number, elements: readonly string[]): Write[] {
  return [
    ['LTRIM', list, 0, -(count + 1)],
    ['RPUSH', list, ...elements],
  ];
}

/** Returns positions by id of the shop's own messages that may not have ended: all from the stored position on. */
async function readNotEnded(
  key: string,
  { acceptedList, newest }: { readonly acceptedList: AcceptedList; readonly newest: readonly string[] },
  store: Store,
): Promise<Map<string, number>> {
  const { ended, next } = acceptedList;
  // These are usually among the elements that the policy counts.
  const [elements] =
    next - ended <= newest.length
      ? [newest.slice(newest.length - (next - ended))]
      : await store.read([['LRANGE', key, ended, -1]]);
  const places = new Map<string, number>();
  for (const [index, element] of elements.entries()) {
    const messageId = messageIdOf(element);
    if (messageId !== undefined) places.set(messageId, ended + index);
  }
  return places;
}

async function loadWaiting(
  shard: number,
  places: ReadonlyMap<string, number>,
  store: Store,
): Promise<QueuedMessage[]> {
  const messages = await readMessages(shard, [...places.keys()], store);
  return messages.flatMap((message) => {
    if (message === undefined || isFinal(message.state.status)) return [];
    return [queueEntry(message.body, places.get(message.body.id) as number)];
  });
}

/** Moves waiting messages and counts to the numbers that the network reported since. */
async function underKnownNumbers(
  shop: { readonly queued: readonly QueuedMessage[]; readonly ledger: SendLedger; readonly aliases: string },
  store: Store,
): Promise<QueuedMessage[]> {
  const { queued, ledger, aliases } = shop;
  const numbers = [...new Set([...queued.map(({ to }) => to), ...ledger.recipients().map(aliasField)])];
  if (numbers.length === 0) return [];
  const [numbersFound] = await store.read([['HMGET', aliases, ...numbers]]);
  const aliasOf = new Map(numbers.map((number, index) => [number, numbersFound[index] ?? undefined]));
  mergeKnownNumbers(ledger, (field) => aliasOf.get(field));
  return queued.map((message) => {
    const alias = aliasOf.get(message.to);
    return alias === undefined ? message : { ...message, alias };
  });
}
