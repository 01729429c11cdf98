import type { Redis } from 'ioredis';
import type { ArmedTimer, Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { RedisAddress } from '../redis-address.ts';
import { RuntimeFailure } from '../runtime-failure.ts';
import { connect, redisRetryDelayMs, serversOf, subscriberClient } from './redis-client.ts';
import { failureOf } from './redis-failure.ts';

export interface RedisBusOptions {
  readonly address: RedisAddress;
  readonly clock: Clock;
  readonly log: Logger;
  /** Interval between two pings, and the longest wait for a reply; milliseconds. */
  readonly answerMs: number;
}

/**
 * Receives published messages over one connection to one server: a cluster passes each message on to all its servers. A
 * connection that is lost, or does not answer pings, is replaced by one to the first server that accepts, with all
 * channels. Messages published meanwhile are lost. The library's own subscriber of a cluster does not notice a dead
 * connection that stays open. It leaves a listener on a closed socket for each server that it connects to.
 */
export class RedisBus {
  readonly #options: RedisBusOptions;
  readonly #listeners = new Map<string, (message: string) => void>();
  /** The open connection; undefined if there is none. */
  #client: Redis | undefined;
  #connecting: Redis | undefined;
  #attempts = 0;
  /** True while the connection is lost. The log says once when that begins, and once when it ends. */
  #isLost = false;
  /** The connection is being ended by this node, so its end is not logged. */
  #isRenewing = false;
  #timer: ArmedTimer | undefined;
  #isClosed = false;

  constructor(options: RedisBusOptions) {
    this.#options = options;
  }

  /** Connects to the first server that accepts; rejects if none does. */
  async connect(): Promise<void> {
    const servers = serversOf(this.#options.address).length;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#open();
        return;
      } catch (error) {
        if (attempt >= servers) throw error;
      }
    }
  }

  /** Rejects if there is no connection now. */
  async subscribe(channel: string, listener: (message: string) => void): Promise<void> {
    if (this.#client === undefined)
      throw new RuntimeFailure('STORE_UNAVAILABLE', 'there is no connection to listen on');
    this.#listeners.set(channel, listener);
    try {
      await this.#client.subscribe(channel);
    } catch (error) {
      this.#listeners.delete(channel);
      throw failureOf(error);
    }
  }

  /** If the connection is lost before Redis learns it, the next one subscribes without the channel. */
  unsubscribe(channel: string): void {
    this.#listeners.delete(channel);
    void Promise.allSettled([this.#client?.unsubscribe(channel)]);
  }

  /**
   * Ends the connection and opens it again, which resolves the address again. Does nothing without a connection,
   * because a new one is already being opened.
   */
  renew(): void {
    this.#isRenewing = this.#client !== undefined;
    this.#client?.disconnect();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#connecting?.disconnect();
    this.#client?.disconnect();
  }

  async #open(): Promise<void> {
    const { address, answerMs } = this.#options;
    const servers = serversOf(address);
    const client = subscriberClient(address, { server: this.#attempts % servers.length, answerMs });
    this.#attempts += 1;
    this.#connecting = client;
    // The connection's end shows the error.
    client.on('error', () => undefined);
    client.on('message', (channel: string, message: string) => this.#listeners.get(channel)?.(message));
    await connect(client);
    client.once('end', () => this.#onLost());
    this.#client = client;
    const channels = [...this.#listeners.keys()];
    if (channels.length > 0) await client.subscribe(...channels);
    this.#attempts = 0;
    if (this.#isLost) this.#options.log.info({}, 'this node receives messages of other nodes again');
    this.#isLost = false;
    this.#watch(client);
  }

  #onLost(): void {
    this.#client = undefined;
    this.#timer?.cancel();
    if (this.#isClosed) return;
    if (!this.#isRenewing) this.#reportLost();
    this.#isRenewing = false;
    this.#openLater();
  }

  #reportLost(): void {
    if (!this.#isLost)
      this.#options.log.warn({}, 'this node receives no messages of other nodes: it connects to Redis again');
    this.#isLost = true;
  }

  #openLater(): void {
    if (this.#isClosed) return;
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(redisRetryDelayMs(this.#attempts + 1), () => {
      this.#open().catch(() => {
        this.#reportLost();
        if (this.#client === undefined) this.#openLater();
        // The client was connected and could not subscribe. Its end starts a new attempt.
        else this.#client.disconnect();
      });
    });
  }

  /** Pings the server regularly. A reply that takes too long ends the connection. */
  #watch(client: Redis): void {
    const { clock, answerMs } = this.#options;
    this.#timer = clock.after(answerMs, () => {
      void Promise.allSettled([client.ping()]);
      if (this.#client === client) this.#watch(client);
    });
  }
}
