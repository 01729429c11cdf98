import type { Outcome, SendCode } from '../failure.ts';
import type { InboundDownload, InboundKind } from '../inbound-content.ts';
import type { CursorPage } from '../tenants/tenant-operations.ts';
import type { Accepted, MessageDraft, Sent, ShopReference } from './shop-operations.ts';

/** A message from a person to a shop, with the data of its event. Times are ISO 8601 in UTC. */
export interface InboundView {
  readonly id: string;
  readonly shopId: string;
  /** E.164 with plus, or null if the network sends no number. */
  readonly from: string | null;
  /** The person, by an id that is the same in all shops of the tenant. */
  readonly fromId: string;
  readonly name: string | null;
  /** When it was written, by the network's clock, in whole seconds. */
  readonly at: string;
  readonly kind: InboundKind;
  readonly text: string | null;
  /** The id of our message that it quotes or reacts to. */
  readonly replyTo: string | null;
  readonly media: {
    readonly type: string | null;
    readonly size: number | null;
    readonly fileName: string | null;
    readonly sha256: string | null;
  } | null;
}

/** The message with its present state. */
export interface InboundRecordView extends InboundView {
  /** The time at which it was marked as read, or null if it was not. */
  readonly readAt: string | null;
}

/** The API's operations on inbound messages, on the node that owns the tenant. Rejects only with `RuntimeFailure`. */
export interface InboundOperations {
  /** Newest first. */
  list(
    shop: ShopReference,
    query: { readonly limit: number; readonly cursor: string | undefined },
  ): Promise<Outcome<CursorPage<InboundRecordView>, 'SHOP_NOT_FOUND'>>;
  /** Another tenant's is not found. */
  read(tenantId: string, inboundId: string): Promise<Outcome<InboundRecordView, 'MESSAGE_NOT_FOUND'>>;
  /** Marks it as read, and notifies the person's phone. A repeated call returns the same. */
  markRead(
    tenantId: string,
    inboundId: string,
  ): Promise<
    Outcome<InboundRecordView, 'MESSAGE_NOT_FOUND' | 'MSGAPP_NOT_CONNECTED' | 'MSGAPP_SESSION_LOST'>
  >;
  /** Sends the person a message that quotes theirs. In all else it is a send. */
  reply(
    tenantId: string,
    inboundId: string,
    draft: Omit<MessageDraft, 'to' | 'reply'>,
  ): Promise<Outcome<Sent<Accepted>, 'MESSAGE_NOT_FOUND' | SendCode>>;
  /** Returns the location of its attachment, and the key that decrypts it. */
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
