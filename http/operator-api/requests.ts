import * as v from 'valibot';
import { done } from '../../actors/failure.ts';
import { idInEitherCase, utcDateTime } from '../contract/fields.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { booleanParameter, integerParameter, limitParameter } from '../contract/query-parameters.ts';
import { isRequestCursor } from '../request-log/request-log-cursor.ts';
import { loggedRequest } from '../request-log/request-log-entry.ts';
import { refusalCount } from '../request-log/request-log-reader.ts';
import { operatorEndpoint } from './services.ts';

export const listRequests = operatorEndpoint({
  name: 'listRequests',
  method: 'GET',
  path: '/requests',
  role: 'read',
  tag: 'Requests',
  summary: 'The request log, newest first',
  description:
    'If few entries match a filter, a page may have fewer items than `limit` and still a `nextCursor`.',
  query: {
    tenant: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^([0-9a-fA-F]{24}|nobody)$/, 'must be a tenant id, or nobody'),
        v.transform((value) => value.toLowerCase()),
      ),
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
  async handle({ query, services }) {
    const { tenant, status, route, code, refused = false, after, limit, cursor } = query;
    const afterMs = after === undefined ? undefined : Date.parse(after);
    const filter = { tenantId: tenant, status, route, code, mustBeRefused: refused, afterMs };
    const page = await services.requests({ ...filter, limit, cursor });
    return done(page);
  },
});

export const countRefusals = operatorEndpoint({
  name: 'countRefusals',
  method: 'GET',
  path: '/refusals',
  role: 'read',
  tag: 'Requests',
  summary: "A tenant's refused calls of the last quarter of an hour, counted by code, the newest first",
  query: { tenant: idInEitherCase },
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
  async handle({ query, services }) {
    return done(await services.countRefusals(query.tenant));
  },
});
