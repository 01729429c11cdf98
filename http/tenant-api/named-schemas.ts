import { contact, identity } from '../contract/account-resources.ts';
import { batch, takenBatch } from '../contract/batch-resources.ts';
import type { NamedSchemas } from '../contract/named-schemas.ts';
import {
  acceptedMessage,
  acceptedStatus,
  article,
  channel,
  channelStatus,
  createdShop,
  event,
  group,
  inboundMessage,
  inboundRecord,
  message,
  messageReason,
  messageStatus,
  shop,
  shopPolicy,
  verdict,
} from '../contract/resources.ts';
import { freshWebhook, webhook, webhookAttempts } from '../contract/webhook-resources.ts';

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
