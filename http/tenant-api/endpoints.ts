import type { Endpoint } from '../contract/endpoint.ts';
import {
  addBatchRecipients,
  cancelBatch,
  createBatch,
  listBatches,
  pauseBatch,
  readBatch,
  resumeBatch,
} from './batches.ts';
import { cancelMessage, cancelQueue } from './cancellations.ts';
import {
  connectChannel,
  disconnectChannel,
  pollChannel,
  readChannel,
  requestPairingCode,
} from './channels.ts';
import { declareContacts, listContacts, revokeContact } from './contacts.ts';
import { listArticles, readArticle } from './documentation.ts';
import { listEvents } from './events.ts';
import { listGroups } from './groups.ts';
import { readIdentity } from './identity.ts';
import { listInbound, markInboundRead, readInbound, readInboundMedia, replyToInbound } from './inbound.ts';
import { listMessages, readMessage, sendMessage } from './messages.ts';
import { readPolicy } from './policy.ts';
import { cancelScheduled, listScheduled, readScheduled, scheduleMessage } from './scheduled.ts';
import type { ApiServices } from './services.ts';
import { createShop, listShops, readShop } from './shops.ts';
import { postStatus } from './statuses.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  listWebhookAttempts,
  listWebhooks,
  readWebhook,
  replayWebhook,
  rotateWebhookSecret,
  testWebhook,
} from './webhooks.ts';

/**
 * The tenants' API: the sixteen routes of docs/contract.md, Endpoints, in its order, then the articles, then the later
 * routes.
 */
export const API_ENDPOINTS: readonly Endpoint<ApiServices>[] = [
  readIdentity,
  listShops,
  createShop,
  readShop,
  readChannel,
  connectChannel,
  pollChannel,
  disconnectChannel,
  sendMessage,
  listMessages,
  readMessage,
  postStatus,
  listGroups,
  listContacts,
  declareContacts,
  revokeContact,
  listArticles,
  readArticle,
  readPolicy,
  listEvents,
  requestPairingCode,
  listInbound,
  readInbound,
  readInboundMedia,
  listWebhooks,
  createWebhook,
  readWebhook,
  changeWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  listWebhookAttempts,
  replayWebhook,
  markInboundRead,
  replyToInbound,
  cancelMessage,
  cancelQueue,
  scheduleMessage,
  listScheduled,
  readScheduled,
  cancelScheduled,
  createBatch,
  listBatches,
  readBatch,
  addBatchRecipients,
  pauseBatch,
  resumeBatch,
  cancelBatch,
];
