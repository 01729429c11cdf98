import { API_BASE_PATH } from '../../actors/api-base-path.ts';
import {
  type Failed,
  type FailureCode,
  failed,
  mapOutcome,
  type Outcome,
  renamedFailure,
} from '../../actors/failure.ts';
import { EVENT_TYPES } from '../../actors/tenants/tenant-event.ts';
import type { Caller } from '../../actors/tenants/tenant-operations.ts';
import type { WebhookOutcome } from '../../actors/webhooks/webhook-operations.ts';
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

type EventType = (typeof EVENT_TYPES)[number];

/** The type of inbound messages. */
const INBOUND: EventType = 'message.received';
const OTHERS = EVENT_TYPES.filter((type) => type !== INBOUND);
const REFUSED = `Only a key with inbound.read may say where ${INBOUND} is sent.`;

/**
 * Returns the types that a key may have sent to an address. Without `inbound.read`, null becomes every type except
 * inbound messages, and naming that type is refused.
 */
function typesFor(
  { permissions }: Pick<Caller, 'permissions'>,
  types: readonly EventType[] | null,
): Outcome<readonly EventType[] | null, 'FORBIDDEN_PERMISSION'> {
  if (permissions.has('inbound.read')) return { ok: true, value: types };
  if (types?.includes(INBOUND)) return failed('FORBIDDEN_PERMISSION', { message: REFUSED });
  return { ok: true, value: types ?? OTHERS };
}

/** Refuses a key that may not move a webhook with these types to another address. */
function mayMove(
  caller: Pick<Caller, 'permissions'>,
  types: readonly string[] | null,
): Outcome<true, 'FORBIDDEN_PERMISSION'> {
  const includesInbound = types === null || types.includes(INBOUND);
  if (!includesInbound || caller.permissions.has('inbound.read')) return { ok: true, value: true };
  return failed('FORBIDDEN_PERMISSION', { message: REFUSED });
}

/** Asks for the webhook of a path. Names it in the error if it does not exist, or is another tenant's. */
async function named<Value, Code extends FailureCode = never>(
  { caller, params }: { readonly caller: Caller; readonly params: { readonly webhookId: string } },
  ask: (tenantId: string, webhookId: string) => Promise<WebhookOutcome<Value, Code>>,
): Promise<Outcome<Value, 'WEBHOOK_NOT_FOUND' | Code>> {
  const outcome = await ask(caller.tenantId, params.webhookId.toLowerCase());
  if (outcome.ok) return outcome;
  return outcome.failure.code === 'NOT_FOUND' ? failed('WEBHOOK_NOT_FOUND') : (outcome as Failed<Code>);
}

/** A tenant that was erased meanwhile has no webhooks and no keys. */
const OF_ERASED = { from: 'NOT_FOUND', to: 'API_KEY_INVALID' } as const;

export const listWebhooks = apiEndpoint({
  name: 'listWebhooks',
  method: 'GET',
  path: '/webhooks',
  tag: 'Webhooks',
  summary: 'List the webhooks and their state',
  description: 'All of them on one page, including those that operators made. Secrets are left out.',
  permission: 'webhooks.read',
  replies: {
    200: WEBHOOK_REPLIES.listed,
  },
  async handle({ caller, services }) {
    const listed = await services.webhooks.list(caller.tenantId);
    return mapOutcome(renamedFailure(listed, OF_ERASED), (items) => ({ items, nextCursor: null }));
  },
});

export const createWebhook = apiEndpoint({
  name: 'createWebhook',
  method: 'POST',
  path: '/webhooks',
  tag: 'Webhooks',
  summary: 'Send events to an address from now on. Its secret is shown only here',
  description:
    'An account that has 20 webhooks, its own and those that operators made, is refused `WEBHOOK_LIMIT_REACHED`. For a key without `inbound.read` null is every type but `message.received`, and naming that is `FORBIDDEN_PERMISSION`.',
  permission: 'webhooks.write',
  ...newWebhook,
  replies: {
    201: { ...WEBHOOK_REPLIES.created, headers: { Location: 'The webhook.' } },
  },
  errors: ['WEBHOOK_LIMIT_REACHED', 'FORBIDDEN_PERMISSION'],
  async handle({ caller, body, services }) {
    const { url, shops = null } = body;
    const types = typesFor(caller, body.types ?? null);
    if (!types.ok) return types;
    const draft = { url, types: types.value, shops };
    const created = await services.webhooks.create(caller.tenantId, draft, 'tenant');
    const made = renamedFailure(created, OF_ERASED);
    if (!made.ok) return made;
    return reply(201, made.value, headerLines({ Location: `${API_BASE_PATH}/webhooks/${made.value.id}` }));
  },
});

export const readWebhook = apiEndpoint({
  name: 'readWebhook',
  method: 'GET',
  path: '/webhooks/{webhookId}',
  tag: 'Webhooks',
  summary: 'Read a webhook and its state',
  permission: 'webhooks.read',
  replies: { 200: WEBHOOK_REPLIES.webhook },
  errors: ['WEBHOOK_NOT_FOUND'],
  handle: (request) => named(request, request.services.webhooks.read),
});

export const changeWebhook = apiEndpoint({
  name: 'changeWebhook',
  method: 'PATCH',
  path: '/webhooks/{webhookId}',
  tag: 'Webhooks',
  summary: 'Change what a webhook is sent and where, disable it, or enable it again',
  permission: 'webhooks.write',
  ...changedWebhook,
  replies: { 200: WEBHOOK_REPLIES.webhook },
  errors: ['WEBHOOK_NOT_FOUND', 'CONFLICT', 'FORBIDDEN_PERMISSION'],
  async handle(request) {
    const { caller, body, services } = request;
    const types = body.types === undefined ? undefined : typesFor(caller, body.types);
    if (types?.ok === false) return types;
    const asked = types === undefined ? body : { ...body, types: types.value };
    if (body.url !== undefined) {
      const present = await named(request, services.webhooks.read);
      if (!present.ok) return present;
      const moved = mayMove(caller, present.value.types);
      if (!moved.ok) return moved;
    }
    return named(request, (...ids) => services.webhooks.change(...ids, asked, 'tenant'));
  },
});

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
  handle: (request) => named(request, request.services.webhooks.remove),
});

export const rotateWebhookSecret = apiEndpoint({
  name: 'rotateWebhookSecret',
  method: 'POST',
  path: '/webhooks/{webhookId}/rotate-secret',
  tag: 'Webhooks',
  summary: 'Give a webhook a new secret. The old one also signs for 24 hours',
  permission: 'webhooks.write',
  body: closedObject({}),
  replies: { 200: WEBHOOK_REPLIES.rotated },
  errors: ['WEBHOOK_NOT_FOUND'],
  handle: (request) => named(request, request.services.webhooks.rotateSecret),
});

export const testWebhook = apiEndpoint({
  name: 'testWebhook',
  method: 'POST',
  path: '/webhooks/{webhookId}/test',
  tag: 'Webhooks',
  summary: 'Send an event `webhook.test` once, and return the result',
  permission: 'webhooks.write',
  body: closedObject({}),
  replies: { 200: WEBHOOK_REPLIES.tested },
  errors: ['WEBHOOK_NOT_FOUND'],
  forwardTimeoutMs: TEST_TIMEOUT_MS,
  handle: (request) => named(request, request.services.webhooks.test),
});

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
  handle: (request) =>
    named(request, (...ids) => request.services.webhooks.attempts(...ids, request.query.limit)),
});

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
  handle: (request) =>
    named(request, (...ids) => request.services.webhooks.replay(...ids, whatToReplay(request.body))),
});
