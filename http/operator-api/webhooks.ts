import { mapOutcome } from '../../actors/failure.ts';
import { closedObject } from '../contract/closed-object.ts';
import { reply } from '../contract/endpoint.ts';
import { headerLines } from '../contract/exchange.ts';
import { limitParameter } from '../contract/query-parameters.ts';
import {
  changedWebhook,
  newWebhook,
  replayedEvents,
  TEST_TIMEOUT_MS,
  WEBHOOK_REPLIES,
  whatToReplay,
} from '../contract/webhook-requests.ts';
import { OPERATOR_BASE_PATH } from './base-path.ts';
import { operatorEndpoint } from './services.ts';

export const createWebhook = operatorEndpoint({
  name: 'createWebhook',
  method: 'POST',
  path: '/tenants/{tenantId}/webhooks',
  role: 'admin',
  tag: 'Webhooks',
  summary: "Send a tenant's events to an address from now on. Its secret is shown only here",
  ...newWebhook,
  replies: {
    201: { ...WEBHOOK_REPLIES.created, headers: { Location: "The list of the tenant's webhooks." } },
  },
  errors: ['NOT_FOUND', 'CONFLICT'],
  async handle({ params, body, services }) {
    const { url, types = null, shops = null } = body;
    const made = await services.webhooks.create(params.tenantId, { url, types, shops }, 'operator');
    if (!made.ok) return made;
    const location = headerLines({ Location: `${OPERATOR_BASE_PATH}/tenants/${params.tenantId}/webhooks` });
    return reply(201, made.value, location);
  },
});

export const listWebhooks = operatorEndpoint({
  name: 'listWebhooks',
  method: 'GET',
  path: '/tenants/{tenantId}/webhooks',
  role: 'read',
  tag: 'Webhooks',
  summary: "List a tenant's webhooks and their state",
  replies: {
    200: WEBHOOK_REPLIES.listed,
  },
  errors: ['NOT_FOUND'],
  async handle({ params, services }) {
    const listed = await services.webhooks.list(params.tenantId);
    return mapOutcome(listed, (items) => ({ items, nextCursor: null }));
  },
});

export const changeWebhook = operatorEndpoint({
  name: 'changeWebhook',
  method: 'PATCH',
  path: '/tenants/{tenantId}/webhooks/{webhookId}',
  role: 'admin',
  tag: 'Webhooks',
  summary: 'Change what a webhook is sent and where, disable it, or enable it again',
  ...changedWebhook,
  replies: { 200: WEBHOOK_REPLIES.webhook },
  errors: ['NOT_FOUND', 'CONFLICT'],
  handle: ({ params, body, services }) =>
    services.webhooks.change(params.tenantId, params.webhookId, body, 'operator'),
});

export const deleteWebhook = operatorEndpoint({
  name: 'deleteWebhook',
  method: 'DELETE',
  path: '/tenants/{tenantId}/webhooks/{webhookId}',
  role: 'admin',
  tag: 'Webhooks',
  summary: 'Erase a webhook',
  body: closedObject({}),
  replies: { 200: WEBHOOK_REPLIES.deleted },
  errors: ['NOT_FOUND'],
  handle: ({ params, services }) => services.webhooks.remove(params.tenantId, params.webhookId),
});

export const rotateWebhookSecret = operatorEndpoint({
  name: 'rotateWebhookSecret',
  method: 'POST',
  path: '/tenants/{tenantId}/webhooks/{webhookId}/rotate-secret',
  role: 'admin',
  tag: 'Webhooks',
  summary: 'Give a webhook a new secret. The old one also signs for 24 hours',
  body: closedObject({}),
  replies: { 200: WEBHOOK_REPLIES.rotated },
  errors: ['NOT_FOUND'],
  handle: ({ params, services }) => services.webhooks.rotateSecret(params.tenantId, params.webhookId),
});

export const testWebhook = operatorEndpoint({
  name: 'testWebhook',
  method: 'POST',
  path: '/tenants/{tenantId}/webhooks/{webhookId}/test',
  role: 'operate',
  tag: 'Webhooks',
  summary: 'Send an event `webhook.test` once, and return the result',
  body: closedObject({}),
  replies: { 200: WEBHOOK_REPLIES.tested },
  errors: ['NOT_FOUND'],
  forwardTimeoutMs: TEST_TIMEOUT_MS,
  handle: ({ params, services }) => services.webhooks.test(params.tenantId, params.webhookId),
});

export const listWebhookAttempts = operatorEndpoint({
  name: 'listWebhookAttempts',
  method: 'GET',
  path: '/tenants/{tenantId}/webhooks/{webhookId}/attempts',
  role: 'read',
  tag: 'Webhooks',
  summary: 'List the last tries, newest first, and the events that were given up',
  description: "At least 2,000 tries of all a tenant's webhooks together are kept.",
  query: { limit: limitParameter },
  replies: { 200: WEBHOOK_REPLIES.attempts },
  errors: ['NOT_FOUND'],
  handle: ({ params, query, services }) =>
    services.webhooks.attempts(params.tenantId, params.webhookId, query.limit),
});

export const replayWebhook = operatorEndpoint({
  name: 'replayWebhook',
  method: 'POST',
  path: '/tenants/{tenantId}/webhooks/{webhookId}/replay',
  role: 'operate',
  tag: 'Webhooks',
  summary: 'Send events once more: those that are named, or the first 200 since a moment',
  ...replayedEvents,
  replies: { 200: WEBHOOK_REPLIES.replayed },
  errors: ['NOT_FOUND', 'CONFLICT'],
  handle: ({ params, body, services }) =>
    services.webhooks.replay(params.tenantId, params.webhookId, whatToReplay(body)),
});
