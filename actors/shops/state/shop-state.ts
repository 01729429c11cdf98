import type { NetworkLimits } from '../../../policy/network-limits.ts';
import type { SendLedger } from '../../../policy/send-ledger.ts';
import type { Write } from '../../../runtime/store.ts';
import type { InboundMode } from '../../inbound-mode.ts';
import type { ShopEgress } from '../../sessions/egress-vault.ts';
import type { SessionGroup } from '../../sessions/session-host.ts';
import type { TenantKeys } from '../../tenants/tenant-keys.ts';
import type { ChannelStateName } from '../machines/channel-context.ts';
import type { PacingStateName } from '../machines/pacing-machine.ts';
import type { ShopMachines } from '../machines/shop-machines.ts';
import type { ShopReference } from '../shop-operations.ts';
import type { AcceptedList } from './accepted-list.ts';
import type { Batch } from './batches.ts';
import type { MessageBody } from './message-record.ts';
import type { OptOutNotice } from './opt-out-notice.ts';
import type { PooledMessage } from './pooled-message.ts';
import type { RecentTransitions } from './recent-transitions.ts';
import type { ScheduledSend } from './scheduled-sends.ts';
import type { ShopKeys } from './shop-keys.ts';
import type { Undelivered } from './undelivered.ts';

/** A message that waits: what pacing needs of it. Its text stays in the store until it is sent. */
export interface QueuedMessage {
  readonly messageId: string;
  readonly kind: 'message' | 'status';
  /** E.164, a group id, or empty for a status; a number as the caller wrote it. */
  readonly to: string;
  /** The number the network knows the recipient by, where it told another one than the caller wrote. */
  readonly alias?: string;
  readonly createdAtMs: number;
  /** The shop it is sent for, when this one carries it for the pool; absent: its own. */
  readonly carriedFor?: ShopReference;
  /** Its place in the list of what the shop accepted; absent where it is carried. */
  readonly place?: number;
  /** The batch that it belongs to; absent: none. */
  readonly batchId?: string;
}

/** The state of a shop's actor. */
export interface ShopState extends ShopMachines {
  readonly shop: ShopReference;
  readonly shard: number;
  readonly keys: ShopKeys;
  /** Where the tenant's customers and declared contacts stand, asked for each recipient. */
  readonly people: Pick<TenantKeys, 'customers' | 'contacts' | 'personIds'>;
  readonly name: string;
  /** Messages in order of age; the one in hand is not among them. */
  readonly queue: readonly QueuedMessage[];
  /** The message in hand, as it stood in the queue. */
  readonly inHand: QueuedMessage | undefined;
  /** The body of the message in hand, from the moment the session has it. Never stored. */
  readonly bodyInHand: MessageBody | undefined;
  /** Messages of this shop that the pool has, oldest first. They wait in none of its own places. */
  readonly pooled: readonly PooledMessage[];
  /** Opt-outs that shops this one carried for still have to be told of. */
  readonly optOutNotices: readonly OptOutNotice[];
  /** Sends that wait for their time. */
  readonly scheduled: readonly ScheduledSend[];
  /** Batches that have not ended, oldest first. */
  readonly batches: readonly Batch[];
  /** What the policy counted; changed in place once a commit holds. */
  readonly ledger: SendLedger;
  /** How far the list of what was accepted has come; changed in place once a commit holds. */
  readonly accepted: AcceptedList;
  /** The newest QR code. Never stored: a new session makes a new one. */
  readonly qr: { readonly text: string; readonly expiresAtMs: number } | undefined;
  /** The code that waits to be typed on the phone. Never stored, as the QR code. */
  readonly pairingCode: { readonly text: string; readonly expiresAtMs: number } | undefined;
  /** The groups as a session last told them, kept over a drop; undefined until one did. Never stored. */
  readonly groups: ToldGroups | undefined;
  /** False from the first order to stop until the actor is gone: nothing more is taken from the queue. */
  readonly dispatching: boolean;
  /** False while operators have deactivated the tenant: nothing more is taken from the queue. */
  readonly tenantActive: boolean;
  /** What the tenant is told of what people write to the shop. */
  readonly inbound: InboundMode;
  /** The proxy through which all connections of its sessions go; undefined: they leave from the node's own address. */
  readonly egress: ShopEgress | undefined;
  /** Writes for what loading repaired; the first turn commits them. */
  readonly unstored: readonly Write[];
  /** The ledger could not be read and was replaced by a full one when the shop was loaded. */
  readonly ledgerReplaced: boolean;
  /** The limits of the number that the network reported. */
  readonly limits: NetworkLimits;
  /** What was sent since a recipient last said that they have a message; undefined: nothing. */
  readonly undelivered: Undelivered | undefined;
  /** The last transitions of both machines; changed in place once a commit holds. */
  readonly transitions: RecentTransitions;
}

