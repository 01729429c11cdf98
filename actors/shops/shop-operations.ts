import type { RecipientClass } from '../../policy/verdict.ts';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import type { Failure, Outcome } from '../failure.ts';
import type { MessageStatus } from '../message-status.ts';
import type { acceptedMessage, message, scheduledSend, shopBudgets } from '../replies/message-replies.ts';
import type { Shown } from '../replies/reply-fields.ts';
import type { channel, group } from '../replies/shop-replies.ts';
import type { CursorPage } from '../tenants/tenant-operations.ts';
import type { WaitingCaller } from '../waiting-caller.ts';
import type { BatchClass, BatchOperations } from './batch-operations.ts';

/** Which shop of which tenant. */
export interface ShopReference {
  readonly tenantId: string;
  readonly shopId: string;
}

/** docs/contract.md, Channel connection state. `channelConfigId` is null before the first connect. */
export type ChannelView = Shown<typeof channel>;

/** A message or status post as the API shows it (docs/contract.md, Message record). */
export type MessageView = Shown<typeof message>;

/** What a send answers. */
export interface Accepted extends Shown<typeof acceptedMessage> {
  /** `policy` as JSON, where it was written to be stored; not shown. */
  readonly policyJson?: string;
}

/** What a message or a status came to. */
export interface Sent<Answer> {
  /** It is the original of the same idempotency key. */
  readonly replayed: boolean;
  /** That original was asked for with another content. */
  readonly differs: boolean;
  readonly accepted: Answer;
}

/** What a reply answers. */
export interface Reply {
  readonly inboundId: string;
  /** Who wrote, by the tenant's id of them. */
  readonly toId: string;
}

/** A recipient's place in a batch. */
export interface BatchPlace {
  readonly id: string;
  readonly place: number;
  readonly was: BatchClass;
}

/** A send as the caller asked for it, valid in shape. */
export interface MessageDraft {
  /** E.164 with plus, or a group id; of a reply also the network's own id of a person. */
  readonly to: string;
  /** Of a reply: what it answers. */
  readonly reply?: Reply;
  readonly text: string | undefined;
  readonly mediaUrl: string | undefined;
  readonly mediaType: 'image' | 'video' | 'document';
  readonly idempotencyKey: string | undefined;
  /** Of the call, for its record. */
  readonly requestId: string;
  readonly traceparent?: string | undefined;
  /** The scheduled send that falls due; absent: it is made now. */
  readonly scheduledId?: string | undefined;
  /** The batch that it belongs to, and its recipient's place there; absent: none. */
  readonly batch?: BatchPlace | undefined;
}

/** A send for later as the caller asked for it, valid in shape. Times in milliseconds since the Unix epoch. */
export interface ScheduledDraftAsked extends Omit<MessageDraft, 'scheduledId' | 'batch'> {
  readonly sendAtMs: number;
  /** Until when it may be tried; undefined: an hour after its time. */
  readonly notAfterMs: number | undefined;
}

/** How a scheduled send ended. */
export interface ScheduledEnd {
  readonly status: 'accepted' | 'refused' | 'cancelled';
  /** The message that it became. */
  readonly messageId?: string;
  /** Why it became none. */
  readonly code?: string;
}

/** A scheduled send as the API shows it. */
export type ScheduledView = Shown<typeof scheduledSend>;

/** A status post as the caller asked for it, valid in shape. */
export interface StatusDraft {
  readonly caption: string | undefined;
  readonly mediaUrl: string | undefined;
  readonly mediaType: 'image' | 'video';
  readonly idempotencyKey: string | undefined;
  /** Of the call, for its record. */
  readonly requestId: string;
  readonly traceparent?: string | undefined;
}

/** Which messages of a queue are meant: those that match all that is given. */
export interface QueueFilter {
  readonly idempotencyKeyPrefix: string | undefined;
  /** E.164 with plus, or a group id. */
  readonly to: string | undefined;
  readonly acceptedBeforeMs: number | undefined;
}

/** What a shop may still send, as the API shows it. `usage` is what counts now; that of a verdict counts its own send too. */
export interface ShopPolicyView extends Shown<typeof shopBudgets> {
  /** What a send to the recipient that was asked about would come to now; undefined: none was. */
  readonly forecast: SendForecast | undefined;
}

