import { mapOutcome } from '../../actors/failure.ts';
import { CREATED_WEBHOOK, WEBHOOK_CALLS, whatToReplay } from '../bodies/webhook-requests.ts';
import { reply } from '../contract/endpoint.ts';
import { headerLines } from '../contract/exchange.ts';
import { OPERATOR_BASE_PATH } from './base-path.ts';
import { operatorEndpoint } from './services.ts';

export const createWebhook = operatorEndpoint({
  ...WEBHOOK_CALLS.create,
  path: '/tenants/{tenantId}/webhooks',
  role: 'admin',
  summary: "Send a tenant's events to an address from now on. Its secret is shown only here",
  replies: {
    201: { ...CREATED_WEBHOOK, headers: { Location: "The list of the tenant's webhooks." } },
  },
  errors: ['NOT_FOUND', 'CONFLICT'],
  async handle({ params, body, services }) {
    const { url, types, shops } = body;
    const creation = await services.webhooks.create(params.tenantId, { url, types, shops }, 'operator');
    if (!creation.ok) return creation;
    const location = headerLines({ Location: `${OPERATOR_BASE_PATH}/tenants/${params.tenantId}/webhooks` });
    return reply(201, creation.value, location);
  },
});

export const listWebhooks = operatorEndpoint({
  ...WEBHOOK_CALLS.list,
  path: '/tenants/{tenantId}/webhooks',
  role: 'read',
  summary: "List a tenant's webhooks and their state",
  errors: ['NOT_FOUND'],
  async handle({ params, services }) {
    const list = await services.webhooks.list(params.tenantId);
    return mapOutcome(list, (items) => ({ items, nextCursor: null }));
  },
});

export const changeWebhook = operatorEndpoint({
  ...WEBHOOK_CALLS.change,
  path: '/tenants/{tenantId}/webhooks/{webhookId}',
  role: 'admin',
  errors: ['NOT_FOUND', 'CONFLICT'],
  handle: ({ params, body, services }) =>
    services.webhooks.change(params.tenantId, params.webhookId, body, 'operator'),
});

export const deleteWebhook = operatorEndpoint({
  ...WEBHOOK_CALLS.remove,
  path: '/tenants/{tenantId}/webhooks/{webhookId}',
  role: 'admin',
  summary: 'Erase a webhook',
  errors: ['NOT_FOUND'],
  handle: ({ params, services }) => services.webhooks.remove(params.tenantId, params.webhookId),
});

export const rotateWebhookSecret = operatorEndpoint({
  ...WEBHOOK_CALLS.rotateSecret,
  path: '/tenants/{tenantId}/webhooks/{webhookId}/rotate-secret',
  role: 'admin',
  errors: ['NOT_FOUND'],
  handle: ({ params, services }) => services.webhooks.rotateSecret(params.tenantId, params.webhookId),
});

export const testWebhook = operatorEndpoint({
  ...WEBHOOK_CALLS.test,
  path: '/tenants/{tenantId}/webhooks/{webhookId}/test',
  role: 'operate',
  errors: ['NOT_FOUND'],
  handle: ({ params, services }) => services.webhooks.test(params.tenantId, params.webhookId),
});

export const listWebhookAttempts = operatorEndpoint({
  ...WEBHOOK_CALLS.attempts,
  path: '/tenants/{tenantId}/webhooks/{webhookId}/attempts',
  role: 'read',
  description: "At least 2,000 attempts of all a tenant's webhooks together are kept.",
  errors: ['NOT_FOUND'],
  handle: ({ params, query, services }) =>
    services.webhooks.attempts(params.tenantId, params.webhookId, query.limit),
});

export const replayWebhook = operatorEndpoint({
  ...WEBHOOK_CALLS.replay,
  path: '/tenants/{tenantId}/webhooks/{webhookId}/replay',
  role: 'operate',
  errors: ['NOT_FOUND', 'CONFLICT'],
  handle: ({ params, body, services }) =>
    services.webhooks.replay(params.tenantId, params.webhookId, whatToReplay(body)),
});
