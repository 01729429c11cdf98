import * as v from 'valibot';
import type { OperatorOperations } from '../../actors/operators/operator-operations.ts';
import type { ShopReference } from '../../actors/shop/record/shop-operations.ts';
import { closedObject } from '../contract/closed-object.ts';
import { reply } from '../contract/endpoint.ts';
import { utcDateTime } from '../contract/fields.ts';
import {
  booleanParameter,
  cursorParameter,
  integerParameter,
  limitParameter,
} from '../contract/query-parameters.ts';
import { cursorPage } from '../contract/resources.ts';
import { ACTOR_SORTS } from '../owner/forwarded-form.ts';
import { isRequestCursor } from '../request-log/request-log-reader.ts';
import {
  deadLetter,
  deadLetterExample,
  node,
  nodeExample,
  shopActor,
  shopActorExample,
  shopInspection,
  shopInspectionExample,
} from './fleet-resources.ts';
import { loggedRequest, refusalCount } from './resources.ts';
import { operatorEndpoint } from './services.ts';

/** GET /requests */
export const listRequests = operatorEndpoint({
  name: 'listRequests',
  method: 'GET',
  path: '/requests',
  role: 'read',
  tag: 'Requests',
  summary: 'The request log, newest first',
  description: 'A page may hold fewer items than `limit` and still have a next one, where a filter is rare.',
  query: {
    tenant: v.optional(
      v.pipe(v.string(), v.regex(/^([0-9a-f]{24}|nobody)$/, 'must be a tenant id, or nobody')),
    ),
    status: v.optional(integerParameter({ min: 100, max: 599 })),
    route: v.optional(v.string()),
    code: v.optional(v.string()),
    refused: v.optional(booleanParameter),
    after: v.optional(utcDateTime),
    limit: limitParameter,
    cursor: v.optional(v.pipe(v.string(), v.check(isRequestCursor, 'must be a nextCursor of this list'))),
  },
  replies: {
    200: {
      description: 'A page of requests.',
      data: cursorPage(loggedRequest),
      example: {
        items: [
          {
            at: '2027-01-31T12:00:00.000Z',
            requestId: '66b1f0a2c3d4e5f607182907',
            tenantId: '66b1f0a2c3d4e5f607182906',
            keyId: '66b1f0a2c3d4e5f607182905',
            method: 'POST',
            route: '/shops/{idOrName}/messages',
            status: 202,
            latencyMs: 3.21,
            ip: '203.0.113.7',
            code: null,
            traceparent: null,
          },
        ],
        nextCursor: null,
      },
    },
  },
  errors: [],
  async handle({ query, services }) {
    const { tenant, status, route, code, refused = false, after, limit, cursor } = query;
    const afterMs = after === undefined ? undefined : Date.parse(after);
    const filter = { tenantId: tenant, status, route, code, refused, afterMs };
    const page = await services.requests.list({ ...filter, limit, cursor });
    return reply(200, page);
  },
});

/** GET /refusals */
export const countRefusals = operatorEndpoint({
  name: 'countRefusals',
  method: 'GET',
  path: '/refusals',
  role: 'read',
  tag: 'Requests',
  summary: "A tenant's refused calls of the last quarter of an hour, counted by code, the newest first",
  query: { tenant: v.pipe(v.string(), v.regex(/^[0-9a-f]{24}$/, 'must be a tenant id')) },
  replies: {
    200: {
      description: 'The counts.',
      data: refusalCount,
      example: {
        since: '2027-01-31T11:45:00.000Z',
        items: [
          {
            code: 'RECIPIENT_OPTED_OUT',
            calls: 3,
            lastAt: '2027-01-31T12:00:00.000Z',
            route: '/shops/{idOrName}/messages',
          },
        ],
      },
    },
  },
  errors: [],
  async handle({ query, services }) {
    return reply(200, await services.countRefusals(query.tenant));
  },
});

/** GET /nodes */
export const listNodes = operatorEndpoint({
  name: 'listNodes',
  method: 'GET',
  path: '/nodes',
  role: 'read',
  tag: 'Fleet',
  summary: 'The nodes and what they own',
  replies: {
    200: {
      description: 'All nodes.',
      data: cursorPage(node),
      example: { items: [nodeExample], nextCursor: null },
    },
  },
  errors: [],
  async handle({ services }) {
    return reply(200, { items: await services.fleet.nodes(), nextCursor: null });
  },
});

/** A cursor of the actors' list: rank and id of the last one, since ranks change between two pages. */
const actorCursor = v.pipe(
  v.string(),
  v.regex(/^\d+~[^~]{1,100}$/, 'must be a nextCursor of this list'),
  v.transform((value) => {
    const [rank = '', id = ''] = value.split('~');
    return { rank: Number(rank), id };
  }),
);

