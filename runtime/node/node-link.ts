import type { ArmedTimer, Clock } from '../clock.ts';
import type { Engine } from '../engine.ts';
import type { Logger } from '../logger.ts';
import type { RuntimeCounters } from '../observer.ts';
import type { OwnershipView, ShardOwner } from '../ownership/ownership-view.ts';
import { outcomeUnknownFailure, RuntimeFailure, type RuntimeFailureCode } from '../runtime-failure.ts';
import type { TextCipher } from '../text-cipher.ts';
import { AskedOnce } from './asked-once.ts';

/** Sends requests to the owner of a shard, or to a node by its id. A call sends its request at most once. */
export interface NodeLink {
  /**
   * Runs a payload through the handler of a shard's owner, or of the node with that id, which may be this one. Rejects
   * with `SHARD_NOT_OWNED` if there is no such node, and with `STORE_UNAVAILABLE` if Redis does not carry the request.
   * Rejects with `DEADLINE_EXCEEDED` if no reply came in time: the handler may have run. Other rejections are the
   * handler's own, or `OUTCOME_UNKNOWN`.
   */
  call(target: number | string, payload: string, timeoutMs: number): Promise<string>;
  /**
   * Sets the function that answers calls. If it rejects with a `RuntimeFailure`, the caller gets that. For any other
   * error a caller on another node gets `OUTCOME_UNKNOWN`.
   */
  serve(handler: (payload: string) => Promise<string>): void;
  /** The owner of a shard, if this node knows one. */
  ownerOf(shard: number): ShardOwner | undefined;
}

export interface RedisLinkOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counters: RuntimeCounters;
  readonly view: OwnershipView;
  readonly nodeId: string;
  /** Seals the messages between nodes. */
  readonly cipher: TextCipher;
  /** Called if a request did not find the owner that the view named. The records should be read again. */
  readonly onMissed: () => void;
}

/** A request is identified by its id, unique in the sender's life, and the incarnations of sender and receiver. */
interface Question {
  readonly id: string;
  readonly from: string;
  readonly to: string;
}

interface PendingCall {
  readonly question: Question;
  readonly resolve: (answer: string) => void;
  readonly reject: (error: Error) => void;
  readonly timer: ArmedTimer;
}

/**
 * The link over Redis' channels. Each incarnation has its own, so a message to a process that ended reaches no other. A
 * message has a line as its header, and then a sealed text. The header is `ask id from` before the payload, or
 * `reply id` before the answer or the failure.
 *
 * Anyone who may publish and subscribe there learns no text, and changes none. The verb, the request's id and both
 * incarnations are sealed with each text. So a reply counts only for its own request, and a request only at its own
 * node. A text that does not open is dropped without a reply, because the true message may still arrive. A request that
 * was received before is dropped too. An attacker can still block messages: the caller then meets its deadline.
 *
 * The channel's name contains the version of the message format. A node with another format subscribes to another name.
 * A request to it is refused with `SHARD_NOT_OWNED`, and nothing is done. In a cluster, which does not count
 * subscribers, it ends with `DEADLINE_EXCEEDED` instead. A new format needs a new name.
 */
export class RedisLink implements NodeLink {
  readonly #options: RedisLinkOptions;
  readonly #pending = new Map<string, PendingCall>();
  readonly #askedOnce = new AskedOnce();
  #handler: ((payload: string) => Promise<string>) | undefined;
  /** The names that this node listens under, the newest last. */
  #names: readonly string[] = [];
  #incarnation = '';
  #lastId = 0;

  constructor(options: RedisLinkOptions) {
    this.#options = options;
  }

