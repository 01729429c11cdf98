import type { Actors } from '../../../runtime/actors.ts';
import { type Address, shardOf } from '../../../runtime/address.ts';
import { logBackgroundFailure } from '../../../runtime/background-failures.ts';
import { type Clock, sleep } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { LinkTopic } from '../../../runtime/node/link-topics.ts';
import type { Random } from '../../../runtime/random.ts';
import { RuntimeFailure } from '../../../runtime/runtime-failure.ts';
import type { Store } from '../../../runtime/store.ts';
import {
  offerOf,
  type PoolOffer,
  type PoolReplies,
  type PoolReply,
  type PoolRequest,
  receiverOf,
} from '../protocol/pool-protocol.ts';
import type { ShopCommand } from '../protocol/shop-commands.ts';
import type { PoolEffect } from '../protocol/shop-effect.ts';
import type { MessageAtPool } from '../protocol/shop-replies.ts';
import { readWriter } from '../reading/recipient-facts.ts';
import { readMessage } from '../records/message-days.ts';
import type { MessageBody } from '../records/message-record.ts';
import { shopOf } from '../records/shop-keys.ts';
import type { ShopReference } from '../shop-operations.ts';
import { activeShop } from '../state/committed-shop.ts';
import { attributedText } from '../texts/attributed-text.ts';
import type { PoolSessions } from './pool-sessions.ts';

/** Time limit of each request but an offer. */
const ASK_TIMEOUT_MS = 2_000;
/**
 * The search for a pool shop must fit into the two seconds of a forwarded request (docs/contract.md, Codes of the
 * service).
 */
const SEARCH_MS = 1_200;
const OFFER_TIMEOUT_MS = 600;
const TAKE_BACK_TRIES = 30;
const TAKE_BACK_EVERY_MS = 1_000;

export interface PoolClientOptions {
  readonly actors: Actors;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly link: LinkTopic;
  readonly sessions: PoolSessions;
  readonly platformName: string;
}

/**
 * Sends requests of a shop to shops of the pool. Sends replies to a shop from the pool shop that carries its messages.
 */
export class PoolClient {
  readonly #options: PoolClientOptions;

  constructor(options: PoolClientOptions) {
    this.#options = options;
  }

