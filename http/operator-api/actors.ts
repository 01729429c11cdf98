import * as v from 'valibot';
import { done } from '../../actors/failure.ts';
import type { OperatorOperations } from '../../actors/operators/operator-operations.ts';
import { STATUS_WORDS } from '../../actors/shops/inspection/shop-summary.ts';
import {
  QUEUE_CANCELLATION_EXAMPLE,
  QUEUE_CANCELLED,
  queueCancellation,
  queueFilter,
} from '../bodies/queue-cancellation.ts';
import { closedObject } from '../contract/closed-object.ts';
import { LONG_FORWARD_TIMEOUT_MS } from '../contract/endpoint.ts';
import { idInEitherCase, text } from '../contract/fields.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { limitParameter } from '../contract/query-parameters.ts';
import { ACTOR_SORTS } from '../owner/forwarded-form.ts';
import { shopActor, shopActorExample, shopInspection, shopInspectionExample } from './schemas/shop-actors.ts';
import { operatorEndpoint } from './services.ts';

/**
 * A cursor of the list of actors. It has the rank and the id of the last one, because ranks change between two pages.
 */
const actorCursor = v.pipe(
  v.string(),
  v.regex(/^\d+~[^~]{1,100}$/, 'must be a nextCursor of this list'),
  v.transform((value) => {
    const [rank = '', id = ''] = value.split('~');
    return { rank: Number(rank), id };
  }),
);

export const listActors = operatorEndpoint({
  name: 'listActors',
  method: 'GET',
  path: '/actors',
  role: 'read',
  tag: 'Actors',
  summary: 'The active shop actors of all nodes',
  query: {
    sort: v.optional(v.picklist(ACTOR_SORTS), 'mailbox'),
    state: v.optional(v.picklist(STATUS_WORDS)),
    q: v.optional(
      v.pipe(
        v.string(),
        v.description(
          'A part of the id, the name or the number. A number may have signs between its digits, and 00 for +.',
        ),
      ),
    ),
    limit: limitParameter,
    cursor: v.optional(actorCursor),
  },
  replies: {
    200: {
      description: 'A page of snapshots.',
      data: v.strictObject({
        ...cursorPage(shopActor).entries,
        silentNodes: v.pipe(
          v.array(v.string()),
          v.description('Nodes that did not answer: their actors are missing.'),
        ),
      }),
      example: { items: [shopActorExample], nextCursor: null, silentNodes: [] },
    },
  },
  async handle({ query, services }) {
    const { limit, cursor: after, ...filter } = query;
    const { actors, silentNodes } = await services.actors({ ...filter, limit: limit + 1, after });
    const page = actors.slice(0, limit);
    const lastActor = page.at(-1);
    const hasMore = actors.length > limit && lastActor !== undefined;
    return done({
      items: page.map(({ actor }) => actor),
      nextCursor: hasMore ? `${lastActor.rank}~${lastActor.id}` : null,
      silentNodes,
    });
  },
});

export const readActor = operatorEndpoint({
  name: 'readActor',
  method: 'GET',
  path: '/actors/{tenantId}/{shopId}',
  role: 'read',
  tag: 'Actors',
  summary: "A shop actor's snapshot, taken between two turns",
  replies: { 200: { description: 'The snapshot.', data: shopInspection, example: shopInspectionExample } },
  errors: ['NOT_FOUND'],
  handle: ({ params, services }) => services.operators.inspectShop(params),
});

/** The operations that are the last segment of a route. */
const ACTIONS = ['pause', 'resume', 'restart'] as const satisfies readonly (keyof OperatorOperations)[];

export const steerActor = ACTIONS.map((action) =>
  operatorEndpoint({
    name: `${action}Actor`,
    method: 'POST',
    path: `/actors/{tenantId}/{shopId}/${action}` as const,
    role: 'operate',
    tag: 'Actors',
    summary: `${action[0]?.toUpperCase()}${action.slice(1)} a shop's actor`,
    body: closedObject({}),
    replies: {
      200: { description: 'The snapshot afterwards.', data: shopInspection, example: shopInspectionExample },
    },
    errors: ['NOT_FOUND'],
    handle: ({ params, services }) => services.operators[action](params),
  }),
);

export const passivateActor = operatorEndpoint({
  name: 'passivateActor',
  method: 'POST',
  path: '/actors/{tenantId}/{shopId}/passivate',
  role: 'operate',
  tag: 'Actors',
  summary: "Take a shop's actor out of memory, when it has nothing to do",
  body: closedObject({}),
  replies: {
    200: {
      description: 'It has left memory. The next call loads it again.',
      data: v.strictObject({ passivated: v.literal(true) }),
      example: { passivated: true },
    },
  },
  errors: ['NOT_FOUND', 'CONFLICT'],
  handle: ({ params: { tenantId, shopId }, services }) => services.operators.passivate({ tenantId, shopId }),
});

export const cancelShopQueue = operatorEndpoint({
  name: 'cancelShopQueue',
  method: 'POST',
  path: '/actors/{tenantId}/{shopId}/queue/cancel',
  role: 'operate',
  tag: 'Actors',
  summary: "Cancel messages that wait in a shop's queue, on behalf of its tenant",
  body: queueCancellation,
  bodyExample: QUEUE_CANCELLATION_EXAMPLE,
  replies: QUEUE_CANCELLED,
  errors: ['NOT_FOUND', 'SHOP_NOT_FOUND'],
  forwardTimeoutMs: LONG_FORWARD_TIMEOUT_MS,
  handle: ({ params, body, services }) => services.shops.cancelQueue(params, queueFilter(body)),
});

export const resumeAll = operatorEndpoint({
  name: 'resumeAll',
  method: 'POST',
  path: '/resume-all',
  role: 'operate',
  tag: 'Actors',
  summary: 'Resume all suspended shops and tenants, or those that a filter names',
  description:
    'Starts each matching actor again. An actor whose cause persists is suspended again; the call does not wait for that. A queue that an operator paused stays paused. A call resumes up to 200 actors on each node; `left` is the number of matching actors that need another call. `cause` is part of the last error of the actor, as it is shown, in any letter case. An actor that was suspended on another node has no known cause and matches none.',
  body: closedObject({
    tenant: v.optional(idInEitherCase),
    cause: v.optional(text({ min: 1, max: 200 })),
  }),
  bodyExample: { cause: 'SyntaxError' },
  replies: {
    200: {
      description: 'How many were started again.',
      data: v.strictObject({
        resumed: v.number(),
        left: v.number(),
        silentNodes: v.array(v.string()),
      }),
      example: { resumed: 12, left: 0, silentNodes: [] },
    },
  },
  async handle({ body, services }) {
    return done(await services.resumeAll({ tenantId: body.tenant, cause: body.cause }));
  },
});
