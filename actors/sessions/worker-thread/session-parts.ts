import type { ConnectionState, WASocket } from '@whiskeysockets/baileys';
import type { Egress } from '../../outbound/egress.ts';
import type { AccountHistory } from './connection/account-history.ts';
import { connectClient, holdReceipts } from './connection/client-socket.ts';
import { ConnectionWatch } from './connection/connection-watch.ts';
import { LimitsWatch } from './connection/limits-watch.ts';
import type { InboundIntake } from './inbound/inbound-intake.ts';
import { InboundStanzas } from './inbound/inbound-stanzas.ts';
import { Receipts } from './inbound/receipts.ts';
import { keysMovingTokens } from './keys/contact-tokens.ts';
import type { Credentials } from './keys/credentials.ts';
import { makeRatchets, type Ratchets } from './keys/ratchets.ts';
import { RetryAnswers } from './retries/retry-answers.ts';
import { followDevices, followOwnDevices } from './sending/changed-devices.ts';
import { DeviceSessions, isKeyless, ownDevice } from './sending/device-sessions.ts';
import { GroupDirectory } from './sending/group-directory.ts';
import { lookUpIds } from './sending/number-lookup.ts';
import { Outbox } from './sending/outbox.ts';
import type { ReaddressedIds } from './sending/readdressed-ids.ts';
import { SentMessages } from './sending/sent-messages.ts';
import type { ChatTimers } from './shared/chat-timers.ts';
import { describeDefect } from './shared/defect.ts';
import type { SessionContext } from './shared/session-context.ts';
import type { SealedStore } from './store/sealed-store.ts';
import { isGroupAddress } from './wire/chat-address.ts';
import { personOf } from './wire/inbound-message.ts';

/** Made before the client connects: the context and the parts that `startParts` connects to the others. */
export interface SessionPartsOptions {
  readonly context: SessionContext;
  readonly credentials: Credentials;
  /** The egress of all its connections. If undefined, the node's own address. */
  readonly egress: Egress | undefined;
  readonly sealedStore: SealedStore;
  readonly inbound: InboundIntake;
  readonly readdressedIds: ReaddressedIds;
  readonly chatTimers: ChatTimers;
  /** The parts once they were returned, and nothing after the end. */
  readonly runningParts: () => RunningParts | undefined;
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
  const { context, credentials, sealedStore, runningParts } = options;
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
  const { caughtUp } = new InboundStanzas(context, socket, ratchets);
  const groups = new GroupDirectory(context, socket, ownAddresses);
  const sentMessages = new SentMessages(sealedStore, context.clock);
  const sessions = new DeviceSessions(context, socket);
  const sharedParts = { ...options, socket, groups, sentMessages, tokens, sessions };
  const onUnanswered = (): void => void runningParts()?.watch.probe();
  const { unacknowledged } = context.memory;
  const outbox: Outbox = new Outbox({
    ...sharedParts,
    onUnanswered,
    isReceived: ({ order, stanza }) => receipts.holds(order.wireId, stanza),
  });
  const retries = new RetryAnswers({ ...sharedParts, outbox, ownAddresses });
  const limits = new LimitsWatch(context, socket);
  const receipts: Receipts = new Receipts(context, {
    ownAddresses,
    numberOf: async (lid) => (await socket.signalRepository.lidMapping.getPNForLID(lid)) ?? undefined,
    isOutside: (group, addresses) => groups.excludes(group, addresses),
    isPending: (wireId) => outbox.isPending(wireId) || unacknowledged.isKept(wireId),
    onHeld: () => unacknowledged.endReceived((kept) => receipts.holds(kept.preparation.order.wireId, kept)),
    orderedAs: (wireId) => options.readdressedIds.orderedAs(wireId),
  });
  const watch = new ConnectionWatch(context, socket);
  const ownParts = { socket, credentials, history, caughtUp };
  const parts = { ...ownParts, outbox, groups, receipts, retries, watch, limits };
  listen(parts, options);
  return parts;
}

function ratchetsOf(
  { context, credentials, inbound, runningParts }: SessionPartsOptions,
  ownAddresses: () => string[],
): Ratchets {
  const { memory } = context;
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
    onUnreported: (wireId, error) => {
      // A commit that fails ends the session, and the end is logged.
      if (context.hasEnded) return;
      context.log(
        { wireId, ...describeDefect(error) },
        'a message could not be read, and its sender is asked again',
      );
    },
    isLeftOut: (address) =>
      isKeyless(memory.keyless, address) || ownDevice(credentials.creds.me).includes(address),
    keyless: memory.keyless,
    ownAddresses,
    numbersBeside: memory.numbersBeside,
  });
}

function listen(
  { socket, credentials, outbox, groups, receipts, retries }: RunningParts,
  { context: { clock, memory }, onUpdated }: SessionPartsOptions,
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
    credentials.save(clock.wallMs()).catch(() => undefined);
  });
  socket.ev.on('connection.update', onUpdated);
}
