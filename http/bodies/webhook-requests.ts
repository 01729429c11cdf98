import * as v from 'valibot';
import { freshWebhook, webhook, webhookAttempts } from '../../actors/reply-schemas/webhook-schemas.ts';
import { EVENT_TYPES } from '../../actors/tenants/stored-events/tenant-event.ts';
import { MOST_REPLAYED, type ReplaySelection } from '../../actors/webhooks/webhook-operations.ts';
import { boundedArray } from '../contract/bounded-array.ts';
import { closedObject } from '../contract/closed-object.ts';
import { idInEitherCase, objectId, utcDateTime } from '../contract/fields.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { mediaUri } from '../contract/media-uri.ts';
import { limitParameter } from '../contract/query-parameters.ts';
import { EXAMPLES } from './examples.ts';

const webhookExample = {
  id: '66b1f0a2c3d4e5f60718290a',
  url: 'https://example.com/hooks',
  types: ['message.failed', 'channel.session_lost'],
  shops: null,
  createdAt: '2027-01-31T12:00:00.000Z',
  disabledAt: null,
  disabledBy: null,
  formerSecretUntil: null,
  failingSince: null,
  waiting: 0,
  deadLetters: 0,
  missedUntil: null,
};

const newWebhookExample = { url: 'https://example.com/hooks', types: ['message.failed' as const] };

const freshWebhookExample = { ...webhookExample, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw…' };

const attemptsExample = {
  items: [
    {
      eventId: EXAMPLES.event.id,
      type: EXAMPLES.event.type,
      at: '2027-01-31T12:00:15.000Z',
      durationMs: 81,
      number: 1,
      status: 204,
      error: null,
      isDead: false,
    },
  ],
  deadLetters: [],
};

const url = v.pipe(mediaUri, v.description('At https, at a public address and port 443.'));
/** The message for an empty list. Such a webhook would get nothing, and `disabled` exists for that. */
const NOT_NONE = 'must have at least 1 item; null is for all';
const types = v.pipe(
  v.nullable(v.pipe(boundedArray(v.picklist(EVENT_TYPES), { max: 100 }), v.minLength(1, NOT_NONE))),
  v.description('The types of events that are sent to it. Null: all.'),
);
const shopIds = boundedArray(idInEitherCase, { max: 1_000 });
const shops = v.pipe(
  v.nullable(v.pipe(shopIds, v.minLength(1, NOT_NONE))),
  v.description('The shops whose events are sent to it. Null: all.'),
);
/** An empty list is accepted if the webhook has one, so that a caller may send back all that a reply shows. */
const changedShops = v.pipe(
  v.nullable(shopIds),
  v.description(
    'The shops whose events are sent to it. Null: all. Empty: only if it is empty now; this changes nothing.',
  ),
);

export const SHOWN_WEBHOOK = { description: 'The webhook.', data: webhook, example: webhookExample } as const;

export const CREATED_WEBHOOK = {
  description: 'The webhook with its secret.',
  data: freshWebhook,
  example: freshWebhookExample,
} as const;

const replayedEvents = v.pipe(
  closedObject({
    eventIds: v.optional(boundedArray(objectId, { max: MOST_REPLAYED })),
    since: v.optional(
      v.pipe(
        utcDateTime,
        v.description(
          `In UTC. The first ${MOST_REPLAYED} events since then are sent. For more, repeat the call with the time of the last one.`,
        ),
      ),
    ),
  }),
  v.check(
    ({ eventIds, since }) => (eventIds === undefined) !== (since === undefined),
    'must hold either eventIds or since',
  ),
  v.metadata({ minProperties: 1, maxProperties: 1 }),
);

/** Returns the named events, each once, or the moment from which on all are meant. */
export function whatToReplay({ eventIds, since }: v.InferOutput<typeof replayedEvents>): ReplaySelection {
  return eventIds === undefined
    ? { kind: 'since', sinceMs: Date.parse(since ?? '') }
    : { kind: 'events', eventIds: [...new Set(eventIds)] };
}

/** The parts of each call that the APIs of tenants and operators share. */
export const WEBHOOK_CALLS = {
  create: {
    name: 'createWebhook',
    method: 'POST',
    tag: 'Webhooks',
    body: closedObject({ url, types: v.optional(types, null), shops: v.optional(shops, null) }),
    bodyExample: newWebhookExample,
  },
  list: {
    name: 'listWebhooks',
    method: 'GET',
    tag: 'Webhooks',
    replies: {
      200: {
        description: 'All of them, without their secrets.',
        data: cursorPage(webhook),
        example: { items: [webhookExample], nextCursor: null },
      },
    },
  },
  change: {
    name: 'changeWebhook',
    method: 'PATCH',
    tag: 'Webhooks',
    summary: 'Change the address, types or shops of a webhook, or disable or enable it',
    description:
      'An enabled webhook continues after its last event, as long as events are kept. If the service cannot decrypt its secret, give it a new secret first.',
    body: closedObject({
      url: v.optional(url),
      types: v.optional(types),
      shops: v.optional(changedShops),
      disabled: v.optional(v.boolean()),
    }),
    bodyExample: { disabled: false },
    replies: { 200: SHOWN_WEBHOOK },
  },
  remove: {
    name: 'deleteWebhook',
    method: 'DELETE',
    tag: 'Webhooks',
    body: closedObject({}),
    replies: {
      200: {
        description: 'The webhook is deleted.',
        data: v.strictObject({ id: v.string(), deleted: v.literal(true) }),
        example: { id: webhookExample.id, deleted: true },
      },
    },
  },
  rotateSecret: {
    name: 'rotateWebhookSecret',
    method: 'POST',
    tag: 'Webhooks',
    summary: 'Give a webhook a new secret. The old one also signs for 24 hours',
    body: closedObject({}),
    replies: {
      200: {
        description: 'The webhook with its new secret.',
        data: freshWebhook,
        example: freshWebhookExample,
      },
    },
  },
  test: {
    name: 'testWebhook',
    method: 'POST',
    tag: 'Webhooks',
    summary: 'Send an event `webhook.test` once, and return the result',
    body: closedObject({}),
    replies: {
      200: {
        description: "The endpoint's answer. `error` is null if it accepted the event.",
        data: v.strictObject({ status: v.nullable(v.number()), error: v.nullable(v.string()) }),
        example: { status: 204, error: null },
      },
    },
    // An endpoint may take 15 s to answer.
    forwardTimeoutMs: 20_000,
  },
  attempts: {
    name: 'listWebhookAttempts',
    method: 'GET',
    tag: 'Webhooks',
    summary: 'List the last attempts, newest first, and the events for which every attempt failed',
    query: { limit: limitParameter },
    replies: { 200: { description: 'The attempts.', data: webhookAttempts, example: attemptsExample } },
  },
  replay: {
    name: 'replayWebhook',
    method: 'POST',
    tag: 'Webhooks',
    summary: `Send events again: those with the given ids, or the first ${MOST_REPLAYED} since a time`,
    description:
      'The events keep their ids. Events that were delivered before are sent again too. Events that are no longer kept are skipped. The call is refused if more than 400 events would be pending.',
    body: replayedEvents,
    bodyExample: { since: '2027-01-31T12:00:00Z' },
    replies: {
      200: {
        description: 'The events are queued for delivery.',
        data: v.strictObject({ replayed: v.number() }),
        example: { replayed: 12 },
      },
    },
  },
} as const;
