import { proto, type WASocket } from '@whiskeysockets/baileys';
import { DAY_MS } from '../../../../runtime/durations.ts';
import { partsOf } from '../../../../runtime/parts.ts';
import { type DownloadBounds, DownloadRefused } from '../../../outbound/network-file.ts';
import type { Credentials } from '../keys/credentials.ts';
import type { SessionContext } from '../shared/session-context.ts';
import type { SealedStore } from '../store/sealed-store.ts';
import type { HistoryNotice } from '../wire/phone-message.ts';
import { readHistory } from './history-reader.ts';
import { storeMappings, storeTokens } from './history-store.ts';

/** Parts of a history that are read in one connection, or wait. A phone sends some twenty after a device is linked. */
const MOST_PARTS = 100;

/** The largest notice that waits in the store, in bytes. A part that comes within its notice is some kilobytes. */
const MOST_NOTICE_BYTES = 1024 * 1024;

/** How long a part that failed to download is retried, at each opening and once a day, in milliseconds: a week. */
const KEPT_MS = 7 * DAY_MS;

/** Facts that are stored in one write. */
const FACTS_A_WRITE = 500;

const NOTICE = 'history-notice/';

export interface AccountHistoryOptions {
  readonly context: SessionContext;
  readonly socket: Pick<WASocket, 'ev'>;
  readonly credentials: Pick<Credentials, 'keys' | 'storeNow'>;
  readonly sealedStore: Pick<SealedStore, 'find' | 'write' | 'writeLater'>;
  readonly bounds: DownloadBounds;
}

/**
 * Takes the history that the account's phone sends to a newly linked device: the ids and tokens of contacts, read by
 * `readHistory`. The client itself is set to take none (`shouldSyncHistoryMessage`).
 *
 * The phone sends it once. So a notice of at most `MOST_NOTICE_BYTES` stays in the store, sealed, until the part is
 * taken, but no longer than a week. A lost connection or a killed process then does not lose it.
 */
export class AccountHistory {
  readonly #options: AccountHistoryOptions;
  readonly #ended = new AbortController();
  /** Parts that are queued, or taken in this connection, by the id of the message. */
  readonly #known = new Set<string>();
  /** Resolves when all parts so far are taken. Each begins once the one before it is done. */
  #tail: Promise<void> = Promise.resolve();

  constructor(options: AccountHistoryOptions) {
    this.#options = options;
    options.socket.ev.on('connection.update', ({ connection }) => {
      if (connection === 'close') this.#ended.abort();
    });
  }

  /**
   * The phone announced a part, in the message of that id. Resolves when the notice is stored, if it is stored at all.
   * The message is acknowledged only after that.
   */
  async storeNotice(id: string, notice: HistoryNotice): Promise<void> {
    if (this.#known.has(id) || this.#known.size >= MOST_PARTS) return;
    const bytes = proto.Message.HistorySyncNotification.encode(notice).finish();
    if (bytes.length <= MOST_NOTICE_BYTES) {
      const value = Buffer.concat([Buffer.from(`${this.#options.context.clock.wallMs()}\n`), bytes]);
      await this.#options.sealedStore.write({ hash: 'credentials', fields: new Map([[NOTICE + id, value]]) });
    }
    this.#queue(id, async () => notice);
  }

  /** Takes the waiting parts of earlier connections. `names` has all fields in the store. */
  resume(names: readonly string[]): void {
    for (const name of names) {
      if (!name.startsWith(NOTICE) || this.#known.size >= MOST_PARTS) continue;
      const id = name.slice(NOTICE.length);
      if (!this.#known.has(id)) this.#queue(id, () => this.#waiting(id));
    }
  }

  #queue(id: string, find: () => Promise<HistoryNotice | undefined>): void {
    const { context } = this.#options;
    const endSignal = this.#ended.signal;
    this.#known.add(id);
    const take = async (): Promise<void> => {
      const notice = await find();
      if (notice !== undefined) await this.#take(notice);
      this.#forget(id);
    };
    this.#tail = this.#tail
      .then(() => context.environment.media.histories.run(context.shop.tenantId, take, endSignal))
      .catch((error: unknown) => {
        if (endSignal.aborted) return;
        context.logFailure('data of the account was not taken')(error);
        if (error instanceof DownloadRefused && error.reason !== undefined) this.#forget(id);
        // The daily check of the stored parts retries it.
        else this.#known.delete(id);
      });
  }

  /** Returns the waiting notice. Undefined if it waited too long, or cannot be read. */
  async #waiting(id: string): Promise<HistoryNotice | undefined> {
    const value = await this.#options.sealedStore.find('credentials', NOTICE + id);
    if (value === undefined) return undefined;
    const end = value.indexOf('\n');
    if (this.#options.context.clock.wallMs() - Number(value.subarray(0, end).toString()) > KEPT_MS)
      return undefined;
    return proto.Message.HistorySyncNotification.decode(value.subarray(end + 1));
  }

  /** A notice that stays stored all the same is taken twice, which changes nothing. */
  #forget(id: string): void {
    this.#options.sealedStore.writeLater({
      hash: 'credentials',
      fields: new Map([[NOTICE + id, undefined]]),
    });
  }

  async #take(notice: HistoryNotice): Promise<void> {
    const { bounds, context, credentials } = this.#options;
    const endSignal = this.#ended.signal;
    const { mappings, tokens } = await readHistory(notice, bounds, endSignal);
    for (const part of partsOf([...mappings], FACTS_A_WRITE)) {
      endSignal.throwIfAborted();
      await storeMappings(credentials, part);
    }
    for (const part of partsOf(tokens, FACTS_A_WRITE)) {
      endSignal.throwIfAborted();
      await storeTokens(credentials, part);
    }
    const facts = { mappings: mappings.size, tokens: tokens.length };
    context.log(facts, 'the phone sent its history', 'info');
  }
}
