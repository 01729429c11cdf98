import { API_BASE_PATH } from '../../actors/api-base-path.ts';
import { failed, type Outcome } from '../../actors/failure.ts';
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
import { apiEndpoint } from './services.ts';
import { mayMove, typesFor } from './webhook-types.ts';

/** Names the webhook in the error if it does not exist, or is another tenant's. */
function named<Value>(outcome: Outcome<Value>): Outcome<Value> {
  return outcome.ok || outcome.failure.code !== 'NOT_FOUND' ? outcome : failed('WEBHOOK_NOT_FOUND');
}

/** GET /webhooks */
export const listWebhooks = apiEndpoint({
  name: 'listWebhooks',
  method: 'GET',
  path: '/webhooks',
  tag: 'Webhooks',
  summary: 'List the webhooks and their state',
  description: 'All of them on one page, also those that operators made; without their secrets.',
  permission: 'webhooks.read',
  replies: {
    200: WEBHOOK_REPLIES.listed,
  },
  errors: [],
  async handle({ caller, services }) {
    const listed = await services.webhooks.list(caller.tenantId);
    return listed.ok ? reply(200, { items: listed.value, nextCursor: null }) : listed;
  },
});

/** POST /webhooks */
export const createWebhook = apiEndpoint({
  name: 'createWebhook',
  method: 'POST',
  path: '/webhooks',
  tag: 'Webhooks',
  summary: 'Send events to an address from now on; its secret is shown here and never again',
  description:
    'An account that has 20 webhooks, its own and those that operators made, is refused `WEBHOOK_LIMIT_REACHED`. For a key without `inbound.read` null is every type but `message.received`, and naming that is `FORBIDDEN_PERMISSION`.',
  permission: 'webhooks.write',
  ...newWebhook,
  replies: {
    201: { ...WEBHOOK_REPLIES.created, headers: { Location: 'The webhook.' } },
  },
  errors: ['WEBHOOK_LIMIT_REACHED'],
  async handle({ caller, body, services }) {
    const { url, shops = null } = body;
    const types = typesFor(caller, body.types ?? null);
    if (!types.ok) return types;
    const draft = { url, types: types.value, shops };
    const made = await services.webhooks.create(caller.tenantId, draft, 'tenant');
    if (!made.ok) return made;
    const { webhook: shown, secret } = made.value;
    return reply(
      201,
      { ...shown, secret },
      headerLines({ Location: `${API_BASE_PATH}/webhooks/${shown.id}` }),
    );
  },
});

/** GET /webhooks/{webhookId} */
export const readWebhook = apiEndpoint({
  name: 'readWebhook',
  method: 'GET',
  path: '/webhooks/{webhookId}',
  tag: 'Webhooks',
  summary: 'Read a webhook and its state',
  permission: 'webhooks.read',
  replies: { 200: WEBHOOK_REPLIES.webhook },
  errors: ['WEBHOOK_NOT_FOUND'],
  async handle({ caller, params, services }) {
    const read = named(await services.webhooks.read(caller.tenantId, params.webhookId.toLowerCase()));
    return read.ok ? reply(200, read.value) : read;
  },
});

/** PATCH /webhooks/{webhookId} */
export const changeWebhook = apiEndpoint({
  name: 'changeWebhook',
  method: 'PATCH',
  path: '/webhooks/{webhookId}',
  tag: 'Webhooks',
  summary: 'Change what a webhook is sent and where, disable it, or enable it again',
  permission: 'webhooks.write',
  ...changedWebhook,
  replies: { 200: WEBHOOK_REPLIES.webhook },
  errors: ['WEBHOOK_NOT_FOUND', 'CONFLICT'],
  async handle({ caller, params, body, services }) {
    const webhookId = params.webhookId.toLowerCase();
    const types = body.types === undefined ? undefined : typesFor(caller, body.types);
    if (types?.ok === false) return types;
    const asked = types === undefined ? body : { ...body, types: types.value };
    if (body.url !== undefined) {
      const present = named(await services.webhooks.read(caller.tenantId, webhookId));
      if (!present.ok) return present;
      const moved = mayMove(caller, present.value.types);
      if (!moved.ok) return moved;
    }
    const changed = named(await services.webhooks.change(caller.tenantId, webhookId, asked, 'tenant'));
    return changed.ok ? reply(200, changed.value) : changed;
  },
});