/** What a send would come to now. */
export interface SendForecast {
  readonly recipientClass: RecipientClass;
  /** Why it would be refused; undefined: it would be accepted. */
  readonly failure: Failure | undefined;
}

/** A group as the API shows it. */
export type GroupView = Shown<typeof group>;

/** What the API asks of a shop, on the node that owns its shard. Rejects only with `RuntimeFailure`. */
export interface ShopOperations extends BatchOperations<ShopReference> {
  channel(shop: ShopReference): Promise<Outcome<ChannelView>>;
  /** Starts or resumes; waits up to 10 s for a QR or the connection, while its caller is there, else answers `starting`. */
  connect(shop: ShopReference, caller?: WaitingCaller): Promise<Outcome<ChannelView>>;
  /**
   * As `connect`, with a code to type on the phone of that number (E.164 with plus) in place of a QR code; for the same
   * number the code that waits. Fails MSGAPP_ALREADY_LINKED, PAIRING_CODE_REFUSED and PAIRING_RATE_LIMITED.
   */
  requestPairingCode(
    shop: ShopReference,
    phone: string,
    caller?: WaitingCaller,
  ): Promise<Outcome<ChannelView>>;
  /** Fails CHANNEL_NOT_STARTED before any connect. */
  pollConnection(shop: ShopReference): Promise<Outcome<ChannelView>>;
  /** Fails CHANNEL_NEVER_CONFIGURED. */
  disconnect(shop: ShopReference): Promise<Outcome<ChannelView>>;
  /** Replay → policy → availability → commit. */
  send(shop: ShopReference, draft: MessageDraft): MaybePromise<Outcome<Sent<Accepted>>>;
  /** Newest first. */
  listMessages(
    shop: ShopReference,
    query: {
      readonly status: MessageStatus | undefined;
      readonly limit: number;
      readonly cursor: string | undefined;
    },
  ): Promise<Outcome<CursorPage<MessageView>>>;
  /** Fails MESSAGE_NOT_FOUND, also for another tenant's. */
  message(tenantId: string, messageId: string): MaybePromise<Outcome<MessageView>>;
  /**
   * Ends a message or status that is not being sent, and gives its places in the number's windows back; done again it answers
   * the same. Fails MESSAGE_NOT_FOUND and NOT_CANCELLABLE.
   */
  cancel(tenantId: string, messageId: string): Promise<Outcome<MessageView>>;
  /** The same of all that match; how many ended. */
  cancelQueue(shop: ShopReference, filter: QueueFilter): Promise<Outcome<{ readonly cancelled: number }>>;
  /** Stores a send for later. Fails SCHEDULED_LIMIT_REACHED, and VALIDATION_ERROR where its times are not possible. */
  schedule(shop: ShopReference, draft: ScheduledDraftAsked): Promise<Outcome<Sent<ScheduledView>>>;
  /** Those that wait, newest first. */
  listScheduled(
    shop: ShopReference,
    query: { readonly limit: number; readonly cursor: string | undefined },
  ): Promise<Outcome<CursorPage<ScheduledView>>>;
  /** Also one that has ended. Fails SCHEDULED_NOT_FOUND. */
  scheduled(shop: ShopReference, scheduledId: string): Promise<Outcome<ScheduledView>>;
  /** Ends one that waits. Fails SCHEDULED_NOT_FOUND, and NOT_CANCELLABLE where it has ended otherwise. */
  unschedule(shop: ShopReference, scheduledId: string): Promise<Outcome<ScheduledView>>;
  /** Replay → policy → availability → commit. */
  postStatus(shop: ShopReference, draft: StatusDraft): Promise<Outcome<Sent<Omit<Accepted, 'policy'>>>>;
  /**
   * What the shop may still send. With `to` (E.164 with plus, or a group id) also whether a message of which no copy was
   * sent yet would be accepted. Counts nothing and asks neither the chat network nor the pool.
   */
  policy(shop: ShopReference, to: string | undefined): Promise<Outcome<ShopPolicyView>>;
  /** The live list; fails MSGAPP_NOT_CONNECTED without a session. */
  groups(shop: ShopReference): Promise<Outcome<readonly GroupView[]>>;
}
