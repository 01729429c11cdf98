import type { Endpoint } from '../contract/endpoint.ts';
import { cancelShopQueue, listActors, passivateActor, readActor, resumeAll, steerActor } from './actors.ts';
import { changeClientVersion, readClientVersion } from './client-version.ts';
import { addCustomers, listCustomers, removeCustomers } from './customers.ts';
import { listDeadLetters, replayDeadLetter } from './dead-letters.ts';
import { deletePerson, readErasure } from './erasures.ts';
import { createKey, listKeys, revokeKey, rotateKey } from './keys.ts';
import { listAudit, readOperator } from './operators.ts';
import { listNodes, readMachines, readOverview } from './overview.ts';
import { countRefusals, listRequests } from './requests.ts';
import { cancelShopScheduled, listShopScheduled } from './scheduled.ts';
import type { OperatorServices } from './services.ts';
import { listShopBatches, readShopBatch, steerShopBatch } from './shop-batches.ts';
import { connectShop, disconnectShop, pollShop, requestShopPairingCode } from './shop-channel.ts';
import { changeShop, deleteShop, importShop, listShopMessages, listTenantShops } from './shops.ts';
import {
  changeTenant,
  createTenant,
  deleteTenant,
  listTenants,
  readTenant,
  resumeTenant,
} from './tenants.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  listWebhookAttempts,
  listWebhooks,
  replayWebhook,
  rotateWebhookSecret,
  testWebhook,
} from './webhooks.ts';

/** The endpoints of the operators, in the order of their document (docs/contract.md, The operators' API). */
export const OPERATOR_ENDPOINTS: readonly Endpoint<OperatorServices>[] = [
  readOperator,
  listAudit,
  createTenant,
  listTenants,
  readTenant,
  resumeTenant,
  changeTenant,
  deleteTenant,
  changeShop,
  deleteShop,
  deletePerson,
  readErasure,
  importShop,
  addCustomers,
  listCustomers,
  removeCustomers,
  createKey,
  listKeys,
  rotateKey,
  revokeKey,
  createWebhook,
  listWebhooks,
  changeWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  listWebhookAttempts,
  replayWebhook,
  listRequests,
  countRefusals,
  listNodes,
  listActors,
  readActor,
  ...steerActor,
  passivateActor,
  resumeAll,
  connectShop,
  pollShop,
  requestShopPairingCode,
  disconnectShop,
  cancelShopQueue,
  listShopScheduled,
  cancelShopScheduled,
  listShopBatches,
  readShopBatch,
  ...steerShopBatch,
  listShopMessages,
  listTenantShops,
  listDeadLetters,
  replayDeadLetter,
  readClientVersion,
  changeClientVersion,
  readOverview,
  readMachines,
];
