import type { Outcome, SendCode } from '../failure.ts';
import type { InboundDownload } from '../inbound-content.ts';
import type { inboundMessage, inboundRecord } from '../reply-schemas/inbound-schemas.ts';
import type { CursorPage, PageQuery, ReplyOf } from '../reply-schemas/reply-fields.ts';
import type { IdempotentReply } from './idempotent-reply.ts';
import type { AcceptedReply, MessageDraft, ShopReference } from './shop-operations.ts';

/** A message from a person to a shop, with the data of its event. */
export type InboundView = ReplyOf<typeof inboundMessage>;

/** The message with its present state. */
export type InboundRecordView = ReplyOf<typeof inboundRecord>;

/** The API's operations on inbound messages, on the node that owns the tenant. Rejects only with `RuntimeFailure`. */
export interface InboundOperations {
  /** Returns messages from people, newest first. */
  list(
    shop: ShopReference,
    query: PageQuery,
  ): Promise<Outcome<CursorPage<InboundRecordView>, 'SHOP_NOT_FOUND'>>;
  /** Returns a message. One of another tenant is not found. */
  read(tenantId: string, inboundId: string): Promise<Outcome<InboundRecordView, 'MESSAGE_NOT_FOUND'>>;
  /** Marks a message as read, and notifies the person's phone. A repeated call returns the same. */
  markRead(
    tenantId: string,
    inboundId: string,
  ): Promise<
    Outcome<InboundRecordView, 'MESSAGE_NOT_FOUND' | 'MSGAPP_NOT_CONNECTED' | 'MSGAPP_SESSION_LOST'>
  >;
  /** Sends the person a message that quotes theirs. The person counts as known, and the pool is not used. */
  reply(
    tenantId: string,
    inboundId: string,
    draft: Omit<MessageDraft, 'to' | 'reply'>,
  ): Promise<Outcome<IdempotentReply<AcceptedReply>, 'MESSAGE_NOT_FOUND' | SendCode>>;
  /** Returns the location of a message's attachment, and the key that decrypts it. */
  attachment(
    tenantId: string,
    inboundId: string,
  ): Promise<
    Outcome<
      InboundDownload,
      'MESSAGE_NOT_FOUND' | 'MEDIA_NOT_FOUND' | 'MEDIA_TOO_LARGE' | 'MSGAPP_NOT_CONNECTED'
    >
  >;
  /** Returns the message with the data of its event, or undefined if it was removed. */
  eventOf(tenantId: string, inboundId: string): Promise<InboundView | undefined>;
}
