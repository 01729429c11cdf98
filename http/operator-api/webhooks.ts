import * as v from 'valibot';
import { EVENT_TYPES } from '../../actors/tenants/tenant-event.ts';
import { boundedArray } from '../contract/bounded-array.ts';
import { closedObject } from '../contract/closed-object.ts';
import { reply } from '../contract/endpoint.ts';
import { headerLines } from '../contract/exchange.ts';
import { objectId, utcDateTime } from '../contract/fields.ts';
import { mediaUri } from '../contract/media-uri.ts';
import { limitParameter } from '../contract/query-parameters.ts';
import { cursorPage } from '../contract/resources.ts';
import { operatorEndpoint } from './services.ts';
import {
  attemptsExample,
  freshWebhook,
  freshWebhookExample,
  webhook,
  webhookAttempts,
  webhookExample,
} from './webhook-resources.ts';

const url = v.pipe(mediaUri, v.description('At https, at a public address and port 443.'));
/** Said of an empty list: its endpoint would be sent nothing, which is what `disabled` is for. */
const NOT_NONE = 'must have at least 1 item; null is for all';
const types = v.pipe(
  v.nullable(v.pipe(boundedArray(v.picklist(EVENT_TYPES), { max: 100 }), v.minLength(1, NOT_NONE))),
  v.description('The types of event that it is sent; null: all.'),
);
const shops = v.pipe(
  v.nullable(v.pipe(boundedArray(objectId, { max: 1_000 }), v.minLength(1, NOT_NONE))),
  v.description('The shops whose events it is sent; null: all.'),
);
/** An endpoint may take 15 s to answer a test. */
const TEST_TIMEOUT_MS = 20_000;

/** POST /tenants/{tenantId}/webhooks */
export const createWebhook = operatorEndpoint({
  name: 'createWebhook',
  method: 'POST',
  path: '/tenants/{tenantId}/webhooks',
  role: 'admin',
  tag: 'Webhooks',
  summary: "Send a tenant's events to an address from now on; its secret is shown here and never again",
  body: closedObject({ url, types: v.optional(types, null), shops: v.optional(shops, null) }),
  bodyExample: { url: 'https://example.com/hooks', types: ['message.failed'] },
  replies: {
    201: {
      description: 'The webhook with its secret.',
      data: freshWebhook,
      headers: { Location: "The list of the tenant's webhooks." },
      example: freshWebhookExample,
    },
  },
  errors: ['NOT_FOUND', 'CONFLICT'],
  async handle({ params, body, services }) {
    const made = await services.webhooks.create(params.tenantId, {
      url: body.url,
      types: body.types ?? null,
      shops: body.shops ?? null,
    });
    if (!made.ok) return made;
    const location = headerLines({ Location: `/admin/v1/tenants/${params.tenantId}/webhooks` });
    return reply(201, { ...made.value.webhook, secret: made.value.secret }, location);
  },
});

/** GET /tenants/{tenantId}/webhooks */
export const listWebhooks = operatorEndpoint({
  name: 'listWebhooks',
  method: 'GET',
  path: '/tenants/{tenantId}/webhooks',
  role: 'read',
  tag: 'Webhooks',
  summary: "List a tenant's webhooks and how each stands",
  replies: {
    200: {
      description: 'All of them, without their secrets.',
      data: cursorPage(webhook),
      example: { items: [webhookExample], nextCursor: null },
    },
  },
  errors: ['NOT_FOUND'],
  async handle({ params, services }) {
    const listed = await services.webhooks.list(params.tenantId);
    return listed.ok ? reply(200, { items: listed.value, nextCursor: null }) : listed;
  },
});

/** PATCH /tenants/{tenantId}/webhooks/{webhookId} */
export const changeWebhook = operatorEndpoint({
  name: 'changeWebhook',
  method: 'PATCH',
  path: '/tenants/{tenantId}/webhooks/{webhookId}',
  role: 'admin',
  tag: 'Webhooks',
  summary: 'Change what a webhook is sent and where, disable it, or enable it again',
  description:
    'One that is enabled goes on where it stopped, as far as events are kept. One whose secret no key opens needs a new secret first.',
  body: closedObject({
    url: v.optional(url),
    types: v.optional(types),
    shops: v.optional(shops),
    disabled: v.optional(v.boolean()),
  }),
  bodyExample: { disabled: false },
  replies: { 200: { description: 'The webhook.', data: webhook, example: webhookExample } },
  errors: ['NOT_FOUND', 'CONFLICT'],
  async handle({ params, body, services }) {
    const changed = await services.webhooks.change(params.tenantId, params.webhookId, body);
    return changed.ok ? reply(200, changed.value) : changed;
  },
});

