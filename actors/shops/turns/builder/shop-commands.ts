import type { TenantSettings } from '../../../../policy/tenant-settings.ts';
import type { Lane, RuntimeCommand } from '../../../../runtime/behaviour.ts';
import type { BatchStatus, BatchStopReason } from '../../../batch-status.ts';
import type { FailureCode } from '../../../failure.ts';
import type { InboundMode } from '../../../inbound-mode.ts';
import type { MessageReason, MessageStatus } from '../../../message-status.ts';
import type { ShopEgress } from '../../../sessions/egress-vault.ts';
import type { SendOrder, SessionEvent, SessionOpening } from '../../../sessions/session-host.ts';
import type { BatchAsked, RecipientOutcome, RecipientsAsked } from '../../batch-operations.ts';
import type { ChannelStateName } from '../../machines/channel-context.ts';
import type { PacingStateName } from '../../machines/pacing-machine.ts';
import type {
  MessageDraft,
  QueueFilter,
  ScheduledDraftAsked,
  ShopReference,
  StatusDraft,
} from '../../shop-operations.ts';
import type { MessageBody } from '../../state/message-record.ts';
import type { OptOutNotice } from '../../state/opt-out-notice.ts';
import type { PoolAnswer, PoolOffer } from '../../state/pool-protocol.ts';
import type { ShopState } from '../../state/shop-state.ts';

/** The commands of a shop's actor. */
export type ShopCommand =
  | {
      readonly type: 'send';
      readonly draft: MessageDraft;
      readonly settings: TenantSettings;
      /**
       * The destination if the shop has no session of its own now. `ask` means the pool, with no shop found yet.
       * Undefined means no pool.
       */
      readonly pool: 'ask' | ShopReference | undefined;
      /** True if the session was just waited for, and asked for the message's group. Absent if not yet. */
      readonly groupAsked?: boolean;
    }
  | { readonly type: 'schedule'; readonly draft: ScheduledDraftAsked }
  | { readonly type: 'unschedule'; readonly scheduledId: string }
  | { readonly type: 'create_batch'; readonly asked: BatchAsked }
  | { readonly type: 'add_recipients'; readonly batchId: string; readonly asked: RecipientsAsked }
  | {
      readonly type: 'steer_batch';
      readonly batchId: string;
      readonly order: 'pause' | 'resume' | 'cancel';
    }
  /** End a message of the shop's own that is not being sent. */
  | { readonly type: 'cancel'; readonly messageId: string }
  /** Cancels all matching messages. */
  | { readonly type: 'cancel_queue'; readonly filter: QueueFilter }
  | { readonly type: 'post_status'; readonly draft: StatusDraft; readonly settings: TenantSettings }
  /** `pairWith` has the digits of the number to pair by a code. If absent, a QR code is to be scanned. */
  | { readonly type: 'connect'; readonly pairWith?: string }
  | { readonly type: 'disconnect' }
  /** Operators deactivated the tenant, or activated it again, as in its record. */
  | { readonly type: 'tenant_active'; readonly active: boolean }
  /** Operators changed the tenant's inbound mode, as in its record. */
  | { readonly type: 'tenant_inbound'; readonly inbound: InboundMode }
  /** Operators set or removed the shop's egress. */
  | { readonly type: 'set_egress'; readonly egress: ShopEgress | undefined }
  /** A person's message was marked as read: the person's phone is notified. */
  | { readonly type: 'mark_read'; readonly inboundId: string }
  /** An operator pauses the queue, or resumes it. */
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  /** Sent to a shop of the pool. `open` is true if its tenant is the platform's, so that it may take more messages. */
  | {
      readonly type: 'pool.offer';
      readonly offer: PoolOffer;
      readonly settings: TenantSettings;
      readonly open: boolean;
    }
  | {
      readonly type: 'pool.take';
      readonly body: MessageBody;
      readonly known: boolean;
      readonly settings: TenantSettings;
      readonly open: boolean;
    }
  | {
      readonly type: 'pool.withdraw';
      readonly messageId: string;
      readonly createdAtMs: number;
      /** The reason why its origin takes it back. If absent, the recipient opted out. */
      readonly reason?: 'CANCELLED';
    }
  /** Sent to the shop that owns the message. */
  | { readonly type: 'pool.found'; readonly messageId: string; readonly pool: ShopReference }
  | {
      readonly type: 'pool.answered';
      readonly messageId: string;
      /** The pool shop that replied. Null if none had to be asked. */
      readonly pool: ShopReference | null;
      readonly answer: PoolAnswer;
    }
  /** The actor's own command: a message is in progress, and its record must be read before the session prepares it. */
  | { readonly type: 'first_look'; readonly messageId: string }
  /** The actor's own command: a day has begun, so its list is cut. */
  | { readonly type: 'cut_accepted' }
  /** Sent to a shop that the pool wrote for: a person answered the pool's number with an opt-out. */
  | {
      readonly type: 'pool.opt_out';
      readonly from: string;
      readonly wireId: string;
      readonly atMs: number;
    }
  /** Sent to a shop of the pool: the shop it wrote for has received an opt-out. */
  | { readonly type: 'pool.opt_out_noted'; readonly notice: OptOutNotice }
  /** Another shop of the tenant has connected the same number, and had it first. */
  | { readonly type: 'number_taken'; readonly phone: string; readonly by: string }
  | SessionEvent
  | RuntimeCommand;

