import { isPerson } from '../../../policy/recipient.ts';
import { resolveSettings, type TenantSettings } from '../../../policy/tenant-settings.ts';
import type { Actors } from '../../../runtime/actors.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { type MaybePromise, mapMaybePromise } from '../../../runtime/maybe-promise.ts';
import { RuntimeFailure } from '../../../runtime/runtime-failure.ts';
import type { Store } from '../../../runtime/store.ts';
import { type ChannelCode, done, type Failed, failed, type Outcome, type SendCode } from '../../failure.ts';
import { tenantAddress } from '../../tenants/tenant-keys.ts';
import type { TenantState } from '../../tenants/tenant-state.ts';
import type { WaitingCaller } from '../../waiting-caller.ts';
import { withReplyTimeout } from '../../with-reply-timeout.ts';
import type { ChannelWaiters } from '../effects/channel-waiters.ts';
import type { PoolClient } from '../effects/pool-client.ts';
import type { ShopCommand } from '../protocol/shop-commands.ts';
import type {
  Accepted,
  ChannelView,
  GroupView,
  MessageDraft,
  MessageView,
  PairingCode,
  Sent,
  ShopOperations,
  ShopOutcome,
  ShopPolicyView,
  ShopReference,
} from '../shop-operations.ts';
import { knownMessage, messageLookup } from '../state/message-days.ts';
import type { MessageFields } from '../state/message-record.ts';
import { shopAddress, shopKeys } from '../state/shop-keys.ts';
import { channelState, liveGroups, type ShopState } from '../state/shop-state.ts';
import { codeRefusal } from '../turns/ask-to-connect.ts';
import { mayAskForGroup } from '../turns/send/judge-send.ts';
import type { PoolWanted } from '../turns/send/pool-fallback.ts';
import { readRecipientOf } from '../turns/shop-facts.ts';
import { askShop, fromShop, NO_SHOP } from './ask-shop.ts';
import { batchOperations } from './batching.ts';
import { cancelMatching, cancelOne } from './cancelling.ts';
import { channelView } from './channel-view.ts';
import { listMessages } from './message-list.ts';
import { MessageViews, viewOf } from './message-views.ts';
import type { PairingLimits, PairingWait } from './pairing-limits.ts';
import { forecastSend, policyView } from './policy-view.ts';
import { type EstimateTimes, withPlace } from './queue-place.ts';
import { scheduleOperations } from './scheduling.ts';

/** How long POST connect waits for a QR code or the connection (docs/contract.md, POST connect). */
const CONNECT_WAIT_MS = 10_000;

/** The actors, the store and the waits behind the operations on shops. */
export interface ShopServiceOptions {
  readonly actors: Actors;
  readonly store: Store;
  readonly clock: Clock;
  readonly waiters: ChannelWaiters;
  /** Renders a QR code as a PNG data URL. */
  readonly qrImage: (qr: string) => Promise<string>;
  /** Limits the requests for codes to type. */
  readonly pairing: Pick<PairingLimits, 'take'>;
  readonly pool: Pick<PoolClient, 'find' | 'takeBack'>;
  /** The times between sends, for estimates of when one leaves. */
  readonly times: EstimateTimes;
  /** Retention of ended scheduled sends in milliseconds. */
  readonly retentionMs: number;
  /** True if a session worker can take orders. */
  readonly host: { available(): boolean };
  /**
   * Asks the shop's session for its groups, or for one of them, once it is open. Settles after the session's report, or
   * after a timeout.
   */
  readonly askGroups: (shop: ShopReference, groupId?: string) => Promise<void>;
}

/** The answer of a shop's actor to a send. */
type SendAnswer =
  | ShopOutcome<Sent<Accepted>, SendCode>
  | PoolWanted
  | (Failed<SendCode> & { readonly groupId: string });

