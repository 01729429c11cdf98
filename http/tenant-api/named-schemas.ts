import type { NamedSchemas } from '../contract/named-schemas.ts';
import {
  acceptedMessage,
  acceptedStatus,
  article,
  channel,
  channelStatus,
  contact,
  createdShop,
  event,
  group,
  identity,
  message,
  messageReason,
  messageStatus,
  shop,
  shopPolicy,
  verdict,
} from '../contract/resources.ts';

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
  Message: message,
  MessageStatus: messageStatus,
  MessageReason: messageReason,
  Group: group,
  ConsentedContact: contact,
  Identity: identity,
  Article: article,
};