/** The lane of each command. A `client` command may be refused if the mailbox is full. */
export const SHOP_LANES: Readonly<Record<ShopCommand['type'], Lane>> = {
  send: 'client',
  post_status: 'client',
  schedule: 'client',
  unschedule: 'client',
  create_batch: 'client',
  add_recipients: 'client',
  steer_batch: 'client',
  cancel: 'client',
  cancel_queue: 'client',
  connect: 'client',
  disconnect: 'control',
  tenant_active: 'control',
  tenant_inbound: 'control',
  set_egress: 'control',
  mark_read: 'client',
  pause: 'control',
  resume: 'control',
  'pool.offer': 'control',
  'pool.take': 'control',
  'pool.withdraw': 'control',
  'pool.found': 'control',
  'pool.answered': 'control',
  'pool.opt_out': 'control',
  'pool.opt_out_noted': 'control',
  first_look: 'control',
  cut_accepted: 'control',
  number_taken: 'control',
  'session.qr': 'control',
  'session.pairing_code': 'control',
  'session.connected': 'control',
  'session.closed': 'control',
  'session.recipient_known': 'control',
  'session.prepared': 'control',
  'session.send_outcome': 'control',
  'session.inbound': 'control',
  'session.receipts': 'control',
  'session.limits': 'control',
  'session.groups': 'control',
  'session.worker_lost': 'control',
  'session.unreachable': 'control',
  'session.reachable': 'control',
  timer: 'control',
};

/** The shop that an event is about, with its name for people to read. */
type AnnouncedShop = Pick<ShopState, 'shop' | 'name'>;

