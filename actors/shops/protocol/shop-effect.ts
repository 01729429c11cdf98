import type { BatchStatus, BatchStopReason } from '../../batch-status.ts';
import type { FailureCode } from '../../failure.ts';
import type { MessageReason, MessageStatus } from '../../message-status.ts';
import type { SessionOpening, SessionOrder } from '../../sessions/session-host.ts';
import type { BatchRefusal, RecipientOutcome } from '../batch-operations.ts';
import type { ChannelStateName } from '../machines/channel-context.ts';
import type { PacingStateName } from '../machines/pacing-machine.ts';
import type { ShopReference } from '../shop-operations.ts';
import type { OptOutNotice } from '../state/opt-out-notice.ts';
import type { ShopState } from '../state/shop-state.ts';
import type { PoolReply } from './pool-protocol.ts';

/** The shop that an event is about, with its name for people to read. */
type AnnouncedShop = Pick<ShopState, 'shop' | 'name'>;

/** Requests to shops of the pool, and notices to the shops that they send for. */
export type PoolEffect =
  /** Asks the pool shop to take the message, or to report its state. */
  | {
      readonly type: 'ask_pool';
      readonly messageId: string;
      readonly pool: ShopReference;
      /** True if the pool shop has answered that it took the message. */
      readonly isTaken: boolean;
    }
  | { readonly type: 'find_pool'; readonly messageId: string }
  /** A carried message ended. Its origin is notified, and asks for the state if the notice is lost. */
  | {
      readonly type: 'note_end';
      readonly origin: ShopReference;
      readonly messageId: string;
      readonly answer: PoolReply;
    }
  /** Notifies a shop of an opt-out by a person that this one wrote to for it. */
  | { readonly type: 'report_opt_out'; readonly notice: OptOutNotice };

/** The effects about the number that the shop has connected. */
export type NumberEffect =
  /**
   * Checks that no other shop of the tenant connected the same number (digits only) at the same moment. Notifies
   * operators if another tenant has it.
   */
  | { readonly type: 'confirm_number'; readonly source: AnnouncedShop; readonly phone: string }
  /** The session reconnected with its previous number (digits only), so that number is still in use. */
  | { readonly type: 'note_number'; readonly phone: string }
  /** A shop learned a number of its owner. The tenant's actor stores it for notices if it has none. */
  | { readonly type: 'owner_number'; readonly phone: string };

/** The effects that are only counted, for the metrics of the node. */
export type CountEffect =
  /** A recipient received or read a message, this many milliseconds after it was sent. */
  | { readonly type: 'count_receipt'; readonly kind: 'delivered' | 'read'; readonly afterMs: number }
  /** A scheduled send became a message, or was refused with `code`. */
  | { readonly type: 'count_scheduled'; readonly code: FailureCode | null }
  /** A batch started, stopped by itself or ended. `reason` is the cause of a stop. */
  | {
      readonly type: 'count_batch';
      readonly change: 'started' | BatchStatus;
      readonly reason: BatchStopReason | null;
    }
  /** Recipients of a batch got their result. `code` is the reason, if there is one. */
  | {
      readonly type: 'count_recipients';
      readonly outcome: RecipientOutcome;
      readonly code: FailureCode | BatchRefusal | MessageReason | null;
      readonly count: number;
    };

/** The effects of a shop's turn, carried out once its commit succeeds. */
export type ShopEffect =
  | SessionOrder
  | PoolEffect
  | NumberEffect
  | CountEffect
  | { readonly type: 'open'; readonly opening: SessionOpening }
  | { readonly type: 'close' }
  | { readonly type: 'erase' }
  /** Makes the actor check the message that is now in progress. */
  | { readonly type: 'first_look'; readonly messageId: string }
  /** Makes the actor read a message that no pool shop has taken, to send it itself. */
  | { readonly type: 'requeue'; readonly messageId: string }
  /** Drops from the tenant's people those who wrote last before a day; days since the Unix epoch. */
  | { readonly type: 'forget_people'; readonly oldestDay: number; readonly today: number }
  /** Makes a send that is due. */
  | { readonly type: 'send_scheduled'; readonly scheduledId: string }
  /** Makes the send to one recipient of a batch. */
  | { readonly type: 'send_batched'; readonly batchId: string; readonly place: number }
  /** The session reported its groups: waiting calls are answered. */
  | { readonly type: 'groups_reported' }
  /** Makes the actor read the head of its list, which it needs before the cut. */
  | { readonly type: 'cut_accepted' }
  /** Events of the tenant are stored. */
  | { readonly type: 'announce_events' }
  | {
      readonly type: 'announce_channel';
      readonly source: AnnouncedShop;
      readonly state: ChannelStateName;
    }
  /** The queue paused or resumed: after a rate signal or by an operator. */
  | {
      readonly type: 'announce_pacing';
      readonly source: AnnouncedShop;
      readonly state: PacingStateName;
      readonly heldByOperator: boolean;
      /** The cause of the new pause, or null if there is none. */
      readonly began: 'operator' | 'rate_signal' | null;
    }
  | {
      readonly type: 'announce_message';
      readonly source: AnnouncedShop;
      readonly messageId: string;
      readonly status: MessageStatus;
      readonly reason: MessageReason | null;
      /** Milliseconds since it was accepted; null of a message carried for another shop. */
      readonly ageMs: number | null;
    };
