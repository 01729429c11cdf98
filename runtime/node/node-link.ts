import type { ArmedTimer, Clock } from '../clock.ts';
import type { Engine } from '../engine.ts';
import type { Logger } from '../logger.ts';
import type { RuntimeCounters } from '../observer.ts';
import type { OwnershipView, ShardOwner } from '../ownership/ownership-view.ts';
import { RuntimeFailure, type RuntimeFailureCode } from '../runtime-failure.ts';

/** How a node has something done by the node that owns a shard: what it asks is forwarded once at most. */
export interface NodeLink {
  /**
   * Runs a payload through the handler of a shard's owner, or of the node with that id; on this node when that is it.
   * Rejects with `SHARD_NOT_OWNED` when there is no such node, `DEADLINE_EXCEEDED` when it did not answer in time
   * (it may have happened), `STORE_UNAVAILABLE` when Redis does not carry it, and what the handler rejected with.
   */
  call(target: number | string, payload: string, timeoutMs: number): Promise<string>;
  /**
   * Names who answers calls. A `RuntimeFailure` it rejects with reaches the caller; any other error as
   * `DEADLINE_EXCEEDED`.
   */
  serve(handler: (payload: string) => Promise<string>): void;
  /** Who owns a shard, as far as this node has heard. */
  ownerOf(shard: number): ShardOwner | undefined;
}

/** The parts of the node that the link uses. */
export interface RedisLinkOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counters: RuntimeCounters;
  readonly view: OwnershipView;
  readonly nodeId: string;
  /** A call did not find the owner that the view named: look again. */
  readonly onMissed: () => void;
}

interface PendingCall {
  readonly resolve: (answer: string) => void;
  readonly reject: (failure: Error) => void;
  readonly timer: ArmedTimer;
}

/**
 * The link over Redis's channels, one for each incarnation, so that what is meant for a process that is gone reaches
 * nobody. A message is a line of words and then the payload: `ask id from`, `answer id`, `failure id code seconds`.
 */
export class RedisLink implements NodeLink {
  readonly #options: RedisLinkOptions;
  readonly #pending = new Map<string, PendingCall>();
  #handler: ((payload: string) => Promise<string>) | undefined;
  #incarnation = '';
  #lastId = 0;

  constructor(options: RedisLinkOptions) {
    this.#options = options;
  }

  /** Listens under a new name; what was asked under the old one is still answered there. */
  async listen(incarnation: string): Promise<void> {
    await this.#options.engine.subscribe(channelOf(incarnation), (message) => this.#receive(message));
    this.#incarnation = incarnation;
  }

  serve(handler: (payload: string) => Promise<string>): void {
    this.#handler = handler;
  }

  ownerOf(shard: number): ShardOwner | undefined {
    return this.#options.view.ownerOf(shard);
  }

  async call(target: number | string, payload: string, timeoutMs: number): Promise<string> {
    const { view, nodeId } = this.#options;
    const incarnation =
      typeof target === 'number' ? view.ownerOf(target)?.incarnation : view.incarnationOf(target);
    if (incarnation === this.#incarnation || target === nodeId) return await this.#handle(payload);
    if (incarnation === undefined) {
      this.#options.onMissed();
      throw new RuntimeFailure('SHARD_NOT_OWNED', `No node is known for ${target}`, 1);
    }
    return await this.#ask(incarnation, payload, timeoutMs);
  }

  /** Rejects all calls under way; what they asked for may have happened. */
  close(): void {
    for (const [id, call] of this.#pending) {
      this.#pending.delete(id);
      call.timer.cancel();
      call.reject(new RuntimeFailure('OUTCOME_UNKNOWN', 'This node stopped before the answer came', 1));
    }
  }

  #ask(incarnation: string, payload: string, timeoutMs: number): Promise<string> {
    const { engine, clock, counters, onMissed } = this.#options;
    this.#lastId += 1;
    const id = String(this.#lastId);
    counters.linkCalls += 1;
    return new Promise((resolve, reject) => {
      const timer = clock.after(timeoutMs, () => {
        if (!this.#pending.delete(id)) return;
        onMissed();
        reject(new RuntimeFailure('DEADLINE_EXCEEDED', `The owner did not answer within ${timeoutMs} ms`, 1));
      });
      this.#pending.set(id, { resolve, reject, timer });
      engine.publish(channelOf(incarnation), `ask ${id} ${this.#incarnation}\n${payload}`).then(
        (listeners) => {
          if (listeners !== 0) return;
          onMissed();
          this.#fail(id, new RuntimeFailure('SHARD_NOT_OWNED', 'The owner is gone', 1));
        },
        (error: Error) => this.#fail(id, error),
      );
    });
  }

  #fail(id: string, failure: Error): void {
    const call = this.#pending.get(id);
    if (call === undefined) return;
    this.#pending.delete(id);
    call.timer.cancel();
    call.reject(failure);
  }

  #receive(message: string): void {
    const end = message.indexOf('\n');
    const [verb, id = '', ...words] = message.slice(0, end).split(' ');
    const payload = message.slice(end + 1);
    if (verb === 'ask') {
      void this.#answer(id, words[0] ?? '', payload);
    } else if (verb === 'failure') {
      const seconds = Number(words[1]);
      this.#fail(
        id,
        new RuntimeFailure(words[0] as RuntimeFailureCode, payload, seconds > 0 ? seconds : undefined),
      );
    } else {
      const call = this.#pending.get(id);
      if (call === undefined) return;
      this.#pending.delete(id);
      call.timer.cancel();
      call.resolve(payload);
    }
  }

  async #answer(id: string, from: string, payload: string): Promise<void> {
    this.#options.counters.linkServed += 1;
    let message: string;
    try {
      message = `answer ${id}\n${await this.#handle(payload)}`;
    } catch (error) {
      const failure = this.#failureOf(error);
      message = `failure ${id} ${failure.code} ${failure.retryAfterSeconds ?? 0}\n${failure.message}`;
    }
    // An answer that is lost is a deadline for the caller.
    await Promise.allSettled([this.#options.engine.publish(channelOf(from), message)]);
  }

  /** The failure that the caller is told. Other errors go to this node's log alone. */
  #failureOf(error: unknown): RuntimeFailure {
    if (error instanceof RuntimeFailure) return error;
    this.#options.log.error({ err: error }, 'A request of another node could not be handled');
    return new RuntimeFailure('DEADLINE_EXCEEDED', 'The owner failed');
  }

  async #handle(payload: string): Promise<string> {
    if (this.#handler === undefined) throw new RuntimeFailure('STOPPING', 'This node does not serve yet', 1);
    return await this.#handler(payload);
  }
}

function channelOf(incarnation: string): string {
  return `{runtime}:node:${incarnation}`;
}
