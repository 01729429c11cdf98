import {
  type BinaryNode,
  normalizeMessageContent,
  proto,
  type WAMessage,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { DownloadBounds } from '../../../outbound/network-file.ts';
import type { Credentials } from '../keys/credentials.ts';
import { readClientError } from '../session/session-end.ts';
import { readHistory } from './history-reader.ts';
import { storeTokens } from './history-tokens.ts';

/** Parts of a history that are read in one connection. A phone sends some twenty after a device is linked. */
const MOST_PARTS = 100;

/** Facts that are stored in one write. */
const FACTS_A_WRITE = 500;

/** The collection of the account's settings that has its name. The network shows contacts a dash without it. */
const NAMES = 'critical_block';

const { HistorySyncType } = proto.HistorySync;

/** The parts that have ids of contacts or tokens. */
const READ_PARTS: ReadonlySet<unknown> = new Set([
  HistorySyncType.INITIAL_BOOTSTRAP,
  HistorySyncType.RECENT,
  HistorySyncType.NON_BLOCKING_DATA,
]);

/** The parts of a session that its account's data is taken with. */
export interface AccountSyncOptions {
  readonly socket: WASocket;
  readonly credentials: Credentials;
  readonly bounds: DownloadBounds;
  readonly log: (level: 'info' | 'warn', fields: Record<string, unknown>, message: string) => void;
  /** Runs the work once no other session's history is read; `ended` calls it off. */
  readonly alone: (work: () => Promise<void>, ended: AbortSignal) => Promise<void>;
}

/**
 * Takes what the account's phone tells a newly linked device. Of its history the ids and tokens of contacts, read by
 * `readHistory`; the client itself is told to take none (`shouldSyncHistoryMessage`). And the account's own name, for which the
 * client fetches one collection of the account's settings.
 */
export function followAccount(options: AccountSyncOptions): void {
  const { socket, log } = options;
  const ended = new AbortController();
  let line: Promise<void> = Promise.resolve();
  let parts = 0;
  const failed = (error: unknown): void => {
    if (!ended.signal.aborted)
      log('warn', { cause: readClientError(error).message }, 'data of the account was not taken');
  };
  socket.ev.on('connection.update', ({ connection }) => {
    if (connection === 'close') ended.abort();
  });
  socket.ev.on('messages.upsert', ({ messages }) => {
    for (const notice of messages.flatMap(historyOf)) {
      parts += 1;
      if (parts > MOST_PARTS) return;
      line = line
        .then(() => options.alone(() => takeHistory(options, notice, ended.signal), ended.signal))
        .catch(failed);
    }
  });
  socket.ev.on('creds.update', ({ myAppStateKeyId }) => {
    if (myAppStateKeyId !== undefined) socket.resyncAppState([NAMES], true).catch(failed);
  });
}

/** Leaves out of a notification the collections that nobody needs, so that the client does not fetch them. */
export function skipCollections(frame: BinaryNode | Uint8Array): void {
  if (frame instanceof Uint8Array || frame.tag !== 'notification' || frame.attrs.type !== 'server_sync')
    return;
  if (!Array.isArray(frame.content)) return;
  frame.content = frame.content.filter(({ tag, attrs }) => tag !== 'collection' || attrs.name === NAMES);
}

function historyOf({ key, message }: WAMessage): proto.Message.IHistorySyncNotification[] {
  if (key.fromMe !== true) return [];
  const notice = normalizeMessageContent(message)?.protocolMessage?.historySyncNotification;
  return notice == null || !READ_PARTS.has(notice.syncType) ? [] : [notice];
}

async function takeHistory(
  { bounds, credentials, socket, log }: AccountSyncOptions,
  notice: proto.Message.IHistorySyncNotification,
  ended: AbortSignal,
): Promise<void> {
  const facts = await readHistory(notice, bounds, ended);
  const { mappings, tokens } = facts;
  for (const part of chunksOf([...mappings], FACTS_A_WRITE)) {
    ended.throwIfAborted();
    await storeMappings({ socket, credentials }, part);
  }
  for (const part of chunksOf(tokens, FACTS_A_WRITE)) {
    ended.throwIfAborted();
    await storeTokens(credentials, part);
  }
  log('info', { mappings: mappings.size, tokens: tokens.length }, 'the phone told its history');
}

/**
 * A new id goes past the client's own cache, which keeps all that was ever reported to it; a changed id goes through
 * it.
 */
async function storeMappings(
  { socket, credentials }: Pick<AccountSyncOptions, 'socket' | 'credentials'>,
  mappings: readonly (readonly [number: string, lid: string])[],
): Promise<void> {
  const known = await credentials.keys.get(
    'lid-mapping',
    mappings.map(([number]) => number),
  );
  const changed = mappings.filter(([number, lid]) => known[number] !== undefined && known[number] !== lid);
  const fresh: Record<string, string> = {};
  for (const [number, lid] of mappings) {
    if (known[number] !== undefined) continue;
    fresh[number] = lid;
    fresh[`${lid}_reverse`] = number;
  }
  await credentials.storeNow({ 'lid-mapping': fresh });
  const pairs = changed.map(([number, lid]) => ({ pn: `${number}@s.whatsapp.net`, lid: `${lid}@lid` }));
  await socket.signalRepository.lidMapping.storeLIDPNMappings(pairs);
}

function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