/** The API's operations on a shop. Reads use the actor's last committed state, changes go through its mailbox. */
export function shopService(options: ShopServiceOptions): ShopOperations {
  const { actors, clock, qrImage, pool, askGroups } = options;

  type SendCommand = Extract<ShopCommand, { type: 'send' }>;
  const askToSend = (shop: ShopReference, command: SendCommand): Promise<SendAnswer> =>
    actors.ask<SendAnswer>(shopAddress(shop), command, NO_SHOP);
  const sendByPool = async (shop: ShopReference, command: SendCommand, wanted: PoolWanted) => {
    const found = await pool.find(wanted.offer);
    if (found === undefined) return { ok: false, failure: wanted.failure } as const;
    return await askToSend(shop, { ...command, pool: found });
  };
  const sendToGroup = async (shop: ShopReference, command: SendCommand, groupId: string) => {
    await askGroups(shop, groupId);
    return await askToSend(shop, { ...command, groupAsked: true });
  };
  const sendWithHelp = (
    shop: ShopReference,
    command: SendCommand,
  ): Promise<ShopOutcome<Sent<Accepted>, SendCode>> =>
    askToSend(shop, command).then((reply) => {
      if ('groupId' in reply) return sendToGroup(shop, command, reply.groupId);
      return 'offer' in reply ? sendByPool(shop, command, reply) : reply;
    });
  const view = (shop: ShopReference): Promise<ShopOutcome<ChannelView>> =>
    fromShop(actors, shop, async (state) => done(await channelView(state, qrImage)));
  const tenantOf = ({ tenantId }: Pick<ShopReference, 'tenantId'>): MaybePromise<TenantState | undefined> =>
    actors.state<TenantState>(tenantAddress(tenantId));
  const sendOf = (shop: ShopReference, draft: MessageDraft, tenant: TenantState | undefined) => {
    const settings = tenant?.settings ?? resolveSettings({});
    // A reply quotes a message to the shop's own number, and a batch waits for it.
    const isOwn = draft.reply !== undefined || draft.batch !== undefined;
    const mayGoByPool = !isOwn && (tenant?.record.poolFallback ?? false);
    const command = { type: 'send', draft, settings, pool: mayGoByPool ? 'ask' : undefined } as const;
    // A send to a number that may not use the pool needs only one request.
    const isDirect = !mayGoByPool && isPerson(draft.to);
    return isDirect ? askToSend(shop, command) : sendWithHelp(shop, command);
  };
  return {
    channel: view,
    async connect(shop, caller) {
      const started = await askShop(actors, shop, { type: 'connect' });
      if (!started.ok) return started;
      await untilOpened(shop, options, caller);
      return view(shop);
    },
    async requestPairingCode(shop, phone, caller) {
      const pairWith = phone.replace('+', '');
      const wait = await phoneWait(shop, pairWith, options);
      const started =
        wait === undefined
          ? await askShop<true, PairingCode>(actors, shop, { type: 'connect', pairWith })
          : tooManyCodes(wait);
      if (!started.ok) return started;
      await untilOpened(shop, options, caller);
      return fromShop(actors, shop, (asked) => pairingReply(asked, options));
    },
    pollConnection: (shop) =>
      fromShop(actors, shop, async (state) =>
        channelState(state) === 'unconfigured'
          ? failed('CHANNEL_NOT_STARTED')
          : done(await channelView(state, qrImage)),
      ),
    async disconnect(shop) {
      const asked = askShop<unknown, 'CHANNEL_NEVER_CONFIGURED'>(actors, shop, { type: 'disconnect' });
      const ended = await withReplyTimeout(clock, asked);
      return ended.ok ? view(shop) : ended;
    },
    send(shop, draft) {
      const tenant = tenantOf(shop);
      return tenant instanceof Promise
        ? tenant.then((known) => sendOf(shop, draft, known))
        : sendOf(shop, draft, tenant);
    },
    async postStatus(shop, draft) {
      const settings = (await tenantOf(shop))?.settings ?? resolveSettings({});
      return await askShop(actors, shop, { type: 'post_status', draft, settings });
    },
    listMessages: (shop, query) => listStored(shop, query, options),
    ...messageOperations(tenantOf, options),
    ...scheduleOperations(options),
    ...batchOperations(options),
    policy: (shop, to) =>
      fromShop(actors, shop, async (state) => {
        const asked = { to, settings: (await tenantOf(shop))?.settings ?? resolveSettings({}) };
        const view = await policyOf(state, asked, options);
        const refusal = view.forecast?.failure;
        if (refusal === undefined || !mayAskForGroup(state, refusal.code)) return done(view);
        // A real send asks for the group too.
        await askGroups(shop, to);
        return fromShop(actors, shop, async (state) => done(await policyOf(state, asked, options)));
      }),
    async groups(shop) {
      if (isConnected(await actors.state<ShopState>(shopAddress(shop)))) await askGroups(shop);
      return await fromShop(actors, shop, groupsOf);
    },
  };
}

