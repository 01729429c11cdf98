import { recipientKey } from '../../../policy/number-forms.ts';
import type { SendLedger } from '../../../policy/send-ledger.ts';
import type { Address } from '../../../runtime/address.ts';
import type { Store, Write } from '../../../runtime/store.ts';
import type { SessionGroup } from '../../session/session-host.ts';
import { type TenantKeys, tenantKeys } from '../../tenant/tenant-keys.ts';
import type { ChannelStateName } from '../machines/channel-machine.ts';
import type { PacingStateName } from '../machines/pacing-machine.ts';
import { restoreMachines, type ShopMachines } from '../machines/shop-machines.ts';
import { CARRIED_FIELDS, carriedKey, decodeCarried } from './carried-message.ts';
import { decodeMessage, type MessageBody } from './message-record.ts';
import { decodePooled, type PooledMessage } from './pooled-message.ts';
import { messageKey, type ShopKeys, shopKeys, shopOf } from './shop-keys.ts';
import type { ShopReference } from './shop-operations.ts';
import { readLedger } from './stored-ledger.ts';

/** A message that waits: what pacing needs of it. Its text stays in the store until it is sent. */
export interface QueuedMessage {
  readonly messageId: string;
  readonly kind: 'message' | 'status';
  /** E.164, a group id, or empty for a status; a number as the caller wrote it. */
  readonly to: string;
  /** The number the network knows the recipient by, where it told another one than the caller wrote. */
  readonly alias?: string;
  readonly textLength: number;
  readonly createdAtMs: number;
  /** The shop it is sent for, when this one carries it for the pool; absent: its own. */
  readonly carriedFor?: ShopReference;
}

/** The state of a shop's actor. */
export interface ShopState extends ShopMachines {
  readonly shop: ShopReference;
  readonly shard: number;
  readonly keys: ShopKeys;
  /** Where the tenant's customers and declared contacts stand, asked for each recipient. */
  readonly people: Pick<TenantKeys, 'customers' | 'contacts'>;
  readonly name: string;
  /** Messages in order of age; the one in hand is not among them. */
  readonly queue: readonly QueuedMessage[];
  /** The message in hand, as it stood in the queue. */
  readonly inHand: QueuedMessage | undefined;
  /** Messages of this shop that the pool has, oldest first. They wait in none of its own places. */
  readonly pooled: readonly PooledMessage[];
  /** What the policy counted; changed in place once a commit holds. */
  readonly ledger: SendLedger;
  /** The newest QR code. Never stored: a new session makes a new one. */
  readonly qr: { readonly text: string; readonly expiresAtMs: number } | undefined;
  /** The groups as a session last told them, kept over a drop; undefined until one did. Never stored. */
  readonly groups: ToldGroups | undefined;
  /** False from the first order to stop until the actor is gone: nothing more is taken from the queue. */
  readonly dispatching: boolean;
  /** False while operators have deactivated the tenant: nothing more is taken from the queue. */
  readonly tenantActive: boolean;
  /** What loading mended and no commit holds yet; the first turn writes it. */
  readonly unstored: readonly Write[];
  /** The ledger could not be read and was replaced by a full one when the shop was loaded. */
  readonly ledgerReplaced: boolean;
  /** The last transitions of both machines, newest last, for operators. */
  readonly transitions: readonly Transition[];
}

/** What a session told of the shop's groups, and which session. */
interface ToldGroups {
  readonly generation: number;
  readonly list: readonly SessionGroup[];
}

/** One step of one of the two machines. */
export interface Transition {
  readonly atMs: number;
  readonly machine: 'channel' | 'pacing';
  readonly from: string;
  readonly to: string;
  readonly event: string;
}

/**
 * The state with some of it changed. Each field is named, because to spread an object of so many takes V8 380 ns in
 * place of 50, and every send needs one.
 */
export function changedShop(state: ShopState, changes: Partial<ShopState>): ShopState {
  const { shop, shard, keys, people, name, channel, pacing, queue, inHand, pooled } = state;
  const { ledger, qr, groups, dispatching, tenantActive, unstored, ledgerReplaced, transitions } = state;
  const next: ShopState = {
    shop,
    shard,
    keys,
    people,
    name,
    channel,
    pacing,
    queue,
    inHand,
    pooled,
    ledger,
    qr,
    groups,
    dispatching,
    tenantActive,
    unstored,
    ledgerReplaced,
    transitions,
  };
  return Object.assign(next, changes);
}

/** The channel machine's state by name. */
export function channelState(state: Pick<ShopState, 'channel'>): ChannelStateName {
  return state.channel.value as ChannelStateName;
}

/** The groups as the open session told them; undefined without one, and until it did. */
export function liveGroups(
  state: Pick<ShopState, 'channel' | 'groups'>,
): readonly SessionGroup[] | undefined {
  const { groups, channel } = state;
  const isLive = channel.value === 'connected' && groups?.generation === channel.context.generation;
  return isLive ? groups.list : undefined;
}

/** The pacing machine's state by name. */
export function pacingState(state: Pick<ShopState, 'pacing'>): PacingStateName {
  return state.pacing.value as PacingStateName;
}

/**
 * Rebuilds a shop from what its commits wrote, as it stands at `nowMs`; undefined when its tenant has no such shop.
 * Throws on what a newer program stored.
 */