/** DELETE /tenants/{tenantId}/webhooks/{webhookId} */
export const deleteWebhook = operatorEndpoint({
  name: 'deleteWebhook',
  method: 'DELETE',
  path: '/tenants/{tenantId}/webhooks/{webhookId}',
  role: 'admin',
  tag: 'Webhooks',
  summary: 'Erase a webhook',
  body: closedObject({}),
  replies: {
    200: {
      description: 'It is gone.',
      data: v.strictObject({ id: v.string(), deleted: v.literal(true) }),
      example: { id: webhookExample.id, deleted: true },
    },
  },
  errors: ['NOT_FOUND'],
  async handle({ params, services }) {
    const removed = await services.webhooks.remove(params.tenantId, params.webhookId);
    return removed.ok ? reply(200, removed.value) : removed;
  },
});

/** POST /tenants/{tenantId}/webhooks/{webhookId}/rotate-secret */
export const rotateWebhookSecret = operatorEndpoint({
  name: 'rotateWebhookSecret',
  method: 'POST',
  path: '/tenants/{tenantId}/webhooks/{webhookId}/rotate-secret',
  role: 'admin',
  tag: 'Webhooks',
  summary: 'Give a webhook a new secret; the old one signs beside it for 24 hours',
  body: closedObject({}),
  replies: {
    200: {
      description: 'The webhook with its new secret.',
      data: freshWebhook,
      example: freshWebhookExample,
    },
  },
  errors: ['NOT_FOUND'],
  async handle({ params, services }) {
    const rotated = await services.webhooks.rotateSecret(params.tenantId, params.webhookId);
    return rotated.ok ? reply(200, { ...rotated.value.webhook, secret: rotated.value.secret }) : rotated;
  },
});

/** POST /tenants/{tenantId}/webhooks/{webhookId}/test */
export const testWebhook = operatorEndpoint({
  name: 'testWebhook',
  method: 'POST',
  path: '/tenants/{tenantId}/webhooks/{webhookId}/test',
  role: 'operate',
  tag: 'Webhooks',
  summary: 'Send an event `webhook.test` once, and say what came of it',
  body: closedObject({}),
  replies: {
    200: {
      description: 'What the endpoint answered; `error` is null where it took the event.',
      data: v.strictObject({ status: v.nullable(v.number()), error: v.nullable(v.string()) }),
      example: { status: 204, error: null },
    },
  },
  errors: ['NOT_FOUND'],
  forwardTimeoutMs: TEST_TIMEOUT_MS,
  async handle({ params, services }) {
    const tested = await services.webhooks.test(params.tenantId, params.webhookId);
    return tested.ok ? reply(200, tested.value) : tested;
  },
});

/** GET /tenants/{tenantId}/webhooks/{webhookId}/attempts */
export const listWebhookAttempts = operatorEndpoint({
  name: 'listWebhookAttempts',
  method: 'GET',
  path: '/tenants/{tenantId}/webhooks/{webhookId}/attempts',
  role: 'read',
  tag: 'Webhooks',
  summary: 'What came of the last tries, newest first, and which events were given up',
  description: "At least 2,000 tries of all a tenant's webhooks together are kept.",
  query: { limit: limitParameter },
  replies: {
    200: { description: 'The tries.', data: webhookAttempts, example: attemptsExample },
  },
  errors: ['NOT_FOUND'],
  async handle({ params, query, services }) {
    const listed = await services.webhooks.attempts(params.tenantId, params.webhookId, query.limit);
    return listed.ok ? reply(200, listed.value) : listed;
  },
});

/** POST /tenants/{tenantId}/webhooks/{webhookId}/replay */
export const replayWebhook = operatorEndpoint({
  name: 'replayWebhook',
  method: 'POST',
  path: '/tenants/{tenantId}/webhooks/{webhookId}/replay',
  role: 'operate',
  tag: 'Webhooks',
  summary: 'Send events once more: those that are named, or the first 200 since a moment',
  description:
    'Under their own ids, and whatever became of them before. What is kept no more is passed over. Refused where more than 400 events would wait.',
  body: v.pipe(
    closedObject({
      eventIds: v.optional(boundedArray(objectId, { max: 200 })),
      since: v.optional(utcDateTime),
    }),
    v.check(
      ({ eventIds, since }) => (eventIds === undefined) !== (since === undefined),
      'must hold either eventIds or since',
    ),
  ),
  bodyExample: { since: '2027-01-31T12:00:00Z' },
  replies: {
    200: {
      description: 'They are on their way.',
      data: v.strictObject({ replayed: v.number() }),
      example: { replayed: 12 },
    },
  },
  errors: ['NOT_FOUND', 'CONFLICT'],
  async handle({ params, body, services }) {
    const { eventIds, since } = body;
    const what =
      eventIds === undefined ? { sinceMs: Date.parse(since ?? '') } : { eventIds: [...new Set(eventIds)] };
    const replayed = await services.webhooks.replay(params.tenantId, params.webhookId, what);
    return replayed.ok ? reply(200, replayed.value) : replayed;
  },
});