/**
 * Returns the reason why no code may be requested for the phone. Undefined if it may be; the request is then counted if
 * it notifies the phone.
 */
async function phoneWait(
  shop: ShopReference,
  pairWith: string,
  { actors, pairing }: Pick<ShopServiceOptions, 'actors' | 'pairing'>,
): Promise<PairingWait | undefined> {
  const state = await actors.state<ShopState>(shopAddress(shop));
  return asksPhone(state, pairWith) ? pairing.take(shop.tenantId, pairWith) : undefined;
}

/**
 * True if a request for a code makes the network notify the phone: not if the code is pending, nor if a number is
 * linked.
 */
function asksPhone(state: ShopState | undefined, pairWith: string): boolean {
  if (state === undefined) return false;
  const { pairWith: waitsFor, pairedAtMs } = state.channel.context;
  const isWaiting = waitsFor === pairWith && ['starting', 'code_waiting'].includes(channelState(state));
  return pairedAtMs === null && !isWaiting;
}

/** Returns the channel with its code, or the reason why there is none. */
async function pairingReply(
  state: ShopState,
  { clock, qrImage }: Pick<ShopServiceOptions, 'clock' | 'qrImage'>,
): Promise<Outcome<ChannelView, PairingCode>> {
  const ended = channelState(state) === 'disconnected';
  const failure = ended ? codeRefusal(state.channel.context, clock.wallMs()) : undefined;
  return failure === undefined ? done(await channelView(state, qrImage)) : { ok: false, failure };
}

function tooManyCodes({ waitMs, message }: PairingWait): Failed<PairingCode> {
  return failed('PAIRING_RATE_LIMITED', { message, retryAfterSeconds: Math.ceil(waitMs / 1_000) });
}

/** Returns the shop's limits, and the result of a send to `to`. */
async function policyOf(
  state: ShopState,
  { to, settings }: { readonly to: string | undefined; readonly settings: TenantSettings },
  { store, clock, host }: Pick<ShopServiceOptions, 'store' | 'clock' | 'host'>,
): Promise<ShopPolicyView> {
  const now = { settings, nowMs: clock.wallMs() };
  const view = policyView(state, now);
  if (to === undefined) return view;
  const recipient = await readRecipientOf(state, to, store);
  return { ...view, forecast: forecastSend(state, { ...now, to, recipient, available: host.available() }) };
}

/** Settles when a code or the connection is there, the session has ended, or its caller left. */
async function untilOpened(
  shop: ShopReference,
  { actors, clock, waiters }: Pick<ShopServiceOptions, 'actors' | 'clock' | 'waiters'>,
  caller: WaitingCaller | undefined,
): Promise<void> {
  const untilMs = clock.monotonicMs() + CONNECT_WAIT_MS;
  for (;;) {
    const state = await actors.state<ShopState>(shopAddress(shop));
    const leftMs = untilMs - clock.monotonicMs();
    if (state === undefined || !isOpening(state) || leftMs <= 0 || waiters.closed || caller?.isGone) return;
    const change = waiters.next(shop, leftMs, caller);
    if (change === undefined) return;
    await change;
  }
}

/** A page of a shop's messages, also while its actor waits for an operator. */
async function listStored(
  shop: ShopReference,
  query: Parameters<ShopOperations['listMessages']>[1],
  options: ShopServiceOptions,
): ReturnType<ShopOperations['listMessages']> {
  const found = await storedShop(shop, options.actors);
  if (found === undefined) return NO_SHOP;
  const { items, nextCursor } = await listMessages(found, options.store, query);
  return done({ items: items.map((view) => placeOf(shop.tenantId, view, options)), nextCursor });
}