/** The effects of a shop's turn, carried out once its commit succeeds. */
export type ShopEffect =
  | { readonly type: 'open'; readonly opening: SessionOpening }
  | { readonly type: 'close' }
  | { readonly type: 'erase' }
  /** Make the actor check the message that is now in progress. */
  | { readonly type: 'first_look'; readonly messageId: string }
  | { readonly type: 'prepare'; readonly order: SendOrder; readonly traceparent: string | undefined }
  /** Transmits the prepared message, which is stored as `sending`. */
  | { readonly type: 'transmit'; readonly messageId: string }
  /** Recalls the message that is being prepared. */
  | { readonly type: 'recall'; readonly messageId: string }
  /** A transmitted message is not sent once more after a lost connection. */
  | { readonly type: 'do_not_repeat'; readonly messageId: string }
  | { readonly type: 'confirm'; readonly token: string }
  /** Asks the pool shop to take the message, or to report its state. */
  | {
      readonly type: 'relinquish';
      readonly messageId: string;
      readonly pool: ShopReference;
      readonly known: boolean;
    }
  | { readonly type: 'find_pool'; readonly messageId: string }
  /** A carried message ended. Its origin is notified, and asks for the state if the notice is lost. */
  | {
      readonly type: 'note_end';
      readonly origin: ShopReference;
      readonly messageId: string;
      readonly answer: PoolAnswer;
    }
  /** Notify a shop of an opt-out by a person that this one wrote to for it. */
  | { readonly type: 'tell_opt_out'; readonly notice: OptOutNotice }
  /** Notify a person, by number or by the network's own id, that their message was read. */
  | { readonly type: 'mark_read'; readonly from: string; readonly wireId: string }
  /** The inbound data that the session must report. */
  | { readonly type: 'hear_inbound'; readonly inbound: InboundMode }
  | { readonly type: 'refresh_groups' }
  /** Drop from the tenant's people who wrote last before a day; days since the Unix epoch. */
  | { readonly type: 'forget_people'; readonly oldestDay: number; readonly today: number }
  /** Make a send that is due. */
  | { readonly type: 'send_scheduled'; readonly scheduledId: string }
  /** Make the send to one recipient of a batch. */
  | { readonly type: 'send_batched'; readonly batchId: string; readonly place: number }
  /** A recipient received or read a message, this many milliseconds after it was sent. */
  | { readonly type: 'count_receipt'; readonly kind: 'delivered' | 'read'; readonly afterMs: number }
  /** A scheduled send became a message. `code` is the reason if it did not. */
  | { readonly type: 'count_scheduled'; readonly code: FailureCode | null }
  /** A batch started, stopped by itself or ended. `reason` is the cause of a stop. */
  | {
      readonly type: 'count_batch';
      readonly change: 'started' | BatchStatus;
      readonly reason: BatchStopReason | null;
    }
  /** Recipients of a batch got their result. `code` is the reason if no message was sent. */
  | {
      readonly type: 'count_recipients';
      readonly outcome: RecipientOutcome;
      readonly code: string | null;
      readonly count: number;
    }
  /** The session reported its groups: waiting calls are answered. */
  | { readonly type: 'groups_told' }
  /** Make the actor read the head of its list, which it needs before the cut. */
  | { readonly type: 'cut_accepted' }
  /** Events of the tenant are stored. */
  | { readonly type: 'announce_events' }
  /**
   * Check that no other shop of the tenant connected the same number (digits only) at the same moment. Notify operators
   * if another tenant has it.
   */
  | { readonly type: 'confirm_number'; readonly of: AnnouncedShop; readonly phone: string }
  /** The session reconnected with its previous number (digits only), so that number is still in use. */
  | { readonly type: 'note_number'; readonly phone: string }
  /** The number the owner is notified at was learned; the tenant's actor keeps it when it has none. */
  | { readonly type: 'owner_number'; readonly phone: string }
  | { readonly type: 'announce_channel'; readonly of: AnnouncedShop; readonly state: ChannelStateName }
  /** The queue paused or resumed: after a rate signal or by an operator. */
  | {
      readonly type: 'announce_pacing';
      readonly of: AnnouncedShop;
      readonly state: PacingStateName;
      readonly heldByOperator: boolean;
      /** The cause of the new pause, or null if there is none. */
      readonly began: 'operator' | 'rate_signal' | null;
    }
  | {
      readonly type: 'announce_message';
      readonly of: AnnouncedShop;
      readonly messageId: string;
      readonly status: MessageStatus;
      readonly reason: MessageReason | null;
      /** Milliseconds since it was accepted; null of a message carried for another shop. */
      readonly ageMs: number | null;
    };
