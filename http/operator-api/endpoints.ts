import type { Endpoint } from '../contract/endpoint.ts';
import * as actors from './actors.ts';
import * as clientVersion from './client-version.ts';
import * as customers from './customers.ts';
import * as deadLetters from './dead-letters.ts';
import * as erasures from './erasures.ts';
import * as keys from './keys.ts';
import * as operators from './operators.ts';
import * as overview from './overview.ts';
import * as requests from './requests.ts';
import * as scheduled from './scheduled.ts';
import type { OperatorServices } from './services.ts';
import * as shopBatches from './shop-batches.ts';
import * as shopChannel from './shop-channel.ts';
import * as shops from './shops.ts';
import * as tenants from './tenants.ts';
import * as webhooks from './webhooks.ts';

/** The endpoints of the operators, in the order of their document (docs/contract.md, The operators' API). */
export const OPERATOR_ENDPOINTS: readonly Endpoint<OperatorServices>[] = [
  operators.readOperator,
  operators.listAudit,
  tenants.createTenant,
  tenants.listTenants,
  tenants.readTenant,
  tenants.resumeTenant,
  tenants.changeTenant,
  tenants.deleteTenant,
  shops.changeShop,
  shops.deleteShop,
  erasures.deletePerson,
  erasures.readErasure,
  shops.importShop,
  customers.addCustomers,
  customers.listCustomers,
  customers.removeCustomers,
  keys.createKey,
  keys.listKeys,
  keys.rotateKey,
  keys.revokeKey,
  webhooks.createWebhook,
  webhooks.listWebhooks,
  webhooks.changeWebhook,
  webhooks.deleteWebhook,
  webhooks.rotateWebhookSecret,
  webhooks.testWebhook,
  webhooks.listWebhookAttempts,
  webhooks.replayWebhook,
  requests.listRequests,
  requests.countRefusals,
  overview.listNodes,
  actors.listActors,
  actors.readActor,
  ...actors.steerActor,
  actors.passivateActor,
  actors.resumeAll,
  shopChannel.connectShop,
  shopChannel.pollShop,
  shopChannel.requestShopPairingCode,
  shopChannel.disconnectShop,
  actors.cancelShopQueue,
  scheduled.listShopScheduled,
  scheduled.cancelShopScheduled,
  shopBatches.listShopBatches,
  shopBatches.readShopBatch,
  ...shopBatches.steerShopBatch,
  shops.listShopMessages,
  shops.listTenantShops,
  deadLetters.listDeadLetters,
  deadLetters.replayDeadLetter,
  clientVersion.readClientVersion,
  clientVersion.changeClientVersion,
  overview.readOverview,
  overview.readMachines,
];
