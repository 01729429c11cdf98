import type { TenantSettings } from '../../../policy/tenant-settings.ts';
import type { Lane, RuntimeCommand } from '../../../runtime/behaviour.ts';
import type { InboundMode } from '../../inbound-mode.ts';
import type { ShopEgress } from '../../sessions/egress-vault.ts';
import type { SessionEvent } from '../../sessions/session-events.ts';
import type { BatchRequest, RecipientsRequest } from '../batch-operations.ts';
import type { MessageBody } from '../records/message-record.ts';
import type {
  MessageDraft,
  QueueFilter,
  ScheduleRequest,
  ShopReference,
  StatusDraft,
} from '../shop-operations.ts';
import type { OptOutNotice } from '../state/opt-out-notice.ts';
import type { PoolOffer, PoolReply } from './pool-protocol.ts';

/**
 * The commands of a shop's actor. Dead letters store those of the lane `client`, a week by default. So their fields
 * keep their names.
 */
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
  | { readonly type: 'schedule'; readonly draft: ScheduleRequest }
  | { readonly type: 'unschedule'; readonly scheduledId: string }
  | { readonly type: 'create_batch'; readonly asked: BatchRequest }
  | { readonly type: 'add_recipients'; readonly batchId: string; readonly asked: RecipientsRequest }
  | {
      readonly type: 'steer_batch';
      readonly batchId: string;
      readonly order: 'pause' | 'resume' | 'cancel';
    }
  /** Ends a message of the shop's own that is not being sent. */
  | { readonly type: 'cancel'; readonly messageId: string }
  /** Cancels all matching messages. */
  | { readonly type: 'cancel_queue'; readonly filter: QueueFilter }
  | { readonly type: 'post_status'; readonly draft: StatusDraft; readonly settings: TenantSettings }
  /** `pairWith` has the digits of the number to pair by a code. If absent, a QR code is to be scanned. */
  | { readonly type: 'connect'; readonly pairWith?: string }
  | { readonly type: 'disconnect' }
  /** Operators deactivated the tenant, or activated it again, as in its record. */
  | { readonly type: 'tenant_active'; readonly isActive: boolean }
  /** Operators changed the tenant's inbound mode, as in its record. */
  | { readonly type: 'tenant_inbound'; readonly inbound: InboundMode }
  /** Operators set or removed the shop's egress. */
  | { readonly type: 'set_egress'; readonly egress: ShopEgress | undefined }
  /** Marks a person's message as read, and notifies the person's phone. */
  | { readonly type: 'mark_read'; readonly inboundId: string }
  /** An operator pauses the queue, or resumes it. */
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  /** Sent to a shop of the pool, to learn if it would take a message. */
  | {
      readonly type: 'pool.offer';
      readonly offer: PoolOffer;
      readonly settings: TenantSettings;
      /** True if its tenant is the platform's, active and not deleted. Only then it may take more messages. */
      readonly isPoolOpen: boolean;
    }
  | {
      readonly type: 'pool.take';
      readonly body: MessageBody;
      /** True if the shop has replied that it took the message. Without a record of it, the message is lost. */
      readonly isTaken: boolean;
      readonly settings: TenantSettings;
      /** True if its tenant is the platform's, active and not deleted. Only then it may take more messages. */
      readonly isPoolOpen: boolean;
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
      readonly answer: PoolReply;
    }
  /** The actor's own command: a message is in progress, and its record must be read before the session prepares it. */
  | { readonly type: 'first_look'; readonly messageId: string }
  /** The actor's own command: no pool shop has taken a message, and the shop's own session is open. */
  | { readonly type: 'requeue'; readonly messageId: string }
  /** The actor's own command: the daily cut of its list. */
  | { readonly type: 'cut_accepted' }
  /** Sent to a shop that the pool wrote for: a person answered the pool's number with an opt-out. */
  | {
      readonly type: 'pool.opt_out';
      readonly from: string;
      readonly lid?: string;
      readonly wireId: string;
      readonly atMs: number;
    }
  /** Sent to a shop of the pool: the shop it wrote for has received an opt-out. */
  | { readonly type: 'pool.opt_out_noted'; readonly notice: OptOutNotice }
  /** Another shop of the tenant has connected the same number, and had it first. */
  | { readonly type: 'number_taken'; readonly phone: string; readonly by: string }
  | SessionEvent
  | RuntimeCommand;

export type CommandOf<Type extends ShopCommand['type']> = Extract<ShopCommand, { readonly type: Type }>;

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
  requeue: 'control',
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
  timer: 'control',
};