/** DELETE /webhooks/{webhookId} */
export const deleteWebhook = apiEndpoint({
  name: 'deleteWebhook',
  method: 'DELETE',
  path: '/webhooks/{webhookId}',
  tag: 'Webhooks',
  summary: 'Erase a webhook; nothing more is sent to it',
  permission: 'webhooks.write',
  body: closedObject({}),
  replies: { 200: WEBHOOK_REPLIES.deleted },
  errors: ['WEBHOOK_NOT_FOUND'],
  async handle({ caller, params, services }) {
    const removed = named(await services.webhooks.remove(caller.tenantId, params.webhookId.toLowerCase()));
    return removed.ok ? reply(200, removed.value) : removed;
  },
});

/** POST /webhooks/{webhookId}/rotate-secret */
export const rotateWebhookSecret = apiEndpoint({
  name: 'rotateWebhookSecret',
  method: 'POST',
  path: '/webhooks/{webhookId}/rotate-secret',
  tag: 'Webhooks',
  summary: 'Give a webhook a new secret; the old one signs beside it for 24 hours',
  permission: 'webhooks.write',
  body: closedObject({}),
  replies: { 200: WEBHOOK_REPLIES.rotated },
  errors: ['WEBHOOK_NOT_FOUND'],
  async handle({ caller, params, services }) {
    const rotated = named(
      await services.webhooks.rotateSecret(caller.tenantId, params.webhookId.toLowerCase()),
    );
    if (!rotated.ok) return rotated;
    return reply(200, { ...rotated.value.webhook, secret: rotated.value.secret });
  },
});

/** POST /webhooks/{webhookId}/test */
export const testWebhook = apiEndpoint({
  name: 'testWebhook',
  method: 'POST',
  path: '/webhooks/{webhookId}/test',
  tag: 'Webhooks',
  summary: 'Send an event `webhook.test` once, and say what came of it',
  permission: 'webhooks.write',
  body: closedObject({}),
  replies: { 200: WEBHOOK_REPLIES.tested },
  errors: ['WEBHOOK_NOT_FOUND'],
  forwardTimeoutMs: TEST_TIMEOUT_MS,
  async handle({ caller, params, services }) {
    const tested = named(await services.webhooks.test(caller.tenantId, params.webhookId.toLowerCase()));
    return tested.ok ? reply(200, tested.value) : tested;
  },
});

/** GET /webhooks/{webhookId}/attempts */
export const listWebhookAttempts = apiEndpoint({
  name: 'listWebhookAttempts',
  method: 'GET',
  path: '/webhooks/{webhookId}/attempts',
  tag: 'Webhooks',
  summary: 'List the last tries, newest first, and the events that were given up',
  description: 'At least 2,000 tries of all webhooks of the account together are kept.',
  permission: 'webhooks.read',
  query: { limit: limitParameter },
  replies: { 200: WEBHOOK_REPLIES.attempts },
  errors: ['WEBHOOK_NOT_FOUND'],
  async handle({ caller, params, query, services }) {
    const { webhookId } = params;
    const listed = named(
      await services.webhooks.attempts(caller.tenantId, webhookId.toLowerCase(), query.limit),
    );
    return listed.ok ? reply(200, listed.value) : listed;
  },
});

/** POST /webhooks/{webhookId}/replay */
export const replayWebhook = apiEndpoint({
  name: 'replayWebhook',
  method: 'POST',
  path: '/webhooks/{webhookId}/replay',
  tag: 'Webhooks',
  summary: 'Send events once more: those that are named, or the first 200 since a moment',
  permission: 'webhooks.write',
  ...replayedEvents,
  replies: { 200: WEBHOOK_REPLIES.replayed },
  errors: ['WEBHOOK_NOT_FOUND', 'CONFLICT'],
  async handle({ caller, params, body, services }) {
    const webhookId = params.webhookId.toLowerCase();
    const replayed = named(await services.webhooks.replay(caller.tenantId, webhookId, whatToReplay(body)));
    return replayed.ok ? reply(200, replayed.value) : replayed;
  },
});
