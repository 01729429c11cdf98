import { contact, identity } from '../../actors/reply-schemas/account-schemas.ts';
import { batch, takenBatch } from '../../actors/reply-schemas/batch-schemas.ts';
import { event } from '../../actors/reply-schemas/event-schemas.ts';
import { inboundMessage, inboundRecord } from '../../actors/reply-schemas/inbound-schemas.ts';
import {
  acceptedMessage,
  acceptedStatus,
  message,
  messageReason,
  messageStatus,
  scheduledSend,
  shopPolicy,
  verdict,
} from '../../actors/reply-schemas/message-schemas.ts';
import { channel, channelStatus, group, shop } from '../../actors/reply-schemas/shop-schemas.ts';
import { freshWebhook, webhook, webhookAttempts } from '../../actors/reply-schemas/webhook-schemas.ts';
import { createdShop } from '../bodies/new-shop.ts';
import type { NamedSchemas } from '../contract/endpoint.ts';
import { article } from './documentation.ts';

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
