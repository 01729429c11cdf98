import type { Address } from '../../../runtime/address.ts';
import type { Store, Write } from '../../../runtime/store.ts';
import type { MessageReason } from '../../message-status.ts';
import { type EventLimits, eventWrites, type TenantEvent } from '../../tenants/stored-events/tenant-event.ts';
import { tenantKeys } from '../../tenants/tenant-keys.ts';
import { NO_SESSION_LIMIT_MS, waitingEnd } from '../judging/waiting-limits.ts';
import { restoreMachines, type ShopMachines } from '../machines/shop-machines.ts';
import type { ShopEffect } from '../protocol/shop-effect.ts';
import { readWaiting } from '../reading/waiting-messages.ts';
import type { MessageState } from '../records/message-record.ts';
import { shopKeys, shopOf } from '../records/shop-keys.ts';
import type { ShopReference } from '../shop-operations.ts';
import type { QueuedMessage } from '../state/shop-state.ts';
import { type MessageReference, messageOutcome } from './builder/message-outcome.ts';
import { pooledEnd } from './pool/message-at-pool.ts';

/**
 * Most messages ended at a time; the next run ends more. All waiting messages of a shop are too many for one commit.
 */
const MOST_ENDED = 100;

export interface SettleOptions {
  readonly eventLimits: EventLimits;
  /** A stored message of a suspended shop could not be read, though it is JSON. Called at each check. */
  readonly onUnreadable: (shop: ShopReference, error: unknown) => void;
}

/**
 * Returns the writes and effects that end messages of a suspended shop that no turn will end. A message that may be on
 * the wire fails with `BOT_RESTARTED`, as when the shop resumes. Waiting ones end with `BOT_SERVICE_UNREACHABLE` 10
 * minutes into the suspension, unless they have waited for too long before. The end of messages at the pool is read
 * there. One commit stores and publishes each end, as in a turn. The stored data may be what crashed the shop, so each
 * record is read separately.
 */
export async function settleSuspended(
  address: Address,
  { store, nowMs, sinceMs }: { readonly store: Store; readonly nowMs: number; readonly sinceMs: number },
  { eventLimits, onUnreadable }: SettleOptions,
): Promise<{ writes: Write[]; effects: ShopEffect[] }> {
  const shop = shopOf(address);
  const keys = shopKeys(address.shard, shop.shopId);
  const [record] = await store.read([['HGET', tenantKeys(shop.tenantId).shops, shop.shopId]]);
  const { actor, queued, pooled, defect } = await readWaiting(address, store);
  if (defect !== undefined) onUnreadable(shop, defect);
  const channel = { channel: channelOf(actor) };
  const ends: { readonly message: MessageReference; readonly state: MessageState }[] = [];
  const end = (message: MessageReference, reason: MessageReason): void =>
    void ends.push({ message, state: { status: 'failed', reason, updatedAtMs: nowMs, sentAtMs: null } });
  for (const { message, isSending } of queued) {
    const reason = isSending ? 'BOT_RESTARTED' : overdueReason(message, { ...channel, sinceMs, nowMs });
    if (reason !== undefined) end(message, reason);
  }
  for (const { message, ended } of pooled) {
    const { atMs, reason } = pooledEnd(message);
    if (ended !== undefined) ends.push({ message, state: { ...ended, updatedAtMs: nowMs } });
    else if (atMs <= nowMs) end(message, reason);
  }
  const withPool = new Set<MessageReference>(pooled.map(({ message }) => message));
  const context = { shop, shard: address.shard, keys, name: nameOf(record) };
  const writes: Write[] = [];
  const effects: ShopEffect[] = [];
  const events: TenantEvent[] = [];
  for (const { message, state } of ends.slice(0, MOST_ENDED)) {
    const outcome = messageOutcome(context, message, state);
    writes.push(...outcome.writes);
    effects.push(...outcome.effects);
    if (withPool.has(message)) writes.push(['HDEL', keys.pooled, message.messageId]);
    if (outcome.event !== undefined) events.push(outcome.event);
  }
  writes.push(...eventWrites(shop.tenantId, events, { nowMs, limits: eventLimits }));
  if (events.length > 0) effects.push({ type: 'announce_events' });
  return { writes, effects };
}

/** Returns the reason why a message that waits in a suspended shop ends now. Undefined if it continues to wait. */
function overdueReason(
  message: QueuedMessage,
  shop: Pick<ShopMachines, 'channel'> & { readonly sinceMs: number; readonly nowMs: number },
): MessageReason | undefined {
  const { atMs, reason } = waitingEnd(shop, message);
  if (atMs <= shop.nowMs) return reason;
  const givenUpAtMs = Math.max(shop.sinceMs, message.createdAtMs) + NO_SESSION_LIMIT_MS;
  return givenUpAtMs <= shop.nowMs ? 'BOT_SERVICE_UNREACHABLE' : undefined;
}

/** Returns the channel at the last commit; that of a shop without one if it is unreadable. */
function channelOf(text: string | null): ShopMachines['channel'] {
  try {
    return restoreMachines(text).channel;
  } catch {
    return restoreMachines(null).channel;
  }
}

function nameOf(text: string | null): string {
  try {
    return (JSON.parse(text ?? '') as { name: string }).name;
  } catch {
    return '';
  }
}
