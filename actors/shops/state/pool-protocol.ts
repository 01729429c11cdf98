/**
 * How a shop has a message sent by a shop of the platform's pool, maybe on another node.
 *
 * The origin stores the message with the pool shop it chose, then asks that one to `take` it. It asks again until it
 * learns the message's end. Every ask may come twice, late, or from a node that is no longer the owner. The pool shop
 * decides once. Its decision is stored in its shard under the message's id, and outlives any ask for it. The message is
 * therefore sent once at most. When the message has ended there its content goes, and only its final state is kept. The
 * pool shop also reports the end at once; when that report is lost, the next ask learns it.
 */
import type { PersonClass } from '../../../policy/recipient-class.ts';
import type { ShopReference } from '../shop-operations.ts';
import type { MessageBody, MessageState } from './message-record.ts';
import type { OptOutNotice } from './opt-out-notice.ts';

/** Recipients the pool writes to; never strangers, groups or statuses (docs/contract.md, The pool). */
export type PooledClass = Exclude<PersonClass, 'cold'>;

/** The facts for the pool shop's policy. */
export interface PoolOffer {
  readonly to: string;
  /** With the line that names the shop. */
  readonly text: string;
  readonly mediaUrl: string | null;
  /** The recipient's class at the origin. */
  readonly recipientClass: PooledClass;
  /** The message, once there is one: a shop that refused it before is not willing. */
  readonly messageId: string | null;
}

/** Returns the offer for a message whose text already ends with the line. */
export function offerOf({ id, to, text, mediaUrl, policy }: MessageBody): PoolOffer {
  const recipientClass = policy?.recipientClass === 'known' ? 'known' : 'declared';
  return { to: to ?? '', text: text ?? '', mediaUrl, recipientClass, messageId: id };
}

/** A question of one shop to another, as it travels. */
export type PoolAsk =
  /** Would it go now? Changes nothing. */
  | { readonly ask: 'offer'; readonly pool: ShopReference; readonly offer: PoolOffer }
  /**
   * Send this, or report its state. `known`: it was taken before, so a pool shop without a record of it must not send
   * it again.
   */
  | {
      readonly ask: 'take';
      readonly pool: ShopReference;
      /** The origin's own, but for its text, which ends with the line. */
      readonly body: MessageBody;
      readonly known: boolean;
    }
  /** Do not send this, unless it is on the wire already. */
  | {
      readonly ask: 'withdraw';
      readonly pool: ShopReference;
      readonly messageId: string;
      readonly createdAtMs: number;
      /** Why; absent: the recipient opted out. */
      readonly reason?: 'CANCELLED';
    }
  /** The report of an end, from the pool shop to the origin. */
  | {
      readonly ask: 'note';
      readonly pool: ShopReference;
      readonly origin: ShopReference;
      readonly messageId: string;
      readonly answer: PoolAnswer;
    }
  /** Somebody opted out who the pool shop lately wrote to for the origin. */
  | { readonly ask: 'opt_out'; readonly notice: OptOutNotice };

/** The shop that is asked. */
export function askedOf(ask: PoolAsk): ShopReference {
  if (ask.ask === 'opt_out') return ask.notice.origin;
  return ask.ask === 'note' ? ask.origin : ask.pool;
}

/** The answer to a question. */
export type PoolAnswer =
  /** It would go now. */
  | { readonly kind: 'willing' }
  /** Not by this shop: not now when offered, never any more when it was to be taken. */
  | { readonly kind: 'refused' }
  /** It waits or is being sent. */
  | { readonly kind: 'taken' }
  /** `fate` is the name that nodes of former versions send and read. */
  | { readonly kind: 'ended'; readonly fate: MessageState }
  /** Taken once, and nothing is known of it now. */
  | { readonly kind: 'lost' }
  /** To a `note` or an `opt_out`: heard. */
  | { readonly kind: 'noted' };
