import type { PolicyVerdict, RecipientClass } from '../../policy/verdict.ts';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import type { ChannelReason } from '../channel-reason.ts';
import type { Failure, Outcome } from '../failure.ts';
import type { MessageReason, MessageStatus } from '../message-status.ts';
import type { CursorPage } from '../tenants/tenant-operations.ts';
import type { WaitingCaller } from '../waiting-caller.ts';
import type { BatchClass, BatchOperations } from './batch-operations.ts';

/** Which shop of which tenant. */
export interface ShopReference {
  readonly tenantId: string;
  readonly shopId: string;
}

/**
 * docs/contract.md, Channel connection state. Fields that do not apply are absent, `channelConfigId` is null
 * before the first connect.
 */
export interface ChannelView {
  readonly status: 'starting' | 'qr_waiting' | 'connected' | 'disconnected';
  readonly channelConfigId: string | null;
  readonly qr?: string;
  readonly qrImageDataUrl?: string;
  /** The code to type on the phone, eight capitals and digits. */
  readonly code?: string;
  /** When `qr` or `code` ends; ISO 8601. */
  readonly expiresAt?: string;
  readonly pollAfterMs?: number;
  /** Digits only, while connected. */
  readonly phone?: string;
  /** Why there is no session, where its owner should know. */
  readonly reason?: ChannelReason;
  /** The network's own code of a refusal. */
  readonly networkCode?: number;
  /** When a temporary ban ends; ISO 8601. */
  readonly bannedUntil?: string;
}

/** A message or status post as the API shows it (docs/contract.md, Message record). */
export interface MessageView {
  readonly id: string;
  readonly shopId: string;
  readonly channel: 'msgapp';
  /** Null for a status post. */
  readonly to: string | null;
  readonly kind: 'message' | 'status';
  readonly text: string | null;
  readonly mediaUrl: string | null;
  readonly mediaType: 'image' | 'video' | 'document' | null;
  readonly status: MessageStatus;
  /** A reason code once failed or rejected. */
  readonly reason: MessageReason | null;
  readonly via: 'shop' | 'pool';
  /** The verdict that let it through; null for a status post. */
  readonly policy: PolicyVerdict | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly sentAt: string | null;
  /** As the caller gave it; null: without one. */
  readonly idempotencyKey: string | null;
  /** `X-Request-Id` of the call that made it; null: made by a program that did not store it. */
  readonly requestId: string | null;
  /** The W3C trace context of that call; null: it had none. */
  readonly traceparent: string | null;
  /** When the first recipient had it, and when the first read it; null: nobody said so. */
  readonly deliveredAt: string | null;
  readonly readAt: string | null;
  /** Of a message to a group alone: how many had it, and how many read it. */
  readonly deliveredCount?: number;
  readonly readCount?: number;
  /** Of a reply alone: the person it goes to, whose number may not be told, and the inbound message that it quotes. */
  readonly toId?: string;
  readonly replyTo?: string;
  /** Of a message of a batch alone: the batch. */
  readonly batchId?: string;
  /** Of a message that waits in its shop alone: its place in the queue, from 1; the next to be sent has 1. */
  readonly position?: number;
  /** Of such a message: when it leaves, as far as can be said; null: the queue stands still. */
  readonly estimatedSendAt?: string | null;
}

/** What a send answers. */
export interface Accepted {
  readonly id: string;
  readonly status: MessageStatus;
  readonly statusUrl: string;
  readonly policy: PolicyVerdict;
  /** `policy` as JSON, where it was written to be stored; not told. */
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

/** A scheduled send as the API shows it. Times are ISO 8601. */
export interface ScheduledView {
  readonly id: string;
  readonly shopId: string;
  readonly status: 'scheduled' | ScheduledEnd['status'];
  readonly sendAt: string;
  readonly notAfter: string;
  readonly to: string;
  /** What is to be sent; null once it has ended, since its message holds it. */
  readonly text: string | null;
  readonly mediaUrl: string | null;
  readonly mediaType: 'image' | 'video' | 'document' | null;
  readonly idempotencyKey: string | null;
  readonly createdAt: string;
  readonly messageId: string | null;
  readonly code: string | null;
}

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

/** What a shop may still send, as the API shows it. Times are ISO 8601. */
export interface ShopPolicyView {
  readonly warmupDay: number;
  readonly caps: PolicyVerdict['caps'];
  /** What counts now; a verdict's `usage` counts its own send as well. */
  readonly usage: PolicyVerdict['usage'];
  /** Shares of the groups' budget of 24 hours. */
  readonly groups: { readonly perDay: number; readonly used: number };
  readonly statuses: { readonly perDay: number; readonly used: number };
  readonly queue: {
    /** Messages that wait or that are being sent. */
    readonly length: number;
    /** What makes the whole queue stand still; null: nothing does. */
    readonly pausedBy: 'operator' | 'rate_signal' | null;
    /** When the pause after a rate signal ends. */
    readonly pausedUntil: string | null;
    /** From when on the next message may go out; null: at once, or nobody can say (no session, held, one in hand). */
    readonly nextSendAt: string | null;
  };
  /** Equal to `network.restrictedUntil`. */
  readonly coldBarredUntil: string | null;
  readonly network: {
    /** Until when the chat network lets the number start no new chat; null: it does not object. */
    readonly restrictedUntil: string | null;
    /** The network's own name for that. */
    readonly restriction: string | null;
    /** Messages to people who have not answered, in the network's present cycle; null: it reported no quota. */
    readonly newChats: {
      readonly quota: number;
      readonly used: number;
      readonly endsAt: string | null;
    } | null;
  };
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
export interface GroupView {
  readonly id: string;
  readonly name: string;
  readonly participantCount: number;
  readonly isAdmin: boolean;
  readonly announce: boolean;
  readonly canSend: boolean;
}

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