  /**
   * Returns a shop of the pool that would send this now, or undefined if none is found in time. It asks the shops in a
   * random order, which spreads the messages over them.
   */
  async find(offer: PoolOffer): Promise<ShopReference | undefined> {
    const { clock, sessions, random } = this.#options;
    const untilMs = clock.monotonicMs() + SEARCH_MS;
    const poolShops = await sessions.listShops();
    while (poolShops.length > 0) {
      const timeoutMs = Math.min(OFFER_TIMEOUT_MS, untilMs - clock.monotonicMs());
      if (timeoutMs <= 0) return undefined;
      const [pool] = poolShops.splice(Math.floor(random() * poolShops.length), 1);
      if (pool === undefined) return undefined;
      const reply = await this.#ask({ ask: 'offer', pool, offer }, timeoutMs).catch((error: unknown) => {
        logBackgroundFailure(this.#options.log, error, { pool }, 'an offer to a shop of the pool failed');
        return undefined;
      });
      if (reply?.kind === 'willing') return pool;
    }
    return undefined;
  }

  /**
   * Carries out the effects of a turn. The shop's timer retries the ones that fail, but not `note_end`: the origin asks
   * for the end itself.
   */
  perform(effect: PoolEffect, address: Address): void {
    this.#carryOut(effect, address).catch((error: unknown) => {
      const subject =
        effect.type === 'report_opt_out' ? { origin: effect.notice.origin } : { messageId: effect.messageId };
      const fields = { ...shopOf(address), effect: effect.type, ...subject };
      logBackgroundFailure(this.#options.log, error, fields, 'a request between a shop and the pool failed');
    });
  }

  /**
   * Takes back a message of an erased shop. Asks up to 30 times, a second apart, while the pool shop is sending the
   * message or cannot be reached. Resolves also if the last reply is still `taken`. The pool's shard drops the content
   * of such a message as soon as its outcome is known. Rejects at once with a defect, and with a failure of the last
   * request, so that the erasure is repeated.
   */
  async takeBackErased(message: MessageAtPool): Promise<void> {
    for (let triesLeft = TAKE_BACK_TRIES; triesLeft > 0; triesLeft -= 1) {
      const reply = await this.#takeBack(message).catch((error: unknown) => {
        if (triesLeft === 1 || !(error instanceof RuntimeFailure)) throw error;
        return undefined;
      });
      if (reply !== undefined && reply.kind !== 'taken') return;
      await sleep(this.#options.clock, TAKE_BACK_EVERY_MS);
    }
  }

  /** Takes back a message that a caller cancels. Asks once, and returns undefined if the pool shop is not reached. */
  takeBackCancelled(message: MessageAtPool): Promise<PoolReply | undefined> {
    return this.#takeBack(message, { reason: 'CANCELLED' }).catch(() => undefined);
  }

  /** Asks the pool shop once for a message. Logs a failure with the reason of the request, and rejects with it. */
  async #takeBack(
    { messageId, pool, createdAtMs }: MessageAtPool,
    cause: { readonly reason?: 'CANCELLED' } = {},
  ): Promise<PoolReply> {
    try {
      return await this.#ask({ ask: 'withdraw', pool, messageId, createdAtMs, ...cause }, ASK_TIMEOUT_MS);
    } catch (error) {
      const line = 'a request to take a message back from the pool failed';
      logBackgroundFailure(this.#options.log, error, { pool, messageId, ...cause }, line);
      throw error;
    }
  }

  async #carryOut(effect: PoolEffect, address: Address): Promise<void> {
    if (effect.type === 'report_opt_out') {
      const { notice } = effect;
      await this.#ask({ ask: 'opt_out', notice }, ASK_TIMEOUT_MS);
      this.#tell(address, { type: 'pool.opt_out_noted', notice });
      return;
    }
    const { messageId } = effect;
    const shop = shopOf(address);
    if (effect.type === 'note_end') {
      const { origin, answer } = effect;
      await this.#ask({ ask: 'note', pool: shop, origin, messageId, answer }, ASK_TIMEOUT_MS);
      return;
    }
    const pool = effect.type === 'ask_pool' ? effect.pool : null;
    const message = await this.#message(address, messageId);
    if (message === undefined) return;
    const { body, hasOptedOut } = message;
    if (effect.type === 'ask_pool') {
      const { createdAtMs } = body;
      const request = hasOptedOut
        ? ({ ask: 'withdraw', pool: effect.pool, messageId, createdAtMs } as const)
        : ({ ask: 'take', pool: effect.pool, body, known: effect.isTaken } as const);
      const answer = await this.#ask(request, ASK_TIMEOUT_MS);
      this.#tell(address, { type: 'pool.answered', messageId, pool, answer });
    } else if (hasOptedOut) {
      this.#tell(address, { type: 'pool.answered', messageId, pool, answer: this.#takenBack() });
    } else {
      const carrier = await this.find(offerOf(body));
      if (carrier) this.#tell(address, { type: 'pool.found', messageId, pool: carrier });
    }
  }

  /** Returns the message as the pool sends it, and whether its recipient has opted out of this shop since. */
  async #message(
    address: Address,
    messageId: string,
  ): Promise<{ body: MessageBody; hasOptedOut: boolean } | undefined> {
    const { actors, store, platformName } = this.#options;
    const { shard } = address;
    const body = (await readMessage(shard, messageId, store))?.body;
    const state = activeShop(actors, address);
    if (body === undefined || state === undefined) return undefined;
    const { writer } = await readWriter(state, { to: body.to ?? '' }, store);
    const text = attributedText(body.text, { shopName: state.name, platformName });
    return {
      body: { ...body, text, idempotencyKey: null },
      hasOptedOut: writer?.optedOut ?? false,
    };
  }

  #takenBack(): PoolReply {
    const updatedAtMs = this.#options.clock.wallMs();
    return {
      kind: 'ended',
      fate: { status: 'rejected', reason: 'RECIPIENT_OPTED_OUT', updatedAtMs, sentAtMs: null },
    };
  }

  #tell(address: Address, command: ShopCommand): void {
    // A shard that was handed over meanwhile repeats the request from its new node.
    if (this.#options.actors.owns(address.shard)) this.#options.actors.tell(address, command);
  }

  async #ask<Asked extends PoolRequest>(
    request: Asked,
    timeoutMs: number,
  ): Promise<PoolReplies[Asked['ask']]> {
    const { tenantId } = receiverOf(request);
    const text = await this.#options.link.call(shardOf(tenantId), JSON.stringify(request), timeoutMs);
    return JSON.parse(text) as PoolReplies[Asked['ask']];
  }
}
