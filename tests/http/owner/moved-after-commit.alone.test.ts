/**
 * A tenant that moves after the commit of a call's command. Each endpoint that changes something is called. Every later
 * read and command of the call is refused, as by a node that gave the tenant away.
 */
import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import type { Outcome } from '../../../actors/failure.ts';
import { PERMISSIONS } from '../../../actors/permission.ts';
import type { ShopReference } from '../../../actors/shops/shop-operations.ts';
import { keyHash } from '../../../actors/tenants/raw-key.ts';
import type { Endpoint } from '../../../http/contract/endpoint.ts';
import { OPERATOR_ENDPOINTS } from '../../../http/operator-api/endpoints.ts';
import type { OperatorServices } from '../../../http/operator-api/services.ts';
import type { OwnerReply } from '../../../http/owner/owner-reply.ts';
import { serveAsOwner } from '../../../http/owner/serve-as-owner.ts';
import { serveOperator } from '../../../http/owner/serve-operator.ts';
import { API_ENDPOINTS } from '../../../http/tenant-api/endpoints.ts';
import type { ApiServices } from '../../../http/tenant-api/services.ts';
import { shardOf } from '../../../runtime/address.ts';
import { HOUR_MS } from '../../../runtime/durations.ts';
import { type ObjectId, objectIdGenerator } from '../../../runtime/object-id.ts';
import { systemRandom } from '../../../runtime/random.ts';
import { movedAwayFailure } from '../../../runtime/runtime-failure.ts';
import { fakeOf } from '../../testbed/fake-of.ts';
import { type StartedParts, startParts } from '../../testbed/started-parts.ts';
import { type RealActors, startRealActors } from '../real-actors.ts';

const nextId = objectIdGenerator(systemRandom);
const newId = (): ObjectId => nextId(Date.now());
const tenantId = newId();
const PHONE = '+41797654321';
/** Nothing is sent to it, because no shop here has such an event. */
const HOOK = { url: 'https://example.com/hooks', types: ['message.read'] as const, shops: null };
const KEY = {
  name: 'k',
  permissions: PERMISSIONS,
  expiresAt: null,
  ipAllowlist: [],
  limits: { minute: 10_000, hour: 10_000, day: 10_000 },
};

/** The content of a message, except for its text, and the ids of its call. */
const CONTENT = {
  mediaUrl: undefined,
  mediaType: 'image',
  idempotencyKey: undefined,
  requestId: 'r',
  traceparent: undefined,
} as const;

let parts: StartedParts;
let real: RealActors;
let key: string;
let keyId: string;
let shop: ShopReference;
/** The command of the loops that send events, which no call waits for. */
const BACKGROUND = 'webhook_progress';
/** True while a call is observed; its first command that is carried out makes the tenant move. */
let isObserved = false;
let hasMoved = false;
let commands = 0;
let recipients = 0;

function succeeded<Value>(outcome: Outcome<Value>): Value {
  assert.ok(outcome.ok, JSON.stringify(outcome));
  return outcome.value;
}

/** Makes the methods refuse all calls once the tenant has moved. `isCommand`: a success moves it. */
function refuseOnceMoved<Port extends object>(port: Port, names: readonly (keyof Port)[], isCommand = false) {
  for (const name of names) {
    const real = (port[name] as (...args: unknown[]) => unknown).bind(port);
    const refusing = (...args: unknown[]): unknown => {
      if (hasMoved) return Promise.reject(movedAwayFailure());
      const result = real(...args);
      const [, command] = args as [unknown, { readonly type?: string } | undefined];
      if (!isCommand || !isObserved || command?.type === BACKGROUND) return result;
      return (result as Promise<unknown>).then(noteCommand);
    };
    mock.method(port, name as never, refusing as never);
  }
}

function noteCommand(reply: unknown): unknown {
  if ((reply as { readonly ok?: boolean } | undefined)?.ok === false) return reply;
  commands += 1;
  hasMoved = isObserved;
  return reply;
}