  /**
   * Listens under a new name, and under the one before, which other nodes may still use. Leaves each earlier name where
   * no reply is awaited.
   */
  async listen(incarnation: string): Promise<void> {
    const { engine } = this.#options;
    await engine.subscribe(channelOf(incarnation), (message) => this.#receive(incarnation, message));
    this.#incarnation = incarnation;
    const names = [...this.#names.filter((name) => name !== incarnation), incarnation];
    const awaited = new Set([...this.#pending.values()].map(({ question }) => question.from));
    const unawaited = names.slice(0, -2).filter((name) => !awaited.has(name));
    for (const name of unawaited) engine.unsubscribe(channelOf(name));
    this.#names = names.filter((name) => !unawaited.includes(name));
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
      throw new RuntimeFailure('SHARD_NOT_OWNED', `no node is known for ${target}`, 1);
    }
    return await this.#ask(incarnation, payload, timeoutMs);
  }

  /** Rejects all calls without an answer. Their requests may have been carried out. */
  close(): void {
    for (const [id, call] of this.#pending) {
      this.#pending.delete(id);
      call.timer.cancel();
      call.reject(outcomeUnknownFailure('this node stopped before the answer came'));
    }
  }

  #ask(incarnation: string, payload: string, timeoutMs: number): Promise<string> {
    const { engine, clock, counters, onMissed } = this.#options;
    this.#lastId += 1;
    const id = String(this.#lastId);
    const question = { id, from: this.#incarnation, to: incarnation };
    counters.linkCalls += 1;
    return new Promise((resolve, reject) => {
      const timer = clock.after(timeoutMs, () => {
        if (!this.#pending.delete(id)) return;
        onMissed();
        reject(new RuntimeFailure('DEADLINE_EXCEEDED', `the owner did not answer within ${timeoutMs} ms`, 1));
      });
      this.#pending.set(id, { question, resolve, reject, timer });
      engine
        .publish(
          channelOf(incarnation),
          `ask ${id} ${question.from}\n${this.#seal('ask', question, payload)}`,
        )
        .then(
          (listeners) => {
            if (listeners !== 0) return;
            onMissed();
            this.#fail(id, new RuntimeFailure('SHARD_NOT_OWNED', 'the owner is gone', 1));
          },
          (error: Error) => this.#fail(id, error),
        );
    });
  }

  #fail(id: string, error: Error): void {
    this.#takePending(id)?.reject(error);
  }

  /** Removes the call with that id from those under way, and returns it. */
  #takePending(id: string): PendingCall | undefined {
    const call = this.#pending.get(id);
    this.#pending.delete(id);
    call?.timer.cancel();
    return call;
  }

  #receive(incarnation: string, message: string): void {
    const [[verb, id = '', fromIncarnation = ''], sealedText] = firstLine(message);
    if (verb === 'ask') this.#onQuestion({ id, from: fromIncarnation, to: incarnation }, sealedText);
    else this.#onReply(id, sealedText);
  }

  #onQuestion(question: Question, sealedText: string): void {
    const payload = this.#open('ask', question, sealedText);
    if (payload === undefined) return;
    if (this.#askedOnce.isFirst(question.from, Number(question.id))) void this.#answer(question, payload);
    else this.#options.counters.linkRefused += 1;
  }

  #onReply(id: string, sealedText: string): void {
    const question = this.#pending.get(id)?.question;
    if (question === undefined) return;
    const reply = this.#open('reply', question, sealedText);
    if (reply === undefined) return;
    const [[verb, code, seconds], text] = firstLine(reply);
    if (verb === 'answer') this.#takePending(id)?.resolve(text);
    else this.#fail(id, new RuntimeFailure(code as RuntimeFailureCode, text, Number(seconds) || undefined));
  }

  async #answer(question: Question, payload: string): Promise<void> {
    const { id, from } = question;
    this.#options.counters.linkServed += 1;
    let reply: string;
    try {
      reply = `answer\n${await this.#handle(payload)}`;
    } catch (error) {
      const failure = this.#failureOf(error);
      reply = `failure ${failure.code} ${failure.retryAfterSeconds ?? 0}\n${failure.message}`;
    }
    const message = `reply ${id}\n${this.#seal('reply', question, reply)}`;
    // An answer that is lost is a deadline for the caller.
    await Promise.allSettled([this.#options.engine.publish(channelOf(from), message)]);
  }

  #seal(verb: Verb, question: Question, text: string): string {
    return this.#options.cipher.seal(useOf(verb, question), text);
  }

  /** Returns the text, or undefined if it was sealed for another request or without the secret. */
  #open(verb: Verb, question: Question, sealedText: string): string | undefined {
    const { cipher, counters } = this.#options;
    try {
      return cipher.open(useOf(verb, question), sealedText);
    } catch {
      counters.linkRefused += 1;
      return undefined;
    }
  }

  /** Returns the failure that the caller gets. Other errors go to this node's log alone. */
  #failureOf(error: unknown): RuntimeFailure {
    if (error instanceof RuntimeFailure) return error;
    this.#options.log.error({ err: error }, 'a request of another node could not be handled');
    return outcomeUnknownFailure('the owner failed');
  }

  async #handle(payload: string): Promise<string> {
    if (this.#handler === undefined)
      throw new RuntimeFailure('SHARD_NOT_OWNED', 'this node does not serve yet', 1);
    return await this.#handler(payload);
  }
}

function channelOf(incarnation: string): string {
  return `{runtime}:link-2:${incarnation}`;
}

type Verb = 'ask' | 'reply';

/** Returns the use that a text is sealed for. */
function useOf(verb: Verb, { id, from, to }: Question): string {
  return `${verb} ${id} ${from} ${to}`;
}

/** Returns the words of the first line, and the rest. */
function firstLine(message: string): readonly [readonly string[], string] {
  const end = message.indexOf('\n');
  return [message.slice(0, end).split(' '), message.slice(end + 1)];
}
