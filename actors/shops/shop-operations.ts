import type { RecipientClass } from '../../policy/recipient-class.ts';
import type { ContentPolicyCode } from '../../policy/refusal.ts';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import type { ChannelCode, Failure, FailureCode, Outcome, SendCode, StatusCode } from '../failure.ts';
import type { MessageStatus } from '../message-status.ts';
import type {
  acceptedMessage,
  message,
  scheduledSend,
  shopBudgets,
} from '../reply-schemas/message-schemas.ts';
import type { CursorPage, PageQuery, ReplyOf } from '../reply-schemas/reply-fields.ts';
import type { channel, group } from '../reply-schemas/shop-schemas.ts';
import type { BatchClass, BatchOperations } from './batch-operations.ts';
import type { IdempotentReply } from './idempotent-reply.ts';
import type { DraftContent } from './message-content.ts';

/** The ids of a shop and its tenant. */
export interface ShopReference {
  readonly tenantId: string;
  readonly shopId: string;
}

/** docs/contract.md, Channel connection state. `channelConfigId` is null before the first connect. */
export type ChannelView = ReplyOf<typeof channel>;

/** A message or status post as the API shows it (docs/contract.md, Message record). */
export type MessageView = ReplyOf<typeof message>;

/** An accepted send, as the API shows it. */
export type AcceptedReply = ReplyOf<typeof acceptedMessage>;

/** The message that a reply answers. */
export interface AnsweredMessage {
  readonly inboundId: string;
  /** The tenant's id of the person who wrote. */
  readonly toId: string;
}

/** A recipient's index in a batch. */
export interface BatchPlace {
  readonly id: string;
  readonly place: number;
  /** The class that the recipient had when the batch took them. The field keeps its stored name. */
  readonly was: BatchClass;
}

/** A send as the caller requested it, with a valid shape. */
export interface MessageDraft extends DraftContent {
  /** E.164 with plus, or a group id; of a reply also the network's own id of a person. */
  readonly to: string;
  /** For a reply: the message it answers. */
  readonly reply?: AnsweredMessage;
  readonly idempotencyKey: string | undefined;
  /** The call's request id, for the message's record. */
  readonly requestId: string;
  readonly traceparent?: string | undefined;
  /** The id of the scheduled send that is due. Absent if it is made now. */
  readonly scheduledId?: string | undefined;
  /** The batch, and the recipient's index there. Absent if it belongs to none. */
  readonly batch?: BatchPlace | undefined;
}

/** A send that a caller asks for, now or for later. It answers no message. */
export type CallerDraft = Omit<MessageDraft, 'reply' | 'scheduledId' | 'batch'>;

/** The fields of a draft that describe the call. All others are what the caller asks for. */
type CallField = 'idempotencyKey' | 'requestId' | 'traceparent' | 'scheduledId' | 'batch';

/** The parts of a draft that a repeated call must have in common with its original. A new field is one of them. */
export type AskedPart = Exclude<keyof MessageDraft, CallField | keyof DraftContent> | 'content';

/** The reason why a shop stores no send for later. `VALIDATION_ERROR`: its times are impossible. */
export type ScheduleCode = ContentPolicyCode | 'SCHEDULED_LIMIT_REACHED' | 'VALIDATION_ERROR';

/** A send for later as the caller requested it, with a valid shape. Times in milliseconds since the Unix epoch. */
export interface ScheduleRequest extends CallerDraft {
  readonly sendAtMs: number;
  /** The last time at which it may be sent. If undefined, an hour after its time. */
  readonly notAfterMs: number | undefined;
}

export interface ScheduledEnd {
  readonly status: 'accepted' | 'refused' | 'cancelled';
  readonly messageId?: string;
  /** The code of the refusal if it became no message. */
  readonly code?: FailureCode;
}

/** A scheduled send as the API shows it. */
export type ScheduledView = ReplyOf<typeof scheduledSend>;

/** A status post as the caller requested it, with a valid shape. */
export interface StatusDraft
  extends Pick<MessageDraft, 'mediaUrl' | 'idempotencyKey' | 'requestId' | 'traceparent'> {
  readonly caption: string | undefined;
  readonly mediaType: 'image' | 'video';
}

/** Selects messages of a queue: those that match all given fields. */
export interface QueueFilter {
  readonly idempotencyKeyPrefix: string | undefined;
  /** E.164 with plus, or a group id. */
  readonly to: string | undefined;
  readonly acceptedBeforeMs: number | undefined;
}

/**
 * The shop's remaining limits, as the API shows them. `usage` is the present count; a verdict's `usage` includes its
 * own send.
 */
export interface ShopPolicyView extends ReplyOf<typeof shopBudgets> {
  /** The result of a send to the given recipient now. Undefined if no recipient was given. */
  readonly forecast: SendForecast | undefined;
}

/** The result that a send would have now. */
export interface SendForecast {
  readonly recipientClass: RecipientClass;
  /** The reason for a refusal. Undefined if it would be accepted. */
  readonly failure: Failure | undefined;
}

