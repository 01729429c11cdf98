/**
 * How a shop has a message sent by a shop of the platform's pool, maybe on another node.
 *
 * The origin stores the message with the pool shop it chose, then requests it to `take` the message. It repeats the
 * request until it learns the message's end, for a day at most. Every request may arrive twice, late, or from a node
 * that is no longer the owner. The pool shop decides once. Its decision is stored in its shard under the message's id,
 * and outlives any request about it. The message is therefore sent once at most. When the message has ended, its
 * content is removed there and only its final state is kept. The pool shop also reports the end at once. If that report
 * is lost, the reply to the next request has it.
 */
import type { PersonClass } from '../../../policy/recipient-class.ts';
import { isFinal } from '../../message-status.ts';
import type { CarriedRecord } from '../records/carried-message.ts';
import type { MessageBody, MessageState } from '../records/message-record.ts';
import type { ShopReference } from '../shop-operations.ts';
import type { OptOutNotice } from '../state/opt-out-notice.ts';

/** Recipients the pool writes to; never strangers, groups or statuses (docs/contract.md, The pool). */
export type PooledClass = Exclude<PersonClass, 'cold'>;

/** The facts for the pool shop's policy. */
export interface PoolOffer {
  readonly to: string;
  /** The text with the last line that names the shop. */
  readonly text: string;
  readonly mediaUrl: string | null;
  /** The recipient's class at the origin. */
  readonly recipientClass: PooledClass;
  /** The message, once there is one: a shop that refused it before is not willing. */
  readonly messageId: string | null;
}

/** Returns the offer for a message whose text already ends with that line. */
export function offerOf({ id, to, text, mediaUrl, policy }: MessageBody): PoolOffer {
  const recipientClass = policy?.recipientClass === 'known' ? 'known' : 'declared';
  return { to: to ?? '', text: text ?? '', mediaUrl, recipientClass, messageId: id };
}

/**
 * A request of one shop to another, in its transport form. The other node may run another version, so fields keep their
 * names.
 */
export type PoolRequest =
  /** Would it go now? If so, the pool shop counts it for some seconds, and stores nothing. */
  | { readonly ask: 'offer'; readonly pool: ShopReference; readonly offer: PoolOffer }
  /**
   * Requests to send the message, or to report its state. If `known`, it was taken before. A pool shop without a record
   * of it then must not send it again.
   */
  | {
      readonly ask: 'take';
      readonly pool: ShopReference;
      /** The origin's own body, but its text ends with the line, and it has no idempotency key. */
      readonly body: MessageBody;
      readonly known: boolean;
    }
  /** Do not send this, unless it is on the wire already. */
  | {
      readonly ask: 'withdraw';
      readonly pool: ShopReference;
      readonly messageId: string;
      readonly createdAtMs: number;
      /** The reason. If absent, the recipient opted out. */
      readonly reason?: 'CANCELLED';
    }
  /** The report of an end, from the pool shop to the origin. */
  | {
      readonly ask: 'note';
      readonly pool: ShopReference;
      readonly origin: ShopReference;
      readonly messageId: string;
      readonly answer: PoolReply;
    }
  /** A person opted out to whom the pool shop lately wrote for the origin. */
  | { readonly ask: 'opt_out'; readonly notice: OptOutNotice };

/** Returns the shop to which the request goes. */
export function receiverOf(request: PoolRequest): ShopReference {
  if (request.ask === 'opt_out') return request.notice.origin;
  return request.ask === 'note' ? request.origin : request.pool;
}

/** The reply to each request. */
export interface PoolReplies {
  /** `willing`: the shop could send the message now, and counts it for some seconds. */
  readonly offer: { readonly kind: 'willing' | 'refused' };
  readonly take: PoolReply;
  readonly withdraw: PoolReply;
  readonly note: { readonly kind: 'noted' };
  readonly opt_out: { readonly kind: 'noted' };
}

/** The state of a message at its pool shop. */
export type PoolReply =
  /** The shop never sends it. */
  | { readonly kind: 'refused' }
  /** The message waits or is being sent. */
  | { readonly kind: 'taken' }
  /** `fate` is the name that nodes of 0.2.0 send and read. */
  | { readonly kind: 'ended'; readonly fate: MessageState }
  /** The pool shop took it before, and its record is lost. */
  | { readonly kind: 'lost' };

/** Returns the reply by a record alone: an erased pool shop leaves the ends of its messages. */
export function replyFromRecord({ state, isRefused }: CarriedRecord): PoolReply {
  if (state !== undefined && isFinal(state.status)) return { kind: 'ended', fate: state };
  return isRefused ? { kind: 'refused' } : { kind: 'taken' };
}