export async function loadShop(
  address: Address,
  store: Store,
  nowMs: number,
): Promise<ShopState | undefined> {
  const shop = shopOf(address);
  const keys = shopKeys(address.shard, shop.shopId);
  const { record: tenantKey, shops, customers, contacts } = tenantKeys(shop.tenantId);
  const [record, actor, queueIds, ledgerEntries, pooledFields, carriedIds, tenant] = (await store.read([
    ['HGET', shops, shop.shopId],
    ['HGET', keys.shop, 'actor'],
    ['ZRANGE', keys.queue, 0, -1],
    ['LRANGE', keys.ledger, 0, -1],
    ['HGETALL', keys.pooled],
    ['ZRANGE', keys.carried, 0, -1],
    ['GET', tenantKey],
  ])) as [string | null, string | null, string[], string[], string[], string[], string | null];
  if (record === null) return undefined;
  const machines = restoreMachines(actor);
  const pooled = decodePooled(pooledFields);
  const withPool = new Set(pooled.map(({ messageId }) => messageId));
  const ownIds = queueIds.filter((id) => !withPool.has(id));
  const { ledger, entries, unreadable } = readLedger(ledgerEntries, nowMs);
  const queued = await loadQueue({ shard: address.shard, ownIds, carriedIds }, store);
  const waiting = await underKnownNumbers({ queued, ledger, aliases: keys.aliases }, store);
  const handId = machines.pacing.context.hand?.messageId;
  return {
    shop,
    shard: address.shard,
    keys,
    people: { customers, contacts },
    name: (JSON.parse(record) as { name: string }).name,
    ...machines,
    queue: waiting.filter((message) => message.messageId !== handId),
    inHand: waiting.find((message) => message.messageId === handId),
    pooled,
    ledger,
    qr: undefined,
    groups: undefined,
    dispatching: true,
    tenantActive: tenant == null || (JSON.parse(tenant) as { active?: boolean }).active !== false,
    unstored:
      entries === undefined
        ? []
        : [
            ['DEL', keys.ledger],
            ['RPUSH', keys.ledger, ...entries],
          ],
    ledgerReplaced: unreadable ?? false,
    transitions: [],
  };
}

/** What the queue remembers of a message. `alias`: the number the network knows its recipient by, if another. */
export function queuedMessage(body: MessageBody, alias?: string): QueuedMessage {
  const message = {
    messageId: body.id,
    kind: body.kind,
    to: body.to ?? '',
    textLength: body.text?.length ?? 0,
    createdAtMs: body.createdAtMs,
  };
  return alias === undefined ? message : { ...message, alias };
}

/** The same of another shop's message, which this shop carries for the pool. */
export function carriedMessage(body: MessageBody, alias?: string): QueuedMessage {
  return { ...queuedMessage(body, alias), carriedFor: { tenantId: body.tenantId, shopId: body.shopId } };
}

/** Where a message goes: to the number the network knows, else to what the caller wrote. */
export function addressee({ to, alias }: Pick<QueuedMessage, 'to' | 'alias'>): string {
  return alias ?? to;
}

/** A queue in order of age: a message that was accepted elsewhere may be older than what waits here, or is in hand. */
export function byAge(queue: readonly QueuedMessage[]): QueuedMessage[] {
  return queue.toSorted((left, right) => left.createdAtMs - right.createdAtMs);
}

/** Puts what waits and what was counted under the numbers that the network told since. */
async function underKnownNumbers(
  shop: { readonly queued: readonly QueuedMessage[]; readonly ledger: SendLedger; readonly aliases: string },
  store: Store,
): Promise<QueuedMessage[]> {
  const { queued, ledger, aliases } = shop;
  const counted = ledger.recipients().map((recipient) => `+${recipient}`);
  const numbers = [...new Set([...queued.map(({ to }) => to), ...counted])];
  if (numbers.length === 0) return [];
  const [found] = (await store.read([['HMGET', aliases, ...numbers]])) as [(string | null)[]];
  const aliasOf = new Map(numbers.map((number, index) => [number, found[index] ?? undefined]));
  for (const number of counted) {
    const alias = aliasOf.get(number);
    if (alias !== undefined) ledger.mergeRecipient(recipientKey(number), recipientKey(alias));
  }
  return queued.map((message) => {
    const alias = aliasOf.get(message.to);
    return alias === undefined ? message : { ...message, alias };
  });
}

async function loadQueue(
  ids: { readonly shard: number; readonly ownIds: readonly string[]; readonly carriedIds: readonly string[] },
  store: Store,
): Promise<QueuedMessage[]> {
  const { shard, ownIds, carriedIds } = ids;
  if (ownIds.length + carriedIds.length === 0) return [];
  const found = (await store.read([
    ...ownIds.map((id) => ['HMGET', messageKey(shard, id), 'body', 'state'] as const),
    ...carriedIds.map((id) => ['HMGET', carriedKey(shard, id), ...CARRIED_FIELDS] as const),
  ])) as (string | null)[][];
  const own = found.slice(0, ownIds.length).flatMap((fields) => decodeMessage(fields)?.body ?? []);
  const carried = found.slice(ownIds.length).flatMap((fields) => decodeCarried(fields)?.body ?? []);
  const waiting = [...own.map((body) => queuedMessage(body)), ...carried.map((body) => carriedMessage(body))];
  return waiting.sort((left, right) => (left.messageId < right.messageId ? -1 : 1));
}