/** Serves the call, during which the tenant moves after the first command. */
async function moving(serve: () => OwnerReply | Promise<OwnerReply>): Promise<OwnerReply> {
  commands = 0;
  isObserved = true;
  try {
    return await serve();
  } finally {
    isObserved = false;
    hasMoved = false;
  }
}

before(async () => {
  await startParts(async (started) => {
    parts = started;
    real = await startRealActors(started, {});
  });
  const { operators, tenants, shops } = real.actors;
  const owner = { name: 'Ada', notificationNumber: null };
  succeeded(await operators.createTenant(tenantId, { name: 'T', owner, plan: 'scale', inbound: 'texts' }));
  const made = succeeded(await operators.createKey(tenantId, KEY));
  key = made.key;
  keyId = made.id;
  shop = { tenantId, shopId: await newShop() };
  succeeded(await tenants.declareContacts(tenantId, [{ phone: PHONE }]));
  succeeded(await shops.connect(shop));
  // So messages stay in the queue.
  succeeded(await operators.pause(shop));
  const { node } = real.runtime;
  refuseOnceMoved(node.actors, ['ask'], true);
  refuseOnceMoved(node.actors, ['state']);
  refuseOnceMoved(node.store, ['read', 'append']);
});
after(async () => {
  mock.restoreAll();
  await parts?.stop();
});

async function newShop(): Promise<string> {
  const draft = { name: `Shop ${newId()}` };
  return succeeded(await real.actors.tenants.createShop(tenantId, draft, undefined)).shop.id;
}

async function newBatch(): Promise<string> {
  const batch = {
    ...{ ...CONTENT, text: `Hello ${newId()}`, name: 'B', recipients: [{ to: PHONE }], paused: true },
    ...{ share: 0.5, quietHours: undefined, notBeforeMs: undefined, notAfterMs: undefined },
  };
  return succeeded(await real.actors.shops.createBatch(shop, batch)).accepted.id;
}

const newHook = async (): Promise<string> =>
  succeeded(await real.actors.webhooks.operations.create(tenantId, HOOK, 'tenant')).id;

/** Returns a number that may get a message now. */
async function newRecipient(): Promise<string> {
  recipients += 1;
  const phone = `+4179765${1_000 + recipients}`;
  succeeded(await real.actors.operators.addCustomers(tenantId, [phone]));
  return phone;
}

async function newMessage(): Promise<string> {
  const draft = { ...CONTENT, to: await newRecipient(), text: `Hello ${newId()}` };
  return succeeded(await real.actors.shops.send(shop, draft)).accepted.id;
}

async function newScheduled(): Promise<string> {
  const draft = { ...CONTENT, to: PHONE, text: `Hello ${newId()}` };
  const times = { sendAtMs: Date.now() + HOUR_MS, notAfterMs: undefined };
  return succeeded(await real.actors.shops.schedule(shop, { ...draft, ...times })).accepted.id;
}

async function newInbound(): Promise<{ readonly id: string; readonly fromId: string }> {
  const session = { shard: shardOf(tenantId), ...shop };
  const content = { kind: 'text', text: 'Hi', name: null, quotes: null, media: null } as const;
  assert.ok(await real.network.inbound(session, { from: '+33722220077', text: 'Hi', content }));
  const page = await real.actors.inbound.list(shop, { limit: 1, cursor: undefined });
  const [inbound] = succeeded(page).items;
  assert.ok(inbound);
  return inbound;
}

/** The values of the path and the body of a call. */
interface Call {
  readonly values: readonly string[];
  readonly body?: object;
}

const ofShop = async (body?: object): Promise<Call> => ({ values: [shop.shopId], body: body ?? {} });
const ofBatch = async (): Promise<Call> => ({ values: [shop.shopId, await newBatch()], body: {} });
const ofHook = async (body: object): Promise<Call> => ({ values: [await newHook()], body });
const QUEUE = { acceptedBefore: '2999-01-01T00:00:00Z' };
const soon = (): string => new Date(Date.now() + HOUR_MS).toISOString();

