import type { ActorSummary } from '../../../runtime/actors.ts';
import type { BatchStatus } from '../../batch-status.ts';
import type { ChannelReason } from '../../channel-reason.ts';
import { type ChannelStateName, publicChannelStatus } from '../machines/channel-context.ts';
import { channelTrouble } from '../machines/channel-trouble.ts';
import type { PacingStateName } from '../machines/pacing-machine.ts';
import { isSetAside } from '../state/batch-holds.ts';
import { standsSinceMs } from '../state/batches.ts';
import { channelState, pacingState, type ShopState } from '../state/shop-state.ts';

/** A shop's summary: the few figures that thousands of shops are sorted, filtered and counted by. */
export interface ShopSummary {
  readonly kind: 'shop';
  /** `tenantId/shopId`. */
  readonly id: string;
  /**
   * Id, name and number in lower case, to be searched, each on a line of its own. Name and number are missing while
   * nothing of the shop is in memory.
   */
  readonly searchText: string;
  readonly mailboxDepth: number;
  /** How long the oldest command of a caller has waited, in milliseconds. */
  readonly oldestCommandAgeMs: number;
  readonly restarts: number;
  /** Messages that wait in the queue. */
  readonly queued: number;
  /** Sends that wait for their time. */
  readonly scheduled: number;
  /**
   * When the oldest queued message was accepted. Undefined if none is queued. A message that waits for its batch does
   * not count.
   */
  readonly oldestMessageAtMs: number | undefined;
  /** The states of its batches that have not ended. */
  readonly batches: readonly BatchStatus[];
  /**
   * The earliest time since which an active batch has processed none of its waiting recipients. Undefined if no active
   * batch has waiting recipients. It may be in the future.
   */
  readonly batchStandsSinceMs: number | undefined;
  readonly status: ShopStatus;
}

/** A shop's status, as words to search by and a rank to sort by. Shops with the same words share one object. */
export interface ShopStatus {
  /**
   * The words by which an operator may look for the shop, without duplicates.
   *
   * They are the channel's state in the contract's term and in the machine's, the pacing state, and the actor's status.
   * Others name troubles, and why it does not send:
   * - `held`: an operator paused it.
   * - `tenant_inactive`: its tenant is not active.
   * - `login_refused`: the network refuses its login.
   * - `egress_unreachable`: its proxy makes no connection.
   * - `passkey_required`: the account links devices with a passkey only.
   * - `number_in_use`: another shop has the number.
   * - `flagged`: its session was lost.
   * - `restricted`: the network bars its number from new chats.
   * - `warned`: the network reports that its quota of new chats ends.
   * - `undelivered`: at least three messages brought no receipt for a day.
   */
  readonly words: readonly string[];
  /** How urgently it needs an operator; 0 means not at all. */
  readonly trouble: number;
}

/** The words that are not the name of a state, each with its condition. `reason`: why the channel has no session. */
const CONDITIONS = {
  held: ({ pacing }) => pacing.context.heldByOperator,
  tenant_inactive: ({ isTenantActive }) => !isTenantActive,
  login_refused: (_, reason) => reason === 'LOGIN_REFUSED',
  passkey_required: (_, reason) => reason === 'PASSKEY_REQUIRED',
  number_in_use: (_, reason) => reason === 'NUMBER_IN_USE',
  egress_unreachable: (_, reason) => reason === 'EGRESS_UNREACHABLE',
  flagged: ({ channel }) => channel.context.flagged,
  restricted: ({ limits }) => limits.restriction !== null,
  warned: ({ limits }) => limits.newChats?.warning != null,
  undelivered: ({ undelivered }) => undelivered?.isLong === true,
} satisfies Readonly<Record<string, (shop: ShopState, reason: ChannelReason | undefined) => boolean>>;

type ConditionWord = keyof typeof CONDITIONS;
const CONDITION_WORDS = Object.keys(CONDITIONS) as readonly ConditionWord[];

/** A word of a shop's status. */
type ShopWord = ChannelStateName | PacingStateName | ActorSummary['status'] | ConditionWord;

/** Returns a shop's summary. If the shop is not in memory, only the figures of its actor are known. */
export function shopSummary({ address, status: actorStatus, state, ...actor }: ActorSummary): ShopSummary {
  const { mailboxDepth, oldestCommandAgeMs, restarts } = actor;
  const shop = state as ShopState | undefined;
  const phone = shop?.channel.context.phone ?? '';
  const batches = shop?.batches ?? [];
  return {
    kind: 'shop',
    id: address.id,
    searchText: `${address.id}\n${shop?.name ?? ''}\n+${phone}`.toLowerCase(),
    mailboxDepth,
    oldestCommandAgeMs,
    restarts,
    queued: shop?.queue.length ?? 0,
    scheduled: shop?.scheduled.length ?? 0,
    oldestMessageAtMs: shop?.queue.find((message) => !isSetAside(shop, message))?.createdAtMs,
    batches: batches.length === 0 ? NO_BATCHES : batches.map(({ status }) => status),
    batchStandsSinceMs: standsSinceMs(batches),
    status: statusOf(shop === undefined ? [actorStatus] : wordsOf(shop, actorStatus)),
  };
}

/** Most shops have none: they share it. */
const NO_BATCHES: readonly BatchStatus[] = [];

function wordsOf(shop: ShopState, actorStatus: ActorSummary['status']): ShopWord[] {
  const channel = channelState(shop);
  const channelStatus = publicChannelStatus(channel);
  const words: ShopWord[] = [channelStatus, actorStatus, pacingState(shop)];
  if (channel !== channelStatus) words.push(channel);
  const reason = channelTrouble(channel, shop.channel.context)?.reason;
  for (const word of CONDITION_WORDS) if (CONDITIONS[word](shop, reason)) words.push(word);
  return words;
}

/** How urgently each word needs an operator; 0 means not at all. */
const TROUBLE: { readonly [word in ShopWord]: number } = {
  suspended: 16_384,
  backoff: 8_192,
  flagged: 4_096,
  banned: 2_048,
  login_refused: 1_024,
  egress_unreachable: 512,
  passkey_required: 256,
  number_in_use: 128,
  undelivered: 64,
  restricted: 32,
  warned: 16,
  paused: 8,
  held: 4,
  reconnecting: 2,
  qr_waiting: 1,
  code_waiting: 1,
  tenant_inactive: 0,
  unconfigured: 0,
  starting: 0,
  connected: 0,
  disconnected: 0,
  idle: 0,
  preparing: 0,
  sending: 0,
  gap: 0,
  active: 0,
};

/** All words of a status. Those that need an operator come first, the most urgent one at the head. */
export const STATUS_WORDS = Object.keys(TROUBLE) as readonly ShopWord[];

/** The words of a status that need an operator, the most urgent first. */
export const TROUBLE_WORDS: readonly string[] = STATUS_WORDS.filter((word) => TROUBLE[word] > 0);

/** There are as many as combinations of a shop's states: some hundreds. */
const statuses = new Map<string, ShopStatus>();

/** Returns the status with these words. Shops with the same words get the same object. */
export function statusOf(words: readonly ShopWord[]): ShopStatus {
  const text = words.join();
  let status = statuses.get(text);
  if (status === undefined) {
    status = { words, trouble: words.reduce((trouble, word) => trouble + TROUBLE[word], 0) };
    statuses.set(text, status);
  }
  return status;
}
