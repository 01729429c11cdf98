import type { NamedSchemas } from '../contract/named-schemas.ts';
import { channel, channelStatus, messageReason, messageStatus, shop } from '../contract/resources.ts';
import {
  deadLetter,
  machine,
  node,
  operatorEvent,
  overview,
  seriesPoint,
  shard,
  shopActor,
  shopDetails,
  shopInspection,
} from './fleet-resources.ts';
import { freshKey, inspectTenant, key, loggedRequest, tenant } from './resources.ts';

/** What the operators' document calls its resources. */
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