/** Tenants' calls that give a command to an actor. */
const API_CALLS: Readonly<Record<string, () => Promise<Call>>> = {
  createShop: async () => ({ values: [], body: { name: `Shop ${newId()}` } }),
  connectChannel: async () => ({ values: [await newShop()], body: {} }),
  requestPairingCode: async () => ({ values: [await newShop()], body: { phone: PHONE } }),
  disconnectChannel: async () => {
    const shopId = await newShop();
    succeeded(await real.actors.shops.connect({ tenantId, shopId }));
    return { values: [shopId], body: {} };
  },
  sendMessage: async () => ofShop({ channel: 'msgapp', to: await newRecipient(), text: 'Hello' }),
  postStatus: () => ofShop({ caption: 'Fresh bread' }),
  declareContacts: () => ofShop({ contacts: [{ phone: '+41797654399' }] }),
  revokeContact: () => ofShop({ phone: '+41797654399' }),
  createWebhook: async () => ({ values: [], body: HOOK }),
  changeWebhook: () => ofHook({ disabled: true }),
  deleteWebhook: () => ofHook({}),
  rotateWebhookSecret: () => ofHook({}),
  markInboundRead: async () => ({ values: [(await newInbound()).id], body: {} }),
  replyToInbound: async () => ({ values: [(await newInbound()).id], body: { text: 'Hello' } }),
  cancelMessage: async () => ({ values: [await newMessage()], body: {} }),
  cancelQueue: async () => {
    await newMessage();
    return ofShop(QUEUE);
  },
  scheduleMessage: () => ofShop({ channel: 'msgapp', to: PHONE, text: 'Hello', sendAt: soon() }),
  cancelScheduled: async () => ({ values: [shop.shopId, await newScheduled()], body: {} }),
  createBatch: () =>
    ofShop({ name: 'B', text: `Hello ${newId()}`, recipients: [{ to: PHONE }], paused: true }),
  addBatchRecipients: async () => ({ ...(await ofBatch()), body: { recipients: [{ to: '+33722220077' }] } }),
  pauseBatch: ofBatch,
  resumeBatch: ofBatch,
  cancelBatch: ofBatch,
};

const ofActor = async (body?: object): Promise<Call> => ({
  values: [tenantId, shop.shopId],
  body: body ?? {},
});
const ofActorsBatch = async (): Promise<Call> => ({
  values: [tenantId, shop.shopId, await newBatch()],
  body: {},
});
const ofTenant = async (body?: object): Promise<Call> => ({ values: [tenantId], body: body ?? {} });
const ofTenantsHook = async (body: object): Promise<Call> => ({ values: [tenantId, await newHook()], body });

/** Operators' calls that give a command to an actor. */
const OPERATOR_CALLS: Readonly<Record<string, () => Promise<Call>>> = {
  changeTenant: () => ofTenant({ poolFallback: false }),
  changeShop: () => ofActor({ egress: 'socks5://127.0.0.1:1080' }),
  importShop: () => ofTenant({ name: 'Imported' }),
  addCustomers: () => ofTenant({ phones: [PHONE] }),
  removeCustomers: () => ofTenant({ phones: [PHONE] }),
  createKey: () => ofTenant({ name: 'k', permissions: ['messages.send'] }),
  rotateKey: async () => ({ values: [tenantId, keyId], body: {} }),
  revokeKey: async () => ({ values: [tenantId, keyId], body: {} }),
  createWebhook: () => ofTenant(HOOK),
  changeWebhook: () => ofTenantsHook({ disabled: true }),
  deleteWebhook: () => ofTenantsHook({}),
  rotateWebhookSecret: () => ofTenantsHook({}),
  pauseActor: () => ofActor(),
  resumeActor: () => ofActor(),
  deletePerson: async () => ({ values: [tenantId, (await newInbound()).fromId], body: {} }),
  connectShop: async () => ({ values: [tenantId, await newShop()], body: {} }),
  requestShopPairingCode: async () => ({ values: [tenantId, await newShop()], body: { phone: PHONE } }),
  cancelShopQueue: async () => {
    await newMessage();
    return ofActor(QUEUE);
  },
  cancelShopScheduled: async () => ({ values: [tenantId, shop.shopId, await newScheduled()], body: {} }),
  pauseShopBatch: ofActorsBatch,
  resumeShopBatch: ofActorsBatch,
  cancelShopBatch: ofActorsBatch,
  disconnectShop: () => ofActor(),
  deleteShop: async () => ({ values: [tenantId, await newShop()], body: {} }),
  deleteTenant: () => ofTenant(),
};

