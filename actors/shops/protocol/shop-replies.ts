import type { ChannelCode, Failed, Outcome, SendCode, StatusCode } from '../../failure.ts';
import type { BatchCode, RecipientsCode, RefusedRecipient } from '../batch-operations.ts';
import type { IdempotentReply } from '../idempotent-reply.ts';
import type { StoredInbound } from '../records/inbound-records.ts';
import type {
  AcceptedReply,
  PairingRefusal,
  ScheduleCode,
  ScheduledView,
  ShopReference,
} from '../shop-operations.ts';
import type { PooledMessage } from '../state/pooled-message.ts';
import type { PoolOffer, PoolReplies, PoolReply } from './pool-protocol.ts';

/**
 * The reply of a shop's actor to each command that has one. Both the turn that makes a reply and the caller that asks
 * for it are checked against it.
 */
export interface ShopReplies {
  readonly send: SendReply;
  readonly post_status: Outcome<IdempotentReply<Omit<AcceptedReply, 'policy'>>, StatusCode>;
  readonly schedule: Outcome<IdempotentReply<ScheduledView>, ScheduleCode>;
  readonly unschedule: Outcome<ScheduledView, 'SCHEDULED_NOT_FOUND' | 'NOT_CANCELLABLE'>;
  readonly create_batch: Outcome<BatchReply, BatchCode>;
  readonly add_recipients: Outcome<BatchReply, RecipientsCode>;
  readonly steer_batch: Outcome<{ readonly batchId: string }, 'BATCH_NOT_FOUND' | 'BATCH_ENDED'>;
  readonly cancel: Outcome<CancelReply, 'NOT_CANCELLABLE'>;
  readonly cancel_queue: Outcome<CancelReply, never>;
  readonly connect: Outcome<true, PairingRefusal>;
  readonly disconnect: Outcome<true, 'CHANNEL_NEVER_CONFIGURED'>;
  readonly mark_read: Outcome<
    StoredInbound,
    'MESSAGE_NOT_FOUND' | 'MSGAPP_NOT_CONNECTED' | 'MSGAPP_SESSION_LOST'
  >;
  readonly set_egress: Outcome<true, never>;
  readonly pause: Outcome<true, never>;
  readonly resume: Outcome<true, never>;
  readonly 'pool.offer': PoolReplies['offer'];
  readonly 'pool.take': PoolReply;
  readonly 'pool.withdraw': PoolReply;
}

/** The replies that turns make. A due send is made by the shop itself. */
export interface TurnReplies extends Omit<ShopReplies, 'send'> {
  readonly send: DueReply;
}

/**
 * The reply to a send of a batch, or to a scheduled one, also with other codes. If it decides the send, the turn stored
 * it as the result.
 */
export type DueReply = SendReply | Failed;

/** The reply to a send. `ask` says where to ask before the send is repeated. It is absent if the send is decided. */
export type SendReply = Outcome<IdempotentReply<AcceptedReply>, SendCode> | CarrierNeeded | GroupNeeded;

/**
 * A send that a shop of the pool may make, because its own shop cannot. It has the data to find one. If none is free,
 * the failure is the answer.
 */
export interface CarrierNeeded extends Failed<ChannelCode> {
  readonly ask: 'pool';
  readonly offer: PoolOffer;
}

/**
 * A send to a group that no session reported. The caller asks the session for the group once, and sends again. If the
 * session still does not report it, the failure is the answer.
 */
interface GroupNeeded extends Failed<SendCode> {
  readonly ask: 'group';
  readonly groupId: string;
}

/** The reply about a batch: its id, and the refused recipients. */
export interface BatchReply {
  readonly batchId: string;
  readonly isReplayed: boolean;
  readonly differs: boolean;
  readonly refused: readonly RefusedRecipient[];
}

/** The reply to a cancellation: the number of ended messages, and the requests to the pool. */
export interface CancelReply {
  readonly ended: number;
  readonly atPool: readonly MessageAtPool[];
}

/** A message that a shop of the pool is to give back. */
export interface MessageAtPool extends Pick<PooledMessage, 'messageId' | 'createdAtMs'> {
  readonly pool: ShopReference;
}
