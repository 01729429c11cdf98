import * as v from 'valibot';
import { done } from '../../actors/failure.ts';
import { INBOUND_MODES } from '../../actors/inbound-mode.ts';
import { tenant, tenantInspection } from '../../actors/reply-schemas/operator-schemas.ts';
import { PLAN_NAMES } from '../../policy/plan.ts';
import { closedObject } from '../contract/closed-object.ts';
import { LONG_FORWARD_TIMEOUT_MS, reply } from '../contract/endpoint.ts';
import { headerLines } from '../contract/exchange.ts';
import { name, phoneNumber } from '../contract/fields.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { cursorParameter, limitParameter } from '../contract/query-parameters.ts';
import { OPERATOR_BASE_PATH } from './base-path.ts';
import { ERASURE_DESCRIPTION, erasureReplies, erasureReply } from './erasures.ts';
import { supervisedTenantExample, tenantExample } from './resources.ts';
import { operatorEndpoint } from './services.ts';

const setting = v.optional(v.nullable(v.number('must be a number or null')));

const ownerName = name({ max: 200 });
const notificationNumber = v.optional(v.nullable(phoneNumber));

const changedOwner = v.pipe(
  closedObject({ name: v.optional(ownerName), notificationNumber }),
  v.check(
    (owner) => owner.name !== undefined || owner.notificationNumber !== undefined,
    'must have name or notificationNumber',
  ),
  v.metadata({ minProperties: 1 }),
);

const changeable = {
  plan: v.optional(v.picklist(PLAN_NAMES)),
  active: v.optional(v.boolean()),
  settings: v.optional(
    closedObject({
      coldPerDay: setting,
      declaredPerDay: setting,
      groupsPerDay: setting,
      groupPerRecipient24h: setting,
      statusesPerDay: setting,
    }),
  ),
  poolFallback: v.optional(v.boolean()),
  platform: v.optional(v.boolean()),
  inbound: v.optional(
    v.pipe(
      v.picklist(INBOUND_MODES),
      v.description(
        'What the tenant receives when people write to its shops. `none`: nothing. `events`: the sender, time and kind of each message. `texts`: the text too. It applies to messages that arrive later.',
      ),
    ),
  ),
};

export const createTenant = operatorEndpoint({
  name: 'createTenant',
  method: 'POST',
  path: '/tenants',
  role: 'admin',
  tag: 'Tenants',
  summary: 'Create a tenant',
  tenant: 'created',
  body: closedObject({
    name: name({ max: 200 }),
    owner: v.optional(v.nullable(closedObject({ name: ownerName, notificationNumber }))),
    ...changeable,
  }),
  bodyExample: {
    name: 'Rue Haute Ltd',
    plan: 'growth',
    owner: { name: 'Ada', notificationNumber: '+41791234567' },
  },
  replies: {
    201: {
      description: 'The new tenant.',
      data: tenant,
      headers: { Location: 'The tenant.' },
      example: tenantExample,
    },
  },
  async handle({ params, body, services }) {
    const creation = await services.operators.createTenant(params.tenantId, body);
    if (!creation.ok) return creation;
    return reply(
      201,
      creation.value,
      headerLines({ Location: `${OPERATOR_BASE_PATH}/tenants/${params.tenantId}` }),
    );
  },
});

export const listTenants = operatorEndpoint({
  name: 'listTenants',
  method: 'GET',
  path: '/tenants',
  role: 'read',
  tag: 'Tenants',
  summary: 'List tenants, newest first',
  query: { limit: limitParameter, cursor: cursorParameter, q: v.optional(v.string()) },
  replies: {
    200: {
      description: 'A page.',
      data: cursorPage(tenant),
      example: { items: [tenantExample], nextCursor: null },
    },
  },
  async handle({ query, services }) {
    return done(await services.ownNode.listTenants(query));
  },
});

export const readTenant = operatorEndpoint({
  name: 'readTenant',
  method: 'GET',
  path: '/tenants/{tenantId}',
  role: 'read',
  tag: 'Tenants',
  summary: 'Read a tenant, and the state of its actor',
  replies: {
    200: { description: 'The tenant.', data: tenantInspection, example: supervisedTenantExample },
  },
  errors: ['NOT_FOUND'],
  handle: ({ params, services }) => services.operators.tenant(params.tenantId),
});

export const resumeTenant = operatorEndpoint({
  name: 'resumeTenant',
  method: 'POST',
  path: '/tenants/{tenantId}/resume',
  role: 'operate',
  tag: 'Tenants',
  summary: "Resume a tenant's actor that crashed too often",
  description:
    'While the actor is `suspended`, every call of the tenant is refused. If the actor already runs, the answer is its state. 503 `BOT_SERVICE_UNREACHABLE`: it crashed again at once.',
  body: closedObject({}),
  replies: {
    200: { description: 'The tenant afterwards.', data: tenantInspection, example: supervisedTenantExample },
  },
  errors: ['NOT_FOUND'],
  handle: ({ params, services }) => services.operators.resumeTenant(params.tenantId),
});

export const changeTenant = operatorEndpoint({
  name: 'changeTenant',
  method: 'PATCH',
  path: '/tenants/{tenantId}',
  role: 'admin',
  tag: 'Tenants',
  summary: 'Change a tenant. Fields that are left out stay',
  description:
    "With `active: false` the tenant's calls are refused and its queues stop. Sessions stay open. Messages continue when the tenant is active again, or they expire like others that wait too long. A message that a pool shop already accepted may still be sent.",
  body: closedObject({
    name: v.optional(name({ max: 200 })),
    owner: v.optional(
      v.pipe(
        v.nullable(changedOwner),
        v.description('A tenant without an owner needs the name. Null removes the owner and the number.'),
      ),
    ),
    ...changeable,
  }),
  bodyExample: { active: false },
  replies: { 200: { description: 'The tenant as it is now.', data: tenant, example: tenantExample } },
  errors: ['NOT_FOUND'],
  handle: ({ params, body, services }) => services.operators.changeTenant(params.tenantId, body),
});

export const deleteTenant = operatorEndpoint({
  name: 'deleteTenant',
  method: 'DELETE',
  path: '/tenants/{tenantId}',
  role: 'admin',
  tag: 'Tenants',
  summary: 'Erase a tenant: sessions ended, credentials, messages, keys and its request log gone',
  body: closedObject({}),
  description: ERASURE_DESCRIPTION,
  replies: erasureReplies,
  errors: ['NOT_FOUND'],
  forwardTimeoutMs: LONG_FORWARD_TIMEOUT_MS,
  async handle({ params, services }) {
    const deletion = await services.operators.deleteTenant(params.tenantId);
    return deletion.ok ? erasureReply(params.tenantId, deletion.value) : deletion;
  },
});
