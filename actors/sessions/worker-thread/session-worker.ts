/**
 * A session worker's thread with the sockets of many shops. A crash, a hang or a heap that runs full ends only its own
 * shops' sessions. Started by worker-pool.ts; speaks worker-protocol.ts.
 */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { WA_CERT_DETAILS } from '@whiskeysockets/baileys';
import { systemClock } from '../../../runtime/clock.ts';
import { Deadlines } from '../../../runtime/deadlines.ts';
import { FairSlots } from '../../../runtime/fair-slots.ts';
import { AddressGuard } from '../../outbound/address-guard.ts';
import { nameLookup } from '../../outbound/name-lookup.ts';
import { isAttachmentFailure } from '../attachment-files.ts';
import { credentialCiphers } from '../credential-cipher.ts';
import { egressVault } from '../egress-vault.ts';
import type { SessionAddress } from '../session-host.ts';
import type {
  StoreAnswer,
  StoreRequest,
  WorkerCommand,
  WorkerMessage,
  WorkerSetup,
} from '../worker-protocol.ts';
import { shareAsyncContexts } from './async-contexts.ts';
import { replaceClientCurve } from './keys/client-curve.ts';
import { describeDefect } from './shared/defect.ts';
import { ExpiringCache } from './shared/expiring-cache.ts';
import { silenceConsole } from './shared/silent-logger.ts';
import { SealedCache } from './store/sealed-cache.ts';
import type { AskStore } from './store/sealed-store.ts';
import { WorkerSessions } from './worker-sessions.ts';

/** Numbers whose existence one worker remembers. */
const NUMBERS_REMEMBERED = 20_000;

/** Sealed values that one worker keeps, in bytes: the keys of some 3,000 chats. */
const SEALED_BYTES_KEPT = 8 * 1024 * 1024;

/** Between two moments that sessions share, in milliseconds. */
const SHARED_MS = 250;

/** Attachments of one tenant that are fetched at a time. So a tenant's slow servers delay only its own messages. */
const ATTACHMENTS_PER_TENANT = 4;

/**
 * Messages that are prepared and sent at a time, in all and of one tenant. The others wait, so that a worker with more
 * work than it can do still reads its sockets in time. Each message keeps it busy for about 10 ms. So it reads a reply
 * after some seconds at most, and pings wait for 20. With 5,000 at a time, replies waited for more than a minute. A
 * tenant whose proxies are dead leaves a fifth of the slots to the others.
 */
const SENDS = { all: 500, share: 400 };

function run(): void {
  const port = parentPort;
  if (port === null) throw new Error('a session worker runs in a worker thread');
  const setup = workerData as WorkerSetup;
  const clock = systemClock;
  const post = (message: WorkerMessage): void => port.postMessage(message);
  const store = storeClient(post);
  const attachmentUnwritable = (cause: string): void =>
    post({ kind: 'log', level: 'error', fields: { cause }, message: 'an attachment could not be written' });
  if (setup.noiseRootKey !== undefined) WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(setup.noiseRootKey);

  const ciphers = credentialCiphers(setup.credentialsKeys.map((key) => Buffer.from(key)));
  const sessions = new WorkerSessions({
    socketUrl: setup.socketUrl,
    deviceName: setup.deviceName,
    media: {
      guard: new AddressGuard(setup.media),
      resolve: nameLookup(setup.media.nameServers),
      slots: new FairSlots({ share: ATTACHMENTS_PER_TENANT }),
      histories: new FairSlots({ share: 1 }),
      ca: setup.mediaCa,
      onUnwritable: attachmentUnwritable,
    },
    timing: setup.timing,
    clock,
    busyShare: busyShareOfThread(),
    sharedDeadlines: new Deadlines(clock, SHARED_MS, (act) => act()),
    ciphers,
    egressVault: egressVault(ciphers),
    ask: store.ask,
    lookThroughs: new FairSlots({ all: 1, share: 1 }),
    sendSlots: new FairSlots(SENDS),
    sealedCache: new SealedCache(SEALED_BYTES_KEPT),
    post,
    numbers: new ExpiringCache({
      lifeMs: setup.timing.knownNumberMs,
      maxEntries: NUMBERS_REMEMBERED,
      nowMs: () => clock.monotonicMs(),
    }),
  });

  // The client leaves some of its promises unwatched. A failure in one shop's must not end all shops' sessions.
  process.on('unhandledRejection', (reason) => {
    const fields = { ...describeDefect(reason) };
    post({ kind: 'log', level: 'warn', fields, message: 'a failure was left unhandled' });
  });

  // The client watches none of the files that it encrypts attachments into. If one cannot be written (a full disk), the
  // failure would end the worker, and with it the sessions of all its shops.
  process.on('uncaughtException', (error) => {
    if (!isAttachmentFailure(error)) throw error;
    attachmentUnwritable(`${error.name}: ${error.message}`);
    sessions.returnAttachments();
  });

  port.on('message', (message: WorkerCommand) => {
    if (message.kind === 'ping') post({ kind: 'pong', heapBytes: getHeapStatistics().used_heap_size });
    else if (message.kind === 'store_answer') store.answer(message.requestId, message.answer);
    else if (message.kind === 'stop') void sessions.stop().then(() => post({ kind: 'stopped' }));
    else sessions.handle(message);
  });
  post({ kind: 'ready' });
}

/**
 * Returns a function that gives the share of time since its last call in which the thread worked, or waited for a core.
 * The rest it waited for events.
 */
function busyShareOfThread(): () => number {
  let utilizationBefore = performance.eventLoopUtilization();
  return () => {
    const utilizationNow = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(utilizationNow, utilizationBefore);
    utilizationBefore = utilizationNow;
    return utilization;
  };
}

/** Sends requests to the main thread's store, and matches its replies to the requests. */
function storeClient(post: (message: WorkerMessage) => void): {
  ask: AskStore;
  answer(requestId: number, answer: StoreAnswer): void;
} {
  const openQuestions = new Map<number, (answer: StoreAnswer) => void>();
  let count = 0;
  return {
    ask: (shop: SessionAddress, request: StoreRequest) =>
      new Promise((resolve) => {
        count += 1;
        openQuestions.set(count, resolve);
        post({ kind: 'store', requestId: count, shop, request });
      }),
    answer(requestId, answer) {
      openQuestions.get(requestId)?.(answer);
      openQuestions.delete(requestId);
    },
  };
}

/** V8's own. Any other value was set with `NODE_OPTIONS=--stack-trace-limit=50`. */
const DEFAULT_STACK_FRAMES = 10;

/**
 * Leaves stacks out of this thread's errors, which are reported by name and known cause. Whenever the client starts to
 * wait, it makes the error for a timeout in advance. Building the stacks of these errors took an eighth of the thread's
 * time while it sent.
 */
if (Error.stackTraceLimit === DEFAULT_STACK_FRAMES) Error.stackTraceLimit = 0;

silenceConsole();
shareAsyncContexts();
replaceClientCurve();
run();