/** What a session told of the shop's groups, and which session. */
interface ToldGroups {
  readonly generation: number;
  readonly list: readonly SessionGroup[];
}

/**
 * The state with some of it changed. Each field is named, because to spread an object of so many takes V8 380 ns in
 * place of 50, and every send needs one.
 */
export function changedShop(state: ShopState, changes: Partial<ShopState>): ShopState {
  const { shop, shard, keys, people, name, channel, pacing, queue, inHand, bodyInHand, pooled } = state;
  const { optOutNotices, scheduled, batches } = state;
  const {
    ledger,
    accepted,
    qr,
    pairingCode,
    groups,
    dispatching,
    tenantActive,
    inbound,
    egress,
    unstored,
    ledgerReplaced,
    limits,
    undelivered,
  } = state;
  const { transitions } = state;
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
    bodyInHand,
    pooled,
    optOutNotices,
    scheduled,
    batches,
    ledger,
    accepted,
    qr,
    pairingCode,
    groups,
    dispatching,
    tenantActive,
    inbound,
    egress,
    unstored,
    ledgerReplaced,
    limits,
    undelivered,
    transitions,
  };
  return Object.assign(next, changes);
}

/** The channel machine's state by name. */
export function channelState(state: Pick<ShopState, 'channel'>): ChannelStateName {
  return state.channel.value as ChannelStateName;
}

/** Whether a session that was open before is on its way back. */
export function isResuming(state: Pick<ShopState, 'channel'>): boolean {
  const name = channelState(state);
  return (name === 'starting' || name === 'reconnecting') && state.channel.context.pairedAtMs !== null;
}

/** The groups as the open session told them; undefined without one, and until it did. */
export function liveGroups(
  state: Pick<ShopState, 'channel' | 'groups'>,
): readonly SessionGroup[] | undefined {
  const { groups, channel } = state;
  const isLive = channel.value === 'connected' && groups?.generation === channel.context.generation;
  return isLive ? groups.list : undefined;
}

/** Whether a session will tell the shop's groups unasked: it is on its way back, or back and has not told them yet. */
export function isToTellGroups(state: Pick<ShopState, 'channel' | 'groups'>): boolean {
  return isResuming(state) || (channelState(state) === 'connected' && liveGroups(state) === undefined);
}

/** The pacing machine's state by name. */
export function pacingState(state: Pick<ShopState, 'pacing'>): PacingStateName {
  return state.pacing.value as PacingStateName;
}

/** Whether that message is in hand and not on the wire. */
export function isPreparing(state: Pick<ShopState, 'pacing' | 'inHand'>, messageId: string): boolean {
  return state.inHand?.messageId === messageId && pacingState(state) === 'preparing';
}

/** The place in the list of what was accepted before which no message of the shop waits. */
export function settledPlace({ queue, inHand, pooled, accepted }: ShopState): number {
  let place = inHand?.place ?? accepted.next;
  for (const message of queue) place = Math.min(place, message.place ?? place);
  for (const message of pooled) place = Math.min(place, message.place);
  return place;
}

/** What the queue remembers of a message. `alias`: the number the network knows its recipient by, if another. */
export function queuedMessage(body: MessageBody, place: number, alias?: string): QueuedMessage {
  const { id, kind, to, createdAtMs, batchId } = body;
  const own = { messageId: id, kind, to: to ?? '', createdAtMs, place };
  const message = batchId === undefined ? own : { ...own, batchId };
  return alias === undefined ? message : { ...message, alias };
}

/** The entry of another shop's message in the queue, which this shop carries for the pool. */
export function carriedMessage(body: MessageBody, alias?: string): QueuedMessage {
  const { place: _, ...message } = queuedMessage(body, 0, alias);
  return { ...message, carriedFor: { tenantId: body.tenantId, shopId: body.shopId } };
}

/** Where a message goes: to the number the network knows, else to what the caller wrote. */
export function addressee({ to, alias }: Pick<QueuedMessage, 'to' | 'alias'>): string {
  return alias ?? to;
}

/**
 * A queue in order of age: a message that was accepted elsewhere may be older than what waits here, or is in
 * hand.
 */
export function byAge(queue: readonly QueuedMessage[]): QueuedMessage[] {
  return queue.toSorted((left, right) => left.createdAtMs - right.createdAtMs);
}
