import type { PolicyVerdict } from '../../../policy/verdict.ts';
import type { MaybePromise } from '../../../runtime/maybe-promise.ts';
import type { Outcome } from '../../failure.ts';
import type { MessageReason, MessageStatus } from '../../message-status.ts';
import type { CursorPage } from '../../tenant/tenant-operations.ts';

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
  /** ISO 8601. */
  readonly expiresAt?: string;
  readonly pollAfterMs?: number;
  /** Digits only, while connected. */
  readonly phone?: string;
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
}

/** What a send answers. */
export interface Accepted {
  readonly id: string;
  readonly status: MessageStatus;
  readonly statusUrl: string;
  readonly policy: PolicyVerdict;
}

/** A send as the caller asked for it, valid in shape. */
export interface MessageDraft {
  /** E.164 with plus, or a group id. */
  readonly to: string;
  readonly text: string | undefined;
  readonly mediaUrl: string | undefined;
  readonly mediaType: 'image' | 'video' | 'document';
  readonly idempotencyKey: string | undefined;
}

/** A status post as the caller asked for it, valid in shape. */
export interface StatusDraft {
  readonly caption: string | undefined;
  readonly mediaUrl: string | undefined;
  readonly mediaType: 'image' | 'video';
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
export interface ShopOperations {
  channel(shop: ShopReference): Promise<Outcome<ChannelView>>;
  /** Starts or resumes; waits up to 10 s for a QR or the connection, else answers `starting`. */
  connect(shop: ShopReference): Promise<Outcome<ChannelView>>;
  /** Fails CHANNEL_NOT_STARTED before any connect. */
  pollConnection(shop: ShopReference): Promise<Outcome<ChannelView>>;
  /** Fails CHANNEL_NEVER_CONFIGURED. */
  disconnect(shop: ShopReference): Promise<Outcome<ChannelView>>;
  /** Replay → policy → availability → commit. `replayed`: the original of the same idempotency key. */
  send(
    shop: ShopReference,
    draft: MessageDraft,
  ): MaybePromise<Outcome<{ readonly replayed: boolean; readonly accepted: Accepted }>>;
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
  postStatus(shop: ShopReference, draft: StatusDraft): Promise<Outcome<Omit<Accepted, 'policy'>>>;
  /** The live list; fails MSGAPP_NOT_CONNECTED without a session. */
  groups(shop: ShopReference): Promise<Outcome<readonly GroupView[]>>;
}