/** GET /actors */
export const listActors = operatorEndpoint({
  name: 'listActors',
  method: 'GET',
  path: '/actors',
  role: 'read',
  tag: 'Actors',
  summary: 'The active shop actors of all nodes',
  query: {
    sort: v.optional(v.picklist(ACTOR_SORTS), 'mailbox'),
    state: v.optional(v.string()),
    q: v.optional(v.string()),
    limit: limitParameter,
    cursor: v.optional(actorCursor),
  },
  replies: {
    200: {
      description: 'A page of snapshots.',
      data: cursorPage(shopActor),
      example: { items: [shopActorExample], nextCursor: null },
    },
  },
  errors: [],
  async handle({ query, services }) {
    const { sort, state, q, limit, cursor } = query;
    const ranked = await services.actors({ sort, state, q, limit: limit + 1, after: cursor });
    const page = ranked.slice(0, limit);
    const last = page.at(-1);
    const more = ranked.length > limit && last !== undefined;
    return reply(200, {
      items: page.map(({ actor }) => actor),
      nextCursor: more ? `${last.rank}~${last.id}` : null,
    });
  },
});

/** GET /actors/{tenantId}/{shopId} */
export const readActor = operatorEndpoint({
  name: 'readActor',
  method: 'GET',
  path: '/actors/{tenantId}/{shopId}',
  role: 'read',
  tag: 'Actors',
  summary: "A shop actor's snapshot, taken between two turns",
  replies: { 200: { description: 'The snapshot.', data: shopInspection, example: shopInspectionExample } },
  errors: ['NOT_FOUND', 'SHOP_NOT_FOUND'],
  async handle({ params, services }) {
    const taken = await services.operators.snapshot(params);
    return taken.ok ? reply(200, taken.value) : taken;
  },
});

/** The operation that each route's last segment asks for. */
const ACTIONS = [
  ['pause', 'hold'],
  ['resume', 'resume'],
  ['restart', 'restart'],
] as const satisfies readonly (readonly [segment: string, operation: keyof OperatorOperations])[];

/** POST /actors/{tenantId}/{shopId}/{pause|resume|restart} */
export const steerActor = ACTIONS.map(([action, operation]) =>
  operatorEndpoint({
    name: `${action}Actor`,
    method: 'POST',
    path: `/actors/{tenantId}/{shopId}/${action}`,
    role: 'operate',
    tag: 'Actors',
    summary: `${action[0]?.toUpperCase()}${action.slice(1)} a shop's actor`,
    body: closedObject({}),
    replies: {
      200: { description: 'The snapshot afterwards.', data: shopInspection, example: shopInspectionExample },
    },
    errors: ['NOT_FOUND', 'SHOP_NOT_FOUND', 'CONFLICT'],
    async handle({ params, services }) {
      const { tenantId, shopId } = params as unknown as ShopReference;
      const steered = await services.operators[operation]({ tenantId, shopId });
      return steered.ok ? reply(200, steered.value) : steered;
    },
  }),
);

/** POST /actors/{tenantId}/{shopId}/passivate */
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
      description: 'It is not in memory any more; the next call brings it back.',
      data: v.strictObject({ passivated: v.literal(true) }),
      example: { passivated: true },
    },
  },
  errors: ['NOT_FOUND', 'SHOP_NOT_FOUND', 'CONFLICT'],
  async handle({ params: { tenantId, shopId }, services }) {
    const done = await services.operators.passivate({ tenantId, shopId });
    return done.ok ? reply(200, done.value) : done;
  },
});

/** GET /dead-letters */
export const listDeadLetters = operatorEndpoint({
  name: 'listDeadLetters',
  method: 'GET',
  path: '/dead-letters',
  role: 'read',
  tag: 'Dead letters',
  summary: 'Commands that made an actor throw, newest first',
  query: {
    limit: limitParameter,
    cursor: cursorParameter,
  },
  replies: {
    200: {
      description: 'A page.',
      data: cursorPage(deadLetter),
      example: { items: [deadLetterExample], nextCursor: null },
    },
  },
  errors: [],
  async handle({ query, services }) {
    return reply(200, await services.fleet.deadLetters({ limit: query.limit, cursor: query.cursor }));
  },
});

/** POST /dead-letters/{id}/replay */
export const replayDeadLetter = operatorEndpoint({
  name: 'replayDeadLetter',
  method: 'POST',
  path: '/dead-letters/{id}/replay',
  role: 'operate',
  tag: 'Dead letters',
  summary: 'Give a command to its actor once more',
  body: closedObject({}),
  replies: {
    200: {
      description: 'It went through, or made the actor throw again and so left another.',
      data: v.strictObject({ id: v.string(), replayed: v.literal(true) }),
      example: { id: deadLetterExample.id, replayed: true },
    },
  },
  errors: ['NOT_FOUND', 'CONFLICT'],
  async handle({ params, services }) {
    const replayed = await services.fleet.replayDeadLetter(params.id);
    return replayed.ok ? reply(200, replayed.value) : replayed;
  },
});