/**
 * They give no command of their own to an actor. `createTenant` and `changeClientVersion` write to the store. The loop
 * that sends events gives the command of `replayWebhook`, as the last step. `replayDeadLetter` repeats a command, and
 * tests/runtime/actor/dead-letters.test.ts has what follows it.
 */
const WITHOUT_COMMAND = new Set([
  'resumeTenant',
  'restartActor',
  'testWebhook',
  'replayWebhook',
  'createTenant',
  'passivateActor',
  'resumeAll',
  'replayDeadLetter',
  'changeClientVersion',
]);

function requestOf(call: Call) {
  const ids = { requestId: 'r', traceparent: undefined, connection: undefined };
  const json = { contentType: 'application/json', body: JSON.stringify(call.body ?? {}) };
  return { values: call.values, query: '', idempotencyKey: '', ...json, ...ids };
}

/** Calls every endpoint that changes something, in the order of the table. */
async function callAll<Services>(
  endpoints: readonly Endpoint<Services>[],
  calls: Readonly<Record<string, () => Promise<Call>>>,
  serve: (endpoint: Endpoint<Services>, call: Call) => OwnerReply | Promise<OwnerReply>,
): Promise<void> {
  const changing = endpoints.filter(({ method, name }) => method !== 'GET' && !WITHOUT_COMMAND.has(name));
  assert.deepEqual(Object.keys(calls).toSorted(), changing.map(({ name }) => name).toSorted());
  for (const [name, prepare] of Object.entries(calls)) {
    const endpoint = changing.find((found) => found.name === name);
    assert.ok(endpoint);
    const call = await prepare();
    const { reply, hasMoved: mayFollow = false } = await moving(() => serve(endpoint, call));
    const shown = `${name}: ${reply.status} ${reply.body}`;
    assert.ok(commands > 0, `${shown}: no command was carried out`);
    assert.equal(mayFollow, false, `${shown}: another owner would repeat the call`);
  }
}

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: console.error };

test('a tenant’s call that has changed something is not repeated at the next owner', async () => {
  const { tenants, shops, inbound, events, webhooks } = real.actors;
  const services = fakeOf<ApiServices>({
    ...{ tenants, shops, inbound, events, webhooks: webhooks.operations },
    setupUrl: () => '',
  });
  const serving = { tenants, stillOwner: () => true, isBusy: () => false, log };
  await callAll(API_ENDPOINTS, API_CALLS, (endpoint, call) =>
    serveAsOwner(
      endpoint,
      { ...requestOf(call), tenantId, keyHash: keyHash(key), ip: '127.0.0.1' },
      services,
      serving,
    ),
  );
});

test('an operator’s call that has changed something is not repeated at the next owner', async () => {
  const { tenants, shops, operators, ownNode, webhooks } = real.actors;
  const services = fakeOf<OperatorServices>({
    ...{ tenants, shops, operators, ownNode, webhooks: webhooks.operations },
  });
  const operator = { name: 'ada', role: 'admin' } as const;
  await callAll(OPERATOR_ENDPOINTS, OPERATOR_CALLS, (endpoint, call) =>
    serveOperator(endpoint, { ...requestOf(call), tenantId, operator }, services, {
      stillOwner: () => true,
      log,
    }),
  );
});
