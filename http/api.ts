import type { ApiServices } from './api-services.ts';
import type { Endpoint } from './endpoint.ts';
import { pollConnection, readChannel, startConnection, stopConnection } from './endpoints/channels.ts';
import { declareContacts, listContacts, revokeContact } from './endpoints/contacts.ts';
import { listArticles, readArticle } from './endpoints/documentation.ts';
import { listGroups } from './endpoints/groups.ts';
import { readIdentity } from './endpoints/identity.ts';
import { listMessages, readMessage, sendMessage } from './endpoints/messages.ts';
import { createShop, listShops, readShop } from './endpoints/shops.ts';
import { postStatus } from './endpoints/statuses.ts';

/** The tenants' API: the sixteen routes of SPEC.md in its order, then the articles. */
export const API_ENDPOINTS: readonly Endpoint<ApiServices>[] = [
  readIdentity,
  listShops,
  createShop,
  readShop,
  readChannel,
  startConnection,
  pollConnection,
  stopConnection,
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
];

/** The path under which they stand; the version is part of it (SPEC: Versioning). */
export const API_BASE_PATH = '/api/v1';
