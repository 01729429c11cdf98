import type { NamedSchemas } from '../contract/named-schemas.ts';
import { channel, channelStatus, messageReason, messageStatus, shop } from '../contract/resources.ts';
import { freshWebhook, webhook, webhookAttempts } from '../contract/webhook-resources.ts';
import { shopActor, shopDetails, shopInspection } from './actor-resources.ts';
import { operatorEvent } from './event-schemas.ts';
import { deadLetter, machine, node, overview, seriesPoint, shard } from './fleet-resources.ts';
import { freshKey, inspectTenant, key, loggedRequest, tenant } from './resources.ts';

/** The names of resources in the operators' document. */
export const OPERATOR_SCHEMAS: NamedSchemas = {
  Shop: shop,
  Channel: channel,
  ChannelStatus: channelStatus,
  MessageStatus: messageStatus,
  MessageReason: messageReason,
  Tenant: tenant,
  SupervisedTenant: inspectTenant,
  Key: key,
  FreshKey: freshKey,
  Webhook: webhook,
  FreshWebhook: freshWebhook,
  WebhookAttempts: webhookAttempts,
  LoggedRequest: loggedRequest,
  Overview: overview,
  SeriesPoint: seriesPoint,
  Node: node,
  Shard: shard,
  Machine: machine,
  ShopActor: shopActor,
  ShopInspection: shopInspection,
  ShopDetails: shopDetails,
  DeadLetter: deadLetter,
  OperatorEvent: operatorEvent,
};
