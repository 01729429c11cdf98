import { Agent } from 'node:https';
import {
  type BinaryNode,
  DEFAULT_CONNECTION_CONFIG,
  getWAUploadToServer,
  isJidNewsletter,
  makeWASocket,
  transferDevice,
  type UserFacingSocketConfig,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { Egress } from '../../../outbound/egress.ts';
import type { DownloadBounds } from '../../../outbound/network-file.ts';
import type { WorkerOpening } from '../../worker-protocol.ts';
import { ContactTokens } from '../keys/contact-tokens.ts';
import type { Credentials } from '../keys/credentials.ts';
import type { Ratchets } from '../keys/ratchets.ts';
import type { RetryAnswers } from '../retries/retry-answers.ts';
import { devicesWithKeys } from '../sending/device-sessions.ts';
import type { GroupDirectory } from '../sending/group-directory.ts';
import type { SessionContext } from '../shared/session-context.ts';
import { isSocketFailure } from '../shared/session-end.ts';
import type { SessionEnvironment } from '../shared/session-environment.ts';
import { clientLogger } from '../shared/silent-logger.ts';
import type { SealedStore } from '../store/sealed-store.ts';
import { spellOutErrors } from '../wire/usync-errors.ts';
import { AccountHistory } from './account-history.ts';
import { clientDispatcher } from './client-dispatcher.ts';
import { boundMappings, shrinkRetryMemory } from './client-memory.ts';
import { mediaHosts } from './media-hosts.ts';

/**
 * The longest wait of a timer, about 24 days. It disables the client's own keep-alive, which would ping in addition to
 * ours.
 */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

/**
 * Opens a client on the network, with the tokens of its contacts and the history that its phone sends. It reports
 * through its events (docs/chat-client.md, Configuration).
 */
export function connectClient(options: {
  readonly context: SessionContext;
  readonly credentials: Credentials;
  readonly sealedStore: SealedStore;
  readonly egress: Egress | undefined;
  readonly ratchets: Ratchets;
  /** Called when the shop writes to a group, long after this returned. */
  readonly groups: () => GroupDirectory | undefined;
}): { readonly socket: WASocket; readonly tokens: ContactTokens; readonly history: AccountHistory } {
  const { context, credentials, sealedStore, egress, ratchets, groups } = options;
  const { environment, memory, opening, timing } = context;
  const { clientVersion } = opening;
  const bounds: DownloadBounds = {
    ...environment.media,
    egress,
    hosts: async () => (await socket.refreshMediaConn()).hosts.map(({ hostname }) => hostname),
  };
  const tokens = new ContactTokens({
    keys: credentials.keys,
    nowMs: () => environment.clock.wallMs(),
    lidOf: (address) => socket.signalRepository.lidMapping.getLIDForPN(address),
  });
  const config: UserFacingSocketConfig = {
    waWebSocketUrl: environment.socketUrl,
    auth: { creds: credentials.creds, keys: tokens.forClient() },
    logger: clientLogger((error) => {
      if (isSocketFailure(error)) return;
      const { name } = error instanceof Error ? error : { name: typeof error };
      context.log({ error: name }, 'the client refused a message on which it failed');
    }),
    // opening-watch.ts ends a client that does not connect, and connection-watch.ts a connection that
    // accepts no data. The client's own wait for each frame would cost more than the frame.
    connectTimeoutMs: 0,
    defaultQueryTimeoutMs: timing.queryMs,
    // Only connection-watch.ts checks the connection.
    keepAliveIntervalMs: LONGEST_WAIT_MS,
    markOnlineOnConnect: false,
    syncFullHistory: false,
    emitOwnEvents: false,
    // A write that failed ends the session, so trying it again is of no use.
    transactionOpts: { maxCommitRetries: 1, delayBetweenTriesMs: 0 },
    shouldIgnoreJid: (address) => isJidNewsletter(address) === true,
    msgRetryCounterCache: memory.retries,
    userDevicesCache: devicesWithKeys(memory, () => credentials.creds.me),
    callOfferCache: memory.calls,
    placeholderResendCache: memory.placeholders,
    cachedGroupMetadata: async (id) => groups()?.metadata(id),
    makeSignalRepository: ratchets.makeSignalRepository,
    // account-history.ts takes the needed part of the history; the client would hold all of it in memory.
    shouldSyncHistoryMessage: () => false,
    options: { dispatcher: clientDispatcher(bounds) },
    ...browserOf(environment.deviceName, opening),
    ...(timing.qrMs === undefined ? {} : { qrTimeout: timing.qrMs }),
    ...(clientVersion === undefined ? {} : { version: [...clientVersion] as [number, number, number] }),
    ...agentsOf(environment, egress),
  };
  const socket: WASocket = makeWASocket(config);
  adaptSocket(socket, { context, credentials, ratchets, tokens, config });
  followAccount(context, socket);
  const history = new AccountHistory({ context, socket, credentials, sealedStore, bounds });
  return { socket, tokens, history };
}

/** Changes a new client where it falls short (docs/chat-client.md), before it receives its first stanza. */
function adaptSocket(
  socket: WASocket,
  parts: {
    readonly context: SessionContext;
    readonly credentials: Credentials;
    readonly ratchets: Ratchets;
    readonly tokens: ContactTokens;
    readonly config: UserFacingSocketConfig;
  },
): void {
  const { context, credentials, ratchets, tokens, config } = parts;
  socket.refreshMediaConn = mediaHosts(socket, () => context.environment.clock.wallMs());
  socket.waUploadToServer = getWAUploadToServer(
    { ...DEFAULT_CONNECTION_CONFIG, ...config },
    socket.refreshMediaConn,
  );
  if (socket.messageRetryManager !== null) shrinkRetryMemory(socket.messageRetryManager);
  boundMappings(socket.signalRepository);
  socket.ws.prependListener('frame', spellOutErrors);
  withholdRefusals(socket);
  socket.ws.on('CB:message', (stanza: BinaryNode) => tokens.keepToken(stanza));
  socket.ws.prependListener('frame', skipCollections);
  // If a login does not name the shop's LID, the client would forget the one of the pairing. If it names the LID
  // without the device, the client would take the phone for itself, and leave it out of sends.
  socket.ws.prependListener('CB:success', ({ attrs }: BinaryNode) => {
    const { id, lid: knownLid } = credentials.creds.me ?? {};
    const lid = attrs.lid ?? knownLid;
    if (id !== undefined && lid !== undefined) attrs.lid = transferDevice(id, lid);
  });
  // The first listener, so that a stanza is known before the client opens it.
  socket.ws.prependListener('CB:message', ratchets.arriving);
}

/** Returns the agents of the socket and of uploads; a session without an egress has its own for the simulator alone. */
function agentsOf(
  { socketUrl, media: { ca } }: SessionEnvironment,
  egress: Egress | undefined,
): Pick<UserFacingSocketConfig, 'agent' | 'fetchAgent'> {
  if (egress === undefined) return ca === undefined ? {} : { fetchAgent: new Agent({ ca }) };
  const socketProtocol = new URL(socketUrl.replace(/^ws/, 'http')).protocol;
  return { agent: egress.agent(socketProtocol) as Agent, fetchAgent: egress.agent('https:', { ca }) };
}

/**
 * Returns the name that the client gives itself. With a code to type the server takes only names of common browsers and
 * systems (tulir/whatsmeow, pair-code.go). So there it is the client's own.
 */
function browserOf(deviceName: string, { pairWith }: WorkerOpening): Pick<UserFacingSocketConfig, 'browser'> {
  return pairWith === undefined
    ? { browser: [deviceName, 'Chrome', DEFAULT_CONNECTION_CONFIG.browser[2]] }
    : {};
}

/**
 * The refusal of a message that would start a chat, after which the client asks the recipient for a token by itself.
 */
const REACH_OUT_REFUSED = '463';

/**
 * Hides refusals of new chats from the client. It would ask a person who never wrote for a token. That is one more step
 * towards them, and is of no use while the number is restricted (WhiskeySockets/Baileys issue 2441). The outbox reads
 * the ack itself.
 */
function withholdRefusals({ ws }: WASocket): void {
  const listeners = ws.listeners('CB:ack,class:message') as ((ack: BinaryNode) => void)[];
  ws.removeAllListeners('CB:ack,class:message');
  ws.on('CB:ack,class:message', (ack: BinaryNode) => {
    if (ack.attrs.error !== REACH_OUT_REFUSED) for (const listener of listeners) listener(ack);
  });
}

/**
 * Passes each `receipt` on to the client, which acknowledges it to the network, once `onTaken` has settled. One that
 * was not acknowledged comes again at the next login. It delays no other stanza. Retry receipts go to `retries` alone.
 */
export function holdReceipts(
  { ws }: WASocket,
  onTaken: (receipt: BinaryNode) => Promise<void>,
  retries: Pick<RetryAnswers, 'onReceipt'>,
): void {
  const acknowledge = ws.listeners('CB:receipt') as ((receipt: BinaryNode) => void)[];
  ws.removeAllListeners('CB:receipt');
  ws.on('CB:receipt', (receipt: BinaryNode) => {
    if (receipt.attrs.type === 'retry') {
      void retries.onReceipt(receipt);
      return;
    }
    const goOn = (): void => {
      for (const listener of acknowledge) listener(receipt);
    };
    onTaken(receipt).then(goOn, goOn);
  });
}

/** The collection of the account's settings that has its name. The network shows contacts a dash without it. */
const NAMES = 'critical_block';

/** Fetches the collection of the account's settings that has its own name. */
export function followAccount(
  context: SessionContext,
  socket: Pick<WASocket, 'ev' | 'resyncAppState'>,
): void {
  let isOver = false;
  socket.ev.on('connection.update', ({ connection }) => {
    if (connection === 'close') isOver = true;
  });
  socket.ev.on('creds.update', ({ myAppStateKeyId }) => {
    if (myAppStateKeyId === undefined) return;
    socket.resyncAppState([NAMES], true).catch((error: unknown) => {
      if (!isOver) context.logFailure('data of the account was not taken')(error);
    });
  });
}

/** Removes unneeded collections from a notification, so that the client does not fetch them. */
export function skipCollections(frame: BinaryNode | Uint8Array): void {
  if (frame instanceof Uint8Array || frame.tag !== 'notification' || frame.attrs.type !== 'server_sync')
    return;
  if (!Array.isArray(frame.content)) return;
  frame.content = frame.content.filter(({ tag, attrs }) => tag !== 'collection' || attrs.name === NAMES);
}
