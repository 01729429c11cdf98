import type { ConnectionState, WASocket } from '@whiskeysockets/baileys';
import type { ArmedTimer } from '../../../runtime/clock.ts';
import type { Egress } from '../../outbound/egress.ts';
import type { SendOutcome, SessionEnd, SessionEvent } from '../session-events.ts';
import type { SessionAddress } from '../session-host.ts';
import type { PrepareOrder, WorkerOpening } from '../worker-protocol.ts';
import type { AccountHistory } from './connection/account-history.ts';
import { connectClient, holdReceipts } from './connection/client-socket.ts';
import { ConnectionWatch } from './connection/connection-watch.ts';
import { LimitsWatch } from './connection/limits-watch.ts';
import type { InboundIntake } from './inbound/inbound-intake.ts';
import { InboundStanzas } from './inbound/inbound-stanzas.ts';
import { LONGEST_HOLD_MS, Receipts } from './inbound/receipts.ts';
import { keysMovingTokens } from './keys/contact-tokens.ts';
import type { Credentials } from './keys/credentials.ts';
import { makeRatchets, type Ratchets } from './keys/ratchets.ts';
import { RetryAnswers } from './retries/retry-answers.ts';
import { followDevices, followOwnDevices } from './sending/changed-devices.ts';
import { DeviceSessions, isKeyless, ownDevice } from './sending/device-sessions.ts';
import { GroupDirectory } from './sending/group-directory.ts';
import { lookUpIds } from './sending/number-lookup.ts';
import { Outbox } from './sending/outbox.ts';
import type { OutboxParts } from './sending/outbox-options.ts';
import type { ReaddressedIds } from './sending/readdressed-ids.ts';
import { SentMessages } from './sending/sent-messages.ts';
import type { ChatTimers } from './shared/chat-timers.ts';
import type { Disconnect } from './shared/session-end.ts';
import type { SessionEnvironment, ShopMemory } from './shared/session-environment.ts';
import type { SealedStore } from './store/sealed-store.ts';
import { isGroupAddress } from './wire/chat-address.ts';
import { personOf } from './wire/inbound-message.ts';

/** An event without the number of its session. */
export type UnnumberedEvent = WithoutGeneration<SessionEvent>;

type WithoutGeneration<T> = T extends { generation: number } ? Omit<T, 'generation'> : never;

/** Why a session ends, as in its `closed` event. */
export type SessionEndCause = Omit<Disconnect, 'message'> & { readonly detail: string };

/** The facts about the shop and the session's life that the parts of a session need. */
export interface SessionPartsOptions {
  readonly environment: SessionEnvironment;
  readonly memory: ShopMemory;
  readonly shop: SessionAddress;
  readonly opening: WorkerOpening;
  readonly credentials: Credentials;
  /** The egress of all its connections. If undefined, the node's own address. */
  readonly egress: Egress | undefined;
  readonly sealedStore: SealedStore;
  readonly inbound: InboundIntake;
  readonly readdressedIds: ReaddressedIds;
  readonly chatTimers: ChatTimers;
  /** The parts once they were returned, and nothing after the end. */
  readonly runningParts: () => RunningParts | undefined;
  readonly hasEnded: () => boolean;
  /** Runs after a delay, unless the session ends before. */
  readonly later: (delayMs: number, act: () => void) => ArmedTimer;
  readonly emit: (event: UnnumberedEvent) => void;
  readonly report: (order: PrepareOrder, outcome: SendOutcome) => void;
  readonly log: (fields: Record<string, unknown>, message: string) => void;
  readonly end: (end: SessionEnd, cause: SessionEndCause) => void;
  readonly onUpdated: (update: Partial<ConnectionState>) => void;
}

/** The parts of a session whose client runs. */
export interface RunningParts {
  readonly socket: WASocket;
  readonly credentials: Credentials;
  readonly outbox: Outbox;
  readonly groups: GroupDirectory;
  readonly receipts: Receipts;
  readonly retries: RetryAnswers;
  readonly watch: ConnectionWatch;
  readonly limits: LimitsWatch;
  readonly history: AccountHistory;
  /** Resolves when all waiting stanzas were received and processed. */
  readonly caughtUp: Promise<void>;
}

