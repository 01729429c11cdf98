import type { Endpoint } from '../contract/endpoint.ts';
import * as batches from './batches.ts';
import * as cancellations from './cancellations.ts';
import * as channels from './channels.ts';
import * as contacts from './contacts.ts';
import * as documentation from './documentation.ts';
import * as events from './events.ts';
import * as groups from './groups.ts';
import * as identity from './identity.ts';
import * as inbound from './inbound.ts';
import * as messages from './messages.ts';
import * as policy from './policy.ts';
import * as scheduled from './scheduled.ts';
import type { ApiServices } from './services.ts';
import * as shops from './shops.ts';
import * as statuses from './statuses.ts';
import * as webhooks from './webhooks.ts';

/** The tenants' API, in the order of its document. A new endpoint goes beside those of its resource, or last. */
export const API_ENDPOINTS: readonly Endpoint<ApiServices>[] = [
  identity.readIdentity,
  shops.listShops,
  shops.createShop,
  shops.readShop,
  channels.readChannel,
  channels.connectChannel,
  channels.pollChannel,
  channels.disconnectChannel,
  messages.sendMessage,
  messages.listMessages,
  messages.readMessage,
  statuses.postStatus,
  groups.listGroups,
  contacts.listContacts,
  contacts.declareContacts,
  contacts.revokeContact,
  documentation.listArticles,
  documentation.readArticle,
  policy.readPolicy,
  events.listEvents,
  channels.requestPairingCode,
  inbound.listInbound,
  inbound.readInbound,
  inbound.readInboundMedia,
  webhooks.listWebhooks,
  webhooks.createWebhook,
  webhooks.readWebhook,
  webhooks.changeWebhook,
  webhooks.deleteWebhook,
  webhooks.rotateWebhookSecret,
  webhooks.testWebhook,
  webhooks.listWebhookAttempts,
  webhooks.replayWebhook,
  inbound.markInboundRead,
  inbound.replyToInbound,
  cancellations.cancelMessage,
  cancellations.cancelQueue,
  scheduled.scheduleMessage,
  scheduled.listScheduled,
  scheduled.readScheduled,
  scheduled.cancelScheduled,
  batches.createBatch,
  batches.listBatches,
  batches.readBatch,
  batches.addBatchRecipients,
  ...batches.steerBatch,
];
