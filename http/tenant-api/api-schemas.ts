import { contact, identity } from '../../actors/replies/account-replies.ts';
import { batch, takenBatch } from '../../actors/replies/batch-replies.ts';
import { event } from '../../actors/replies/event-replies.ts';
import { inboundMessage, inboundRecord } from '../../actors/replies/inbound-replies.ts';
import {
  acceptedMessage,
  acceptedStatus,
  message,
  messageReason,
  messageStatus,
  scheduledSend,
  shopPolicy,
  verdict,
} from '../../actors/replies/message-replies.ts';
import { channel, channelStatus, group, shop } from '../../actors/replies/shop-replies.ts';
import { freshWebhook, webhook, webhookAttempts } from '../../actors/replies/webhook-replies.ts';
import { article } from '../bodies/article.ts';
import { createdShop } from '../bodies/new-shop.ts';
import type { NamedSchemas } from '../contract/named-schemas.ts';

/** The names of resources in the tenants' document; generated clients rely on them. */
export const API_SCHEMAS: NamedSchemas = {
  Shop: shop,
  CreatedShop: createdShop,
  Channel: channel,
  ChannelStatus: channelStatus,
  PolicyVerdict: verdict,
  ShopPolicy: shopPolicy,
  Event: event,
  AcceptedMessage: acceptedMessage,
  AcceptedStatus: acceptedStatus,
  Batch: batch,
  TakenBatch: takenBatch,
  ScheduledSend: scheduledSend,
  Message: message,
  MessageStatus: messageStatus,
  MessageReason: messageReason,
  ReceivedMessage: inboundMessage,
  InboundMessage: inboundRecord,
  Group: group,
  ConsentedContact: contact,
  Webhook: webhook,
  FreshWebhook: freshWebhook,
  WebhookAttempts: webhookAttempts,
  Identity: identity,
  Article: article,
};