/** Connects a client and puts the parts of its session together. */
export function startParts(options: SessionPartsOptions): RunningParts {
  const { environment, memory, credentials, sealedStore, runningParts, later, log } = options;
  const ownAddresses = (): string[] =>
    [credentials.creds.me?.id, credentials.creds.me?.lid].flatMap((address) =>
      address == null ? [] : [personOf(address)],
    );
  const ratchets = ratchetsOf(options, ownAddresses);
  const { socket, tokens, history } = connectClient({
    ...options,
    ratchets,
    groups: () => runningParts()?.groups,
  });
  const { caughtUp } = new InboundStanzas({ ...options, socket, ratchets });
  const groups = new GroupDirectory({
    socket,
    clock: environment.clock,
    floorMs: environment.timing.groupsFloorMs,
    queryMs: environment.timing.queryMs,
    later,
    ownAddresses,
    report: (list) => options.emit({ type: 'session.groups', groups: list }),
  });
  const sentMessages = new SentMessages(sealedStore, environment.clock);
  const sessions = new DeviceSessions(socket, memory, log);
  const { readdressedIds, chatTimers } = options;
  const sharedParts = {
    socket,
    groups,
    sentMessages,
    tokens,
    credentials,
    sessions,
    memory,
    readdressedIds,
    chatTimers,
  };
  const outbox = outboxOf(options, sharedParts);
  const retries = new RetryAnswers({ ...sharedParts, outbox, environment, ownAddresses, later, log });
  const limits = new LimitsWatch({
    socket,
    everyMs: environment.timing.limitsEveryMs,
    later,
    report: options.emit,
    log,
  });
  const receipts = receiptsOf(options, { socket, groups, outbox, ownAddresses });
  const watch = new ConnectionWatch({
    socket,
    clock: environment.clock,
    timing: environment.timing,
    later,
    onUnanswered: (question) =>
      options.end('transient', {
        statusCode: 408,
        detail: `the socket is open and nobody answers ${question}`,
      }),
  });
  const ownParts = { socket, credentials, history, caughtUp };
  const parts = { ...ownParts, outbox, groups, receipts, retries, watch, limits };
  listen(parts, options);
  return parts;
}

function ratchetsOf(
  { credentials, memory, inbound, runningParts }: SessionPartsOptions,
  ownAddresses: () => string[],
): Ratchets {
  return makeRatchets(keysMovingTokens(credentials.keys), {
    storeSealed: async (data) => {
      const { outbox } = runningParts() ?? {};
      await (outbox === undefined ? credentials.keys.set(data) : outbox.storeSealed(data));
    },
    storeLater: (data) => credentials.setLater(data),
    lookUpNumbers: async (addresses) => {
      const { socket } = runningParts() ?? {};
      return socket === undefined ? undefined : lookUpIds(socket, memory, addresses);
    },
    onReceived: (envelope, message) => inbound.commitMessage(envelope, message),
    historyReceived: async (wireId, notice) => runningParts()?.history.storeNotice(wireId, notice),
    isLeftOut: (address) =>
      isKeyless(memory.keyless, address) || ownDevice(credentials.creds.me).includes(address),
    ownAddresses,
    numbersBeside: memory.numbersBeside,
  });
}

function outboxOf(options: SessionPartsOptions, parts: OutboxParts): Outbox {
  const { environment, shop, emit } = options;
  const { generation } = options.opening;
  return new Outbox({
    ...parts,
    clock: environment.clock,
    timing: environment.timing,
    tenantId: shop.tenantId,
    media: { ...environment.media, egress: options.egress },
    numbers: environment.numbers,
    report: options.report,
    recipientKnown: (messageId, number) => emit({ type: 'session.recipient_known', messageId, number }),
    onPrepared: (result) =>
      environment.post({ kind: 'prepared', shopId: shop.shopId, generation, ...result }),
    stalled: (detail) => options.end('transient', { statusCode: undefined, detail }),
    onUnanswered: () => void options.runningParts()?.watch.probe(),
    logError: (fields, message) =>
      environment.post({ kind: 'log', level: 'error', fields: { shopId: shop.shopId, ...fields }, message }),
  });
}

function receiptsOf(
  { environment, memory, opening, later, emit, log, hasEnded, readdressedIds }: SessionPartsOptions,
  {
    socket,
    groups,
    outbox,
    ownAddresses,
  }: Pick<RunningParts, 'socket' | 'groups' | 'outbox'> & { readonly ownAddresses: () => string[] },
): Receipts {
  return new Receipts({
    ownAddresses,
    numberOf: async (lid) => (await socket.signalRepository.lidMapping.getPNForLID(lid)) ?? undefined,
    isOutside: (group, addresses) => groups.excludes(group, addresses),
    isPending: (wireId) => outbox.isPending(wireId) || memory.unacknowledged.isKept(wireId),
    orderedAs: (wireId) => readdressedIds.orderedAs(wireId),
    atSharedMoment: (act) => void environment.sharedDeadlines.add(() => hasEnded() || act(), 0),
    afterLongestHold: (act) => later(LONGEST_HOLD_MS, act),
    onDropped: (count) => log({ count }, 'too many receipts at once: some are not reported'),
    generation: opening.generation,
    report: (token, receipts) => emit({ type: 'session.receipts', token, receipts }),
  });
}

function listen(
  { socket, credentials, outbox, groups, receipts, retries }: RunningParts,
  { environment, memory, onUpdated }: SessionPartsOptions,
): void {
  followDevices(socket, memory);
  followOwnDevices(socket, memory, () => credentials.creds.me);
  socket.ws.on('CB:ack,class:message', (node: { attrs: Record<string, string> }) =>
    outbox.onAcknowledged(node.attrs),
  );
  socket.ws.on('CB:notification,type:w:gp2', ({ attrs }: { attrs: Record<string, string> }) => {
    if (isGroupAddress(attrs.from ?? '')) groups.renewSoon(attrs.from ?? '');
  });
  holdReceipts(socket, (node) => receipts.onReceipt(node), retries);
  socket.ev.on('creds.update', () => {
    // The failure is not lost here: a write that fails closes the sealed store, which ends the session with it.
    credentials.save(environment.clock.wallMs()).catch(() => undefined);
  });
  socket.ev.on('connection.update', onUpdated);
}
