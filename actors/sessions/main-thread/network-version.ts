import type { ArmedTimer, Clock } from '../../../runtime/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../runtime/durations.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { Store } from '../../../runtime/store.ts';
import { NAMED_VERSION_KEY, readClientVersion, SET_VERSION_KEY } from '../client-version.ts';
import type { ClientVersion } from '../worker-protocol.ts';

/** Exists while the daily request to the page is not due: a day, and after a failure an hour. */
const ASKED_KEY = 'client-version:asked';
/** Exists after a refusal while no node may send another request. The first refusal may cause one at once. */
const REFUSED_KEY = 'client-version:refused';

const REFUSED_MS = 5 * MINUTE_MS;

/**
 * How often a node reads the version that operators set or another node learned, in milliseconds, and how soon after a
 * refusal.
 */
const READ_MS = MINUTE_MS;
const REFUSED_READ_MS = 30_000;

/** How long the reply may take, in milliseconds. */
const PAGE_ANSWER_MS = 20_000;

/** The versions of this kind of client; the page names their last number. */
const MAJOR = 2;
const MINOR = 3000;

export interface NetworkVersionOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Reads the last number of the version from the network's page. If undefined, the page is never read and no stored
   * reply is used.
   */
  readonly ask: ((signal: AbortSignal) => Promise<number>) | undefined;
  /** Called once, when the stored versions were read, or could not be read. */
  readonly onRead: () => void;
}

/**
 * The version that clients send: the one that operators set for the fleet, else the one that the network's own page
 * names.
 *
 * The page is read once a day per fleet, and at once if the network refuses the version in use. Both versions are kept
 * in Redis, unfenced. Without them clients send the version of the settings, or their own.
 */
export class NetworkVersion {
  readonly #options: NetworkVersionOptions;
  #set: ClientVersion | undefined;
  #named: ClientVersion | undefined;
  #isRead = false;
  #isHandlingRefusal = false;
  #timer: ArmedTimer | undefined;
  #readAtMs = 0;
  readonly #stopped = new AbortController();

  constructor(options: NetworkVersionOptions) {
    this.#options = options;
    void this.#read();
  }

  /** The version to send. Undefined means the one of the settings, or the client's own. */
  get version(): ClientVersion | undefined {
    return this.#set ?? (this.#options.ask && this.#named);
  }

  /**
   * True once the stored versions were read, or could not be read. A session that opens earlier might send a version
   * that is refused.
   */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** The network refused a client for its version. */
  onRefused(): void {
    if (this.#isHandlingRefusal || this.#stopped.signal.aborted) return;
    this.#isHandlingRefusal = true;
    const handling = this.#claim(REFUSED_KEY, REFUSED_MS).then(async (isOurs) => {
      if (isOurs) await this.#ask();
      // Another node reads the page.
      else this.#readIn(REFUSED_READ_MS);
    });
    void handling
      .catch((error: unknown) => this.#logFailure(error))
      .finally(() => (this.#isHandlingRefusal = false));
  }

  stop(): void {
    this.#timer?.cancel();
    this.#stopped.abort();
  }

  /** Refusals that go on and on do not put off the reading that follows the first. */
  #readIn(delayMs: number): void {
    const { clock } = this.#options;
    const atMs = clock.monotonicMs() + delayMs;
    if (this.#stopped.signal.aborted || (this.#timer !== undefined && this.#readAtMs <= atMs)) return;
    this.#timer?.cancel();
    this.#readAtMs = atMs;
    this.#timer = clock.after(delayMs, () => void this.#read());
  }

  async #read(): Promise<void> {
    this.#timer = undefined;
    try {
      const texts = await this.#options.store.read([
        ['GET', SET_VERSION_KEY],
        ['GET', NAMED_VERSION_KEY],
      ]);
      const [set, namedVersion] = texts.map(readClientVersion);
      this.#setBy(set);
      this.#named = namedVersion ?? this.#named;
    } catch (error) {
      this.#logFailure(error);
    }
    if (!this.#isRead) {
      this.#isRead = true;
      this.#options.onRead();
    }
    this.#readIn(READ_MS);
    try {
      if (await this.#claim(ASKED_KEY, DAY_MS)) await this.#ask();
    } catch (error) {
      this.#logFailure(error);
    }
  }

  #setBy(version: ClientVersion | undefined): void {
    const present = version?.join('.');
    if (present !== this.#set?.join('.'))
      this.#options.log.info({ clientVersion: present ?? null }, 'operators set the version of the client');
    this.#set = version;
  }

  /** Resolves with true if this node must read the page. */
  async #claim(key: string, forMs: number): Promise<boolean> {
    if (this.#options.ask === undefined) return false;
    const [claimReply] = await this.#options.store.append([['SET', key, '1', 'NX', 'PX', forMs]]);
    return claimReply !== null;
  }

  async #ask(): Promise<void> {
    const { ask, store, clock, log } = this.#options;
    if (ask === undefined) return;
    const timeout = new AbortController();
    const timer = clock.after(PAGE_ANSWER_MS, () => timeout.abort());
    try {
      const signal = AbortSignal.any([timeout.signal, this.#stopped.signal]);
      this.#named = [MAJOR, MINOR, await ask(signal)];
      await store.append([['SET', NAMED_VERSION_KEY, this.#named.join('.')]]);
      log.info({ clientVersion: this.#named.join('.') }, 'the network named the version of its client');
    } catch (error) {
      await store.append([['PEXPIRE', ASKED_KEY, HOUR_MS]]);
      throw error;
    } finally {
      timer.cancel();
    }
  }

  #logFailure(error: unknown): void {
    if (this.#stopped.signal.aborted) return;
    this.#options.log.warn({ err: error }, 'the version of the client could not be read');
  }
}