/** A group as the API shows it. */
export type GroupView = ReplyOf<typeof group>;

/** The reason why a caller gets no code to type. */
export type PairingRefusal = 'MSGAPP_ALREADY_LINKED' | 'PAIRING_CODE_REFUSED' | 'PAIRING_RATE_LIMITED';

/** A caller that waits for an actor's answer, and may disconnect meanwhile. */
export interface WaitingCaller {
  readonly isGone: boolean;
  /** Calls back once, when the caller disconnects; at once if it has. The returned function cancels that. */
  onGone(callback: () => void): () => void;
}

/** The outcome of an operation on a shop. A shop that does not exist is a failure of each. */
export type ShopOutcome<Value, Code extends FailureCode = never> = Outcome<Value, 'SHOP_NOT_FOUND' | Code>;

/** The API's operations on a shop, on the node that owns its shard. Rejects only with `RuntimeFailure`. */
export interface ShopOperations extends BatchOperations<ShopReference> {
  channel(shop: ShopReference): Promise<ShopOutcome<ChannelView>>;
  /**
   * Starts or resumes the connection. Waits up to 10 s for a QR code or the connection, while its caller is connected.
   * After that it returns `starting`.
   */
  connect(shop: ShopReference, caller?: WaitingCaller): Promise<ShopOutcome<ChannelView>>;
  /**
   * Like `connect`, but returns a code to type on the phone of that number (E.164 with plus). A repeated call for the
   * number returns its code as long as that is valid.
   */
  requestPairingCode(
    shop: ShopReference,
    phone: string,
    caller?: WaitingCaller,
  ): Promise<ShopOutcome<ChannelView, PairingRefusal>>;
  /** Returns the channel as it is. The call fails before the first `connect`. */
  pollConnection(shop: ShopReference): Promise<ShopOutcome<ChannelView, 'CHANNEL_NOT_STARTED'>>;
  disconnect(shop: ShopReference): Promise<ShopOutcome<ChannelView, 'CHANNEL_NEVER_CONFIGURED'>>;
  /** Decides in this order: replay → policy → availability → commit. */
  send(
    shop: ShopReference,
    draft: MessageDraft,
  ): MaybePromise<ShopOutcome<IdempotentReply<AcceptedReply>, SendCode>>;
  /** Returns messages, newest first. */
  listMessages(
    shop: ShopReference,
    query: PageQuery & { readonly status: MessageStatus | undefined },
  ): Promise<ShopOutcome<CursorPage<MessageView>>>;
  /** Returns a message. One of another tenant is not found. */
  message(tenantId: string, messageId: string): MaybePromise<Outcome<MessageView, 'MESSAGE_NOT_FOUND'>>;
  /**
   * Cancels a message or status that is not being sent, and returns its capacity to the number's windows. A repeated
   * call returns the same. Rejects with `OUTCOME_UNKNOWN` if the pool does not answer.
   */
  cancel(
    tenantId: string,
    messageId: string,
  ): Promise<Outcome<MessageView, 'MESSAGE_NOT_FOUND' | 'NOT_CANCELLABLE'>>;
  /** Cancels all matching messages; returns how many ended. */
  cancelQueue(shop: ShopReference, filter: QueueFilter): Promise<ShopOutcome<{ readonly cancelled: number }>>;
  /** Stores a send for later. */
  schedule(
    shop: ShopReference,
    draft: ScheduleRequest,
  ): Promise<ShopOutcome<IdempotentReply<ScheduledView>, ScheduleCode>>;
  /** Returns waiting sends, newest first. */
  listScheduled(shop: ShopReference, query: PageQuery): Promise<ShopOutcome<CursorPage<ScheduledView>>>;
  /** Returns a scheduled send, also one that has ended. */
  scheduled(
    shop: ShopReference,
    scheduledId: string,
  ): Promise<ShopOutcome<ScheduledView, 'SCHEDULED_NOT_FOUND'>>;
  /** Cancels a waiting send. `NOT_CANCELLABLE`: it has ended otherwise. */
  unschedule(
    shop: ShopReference,
    scheduledId: string,
  ): Promise<ShopOutcome<ScheduledView, 'SCHEDULED_NOT_FOUND' | 'NOT_CANCELLABLE'>>;
  /** Decides in this order: replay → policy → availability → commit. */
  postStatus(
    shop: ShopReference,
    draft: StatusDraft,
  ): Promise<ShopOutcome<IdempotentReply<Omit<AcceptedReply, 'policy'>>, StatusCode>>;
  /**
   * Returns the shop's remaining limits. With `recipient` (E.164 with plus, or a group id) also the result for a
   * message with new content. Counts nothing, and does not ask the pool. Asks the chat network only for a group that
   * the session does not know.
   */
  policy(shop: ShopReference, recipient: string | undefined): Promise<ShopOutcome<ShopPolicyView>>;
  /** Asks an open session for its groups, and returns those that it then knows. */
  groups(shop: ShopReference): Promise<ShopOutcome<readonly GroupView[], ChannelCode>>;
}