/** Messages by their ids: their records, and their end before they leave. */
function messageOperations(
  tenantOf: (shop: Pick<ShopReference, 'tenantId'>) => MaybePromise<TenantState | undefined>,
  options: ShopServiceOptions,
): Pick<ShopOperations, 'message' | 'cancel' | 'cancelQueue'> {
  const views = new MessageViews();
  const message: ShopOperations['message'] = (tenantId, messageId) => {
    const found = askedMessage(tenantOf({ tenantId }), messageId.toLowerCase(), views, options.store);
    return mapMaybePromise(found, (one) =>
      one.ok && one.value.status === 'queued' ? done(placeOf(tenantId, one.value, options)) : one,
    );
  };
  return {
    message,
    async cancel(tenantId, messageId) {
      const found = await message(tenantId, messageId);
      if (!found.ok) return found;
      const { id, shopId } = found.value;
      const cancelled = await cancelOne(options, { tenantId, shopId }, id);
      return cancelled.ok ? await message(tenantId, id) : cancelled;
    },
    cancelQueue: (shop, filter) => cancelMatching(options, shop, filter),
  };
}

/** Adds a queued message's position and estimate to its record, while its shop is in memory. */
function placeOf(
  tenantId: string,
  view: MessageView,
  { actors, clock, times }: Pick<ShopServiceOptions, 'actors' | 'clock' | 'times'>,
): MessageView {
  if (view.status !== 'queued') return view;
  const state = actors.peek<ShopState>(shopAddress({ tenantId, shopId: view.shopId }));
  return withPlace(view, state, { times, nowMs: clock.wallMs() });
}

/** Returns the shard and the keys of a shop, even for a suspended shop with an actor that does not answer. */
async function storedShop(
  shop: ShopReference,
  actors: Pick<Actors, 'state'>,
): Promise<Pick<ShopState, 'shard' | 'keys'> | undefined> {
  try {
    return await actors.state<ShopState>(shopAddress(shop));
  } catch (error) {
    if (!(error instanceof RuntimeFailure && error.code === 'SUSPENDED')) throw error;
    const { shard } = shopAddress(shop);
    return { shard, keys: shopKeys(shard, shop.shopId) };
  }
}

/** True if an open session can answer. */
function isConnected(state: ShopState | undefined): boolean {
  return state !== undefined && channelState(state) === 'connected';
}

/** Returns the groups that the open session reported. */
function groupsOf(state: ShopState): Outcome<readonly GroupView[], ChannelCode> {
  if (state.channel.context.flagged) return failed('MSGAPP_SESSION_LOST');
  const groups = liveGroups(state);
  if (groups === undefined) return failed('MSGAPP_NOT_CONNECTED');
  return done(groups.map((group) => ({ ...group, canSend: group.isAdmin })));
}

type FoundMessage = Outcome<MessageView, 'MESSAGE_NOT_FOUND'>;

/** A requested message, and its tenant. */
interface AskedMessage {
  readonly tenant: TenantState;
  readonly id: string;
}

function askedMessage(
  tenant: MaybePromise<TenantState | undefined>,
  id: string,
  views: MessageViews,
  store: Store,
): MaybePromise<FoundMessage> {
  if (!(tenant instanceof Promise)) return storedMessage({ tenant, id }, views, store);
  return tenant.then((known) => storedMessage({ tenant: known, id }, views, store));
}

/** A message of a tenant's, while its shop is there: of an erased one some may still be stored. */
function storedMessage(
  { tenant, id }: { readonly tenant: TenantState | undefined; readonly id: string },
  views: MessageViews,
  store: Store,
): MaybePromise<FoundMessage> {
  if (tenant === undefined) return failed('MESSAGE_NOT_FOUND');
  const known = knownMessage(tenant.shard, id, store);
  return known === undefined ? readView({ tenant, id }, store) : ownView(tenant, views.of(id, known));
}

/**
 * A message that must be read from Redis was not requested lately, and may not be again. So no view of it is cached.
 */
async function readView({ tenant, id }: AskedMessage, store: Store): Promise<FoundMessage> {
  const { shard } = tenant;
  const [fields] = await store.lookUp(shard, [messageLookup(shard, id)]);
  return ownView(tenant, viewOf(id, fields as MessageFields));
}

function ownView(tenant: AskedMessage['tenant'], message: ReturnType<typeof viewOf>): FoundMessage {
  const isOwn = message?.tenantId === tenant.tenantId && tenant.shops.has(message.view.shopId);
  return isOwn ? done(message.view) : failed('MESSAGE_NOT_FOUND');
}

/** True if a session is starting and has neither shown a code nor connected. */
function isOpening(state: ShopState): boolean {
  const name = channelState(state);
  return name === 'starting' || name === 'reconnecting' || (name === 'qr_waiting' && state.qr === undefined);
}
