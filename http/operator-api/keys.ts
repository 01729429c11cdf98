import * as v from 'valibot';
import { isAddressRange } from '../../actors/address-range.ts';
import { mapOutcome } from '../../actors/failure.ts';
import { PERMISSIONS } from '../../actors/permission.ts';
import { freshKey, key } from '../../actors/reply-schemas/account-schemas.ts';
import { DEFAULT_RATE_LIMITS, RATE_LIMIT_RANGE } from '../../policy/limits/key-limits.ts';
import { boundedArray } from '../contract/bounded-array.ts';
import { closedObject } from '../contract/closed-object.ts';
import { reply } from '../contract/endpoint.ts';
import { headerLines } from '../contract/exchange.ts';
import { name, utcDateTime } from '../contract/fields.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { OPERATOR_BASE_PATH } from './base-path.ts';
import { keyExample } from './resources.ts';
import { operatorEndpoint } from './services.ts';

const { floor, roof } = RATE_LIMIT_RANGE;
const limit = v.pipe(
  v.number(),
  v.integer('must be a whole number'),
  v.minValue(floor, `must be at least ${floor}`),
  v.maxValue(roof, `must be at most ${roof}`),
);

const freshKeyExample = { ...keyExample, key: 'tm_live_4Zx…' };

export const createKey = operatorEndpoint({
  name: 'createKey',
  method: 'POST',
  path: '/tenants/{tenantId}/keys',
  role: 'admin',
  tag: 'Keys',
  summary: 'Create a key. Its value is shown only here',
  body: closedObject({
    name: name({ max: 100 }),
    permissions: boundedArray(v.picklist(PERMISSIONS), { max: 100 }),
    expiresAt: v.optional(
      v.pipe(
        v.nullable(utcDateTime),
        v.description(
          'Null: never. A time in the past is accepted; calls with the key then get `API_KEY_EXPIRED`.',
        ),
      ),
    ),
    ipAllowlist: v.optional(
      v.pipe(
        boundedArray(v.pipe(v.string(), v.check(isAddressRange, 'must be an IP address or a CIDR range')), {
          max: 100,
        }),
        v.maxLength(100, 'must have at most 100 items'),
        v.description(
          'Empty: from anywhere. A range covers only its own family: `::/0` admits no IPv4 address.',
        ),
      ),
    ),
    limits: v.optional(
      closedObject({ minute: v.optional(limit), hour: v.optional(limit), day: v.optional(limit) }),
    ),
  }),
  bodyExample: { name: 'order notifications', permissions: ['messages.send', 'messages.read'] },
  replies: {
    201: {
      description: 'The key with its value.',
      data: freshKey,
      headers: { Location: "The list of the tenant's keys." },
      example: freshKeyExample,
    },
  },
  errors: ['NOT_FOUND'],
  async handle({ params, body, services }) {
    const { minute, hour, day } = DEFAULT_RATE_LIMITS;
    const givenLimits = body.limits ?? {};
    const creation = await services.operators.createKey(params.tenantId, {
      name: body.name,
      permissions: [...new Set(body.permissions)],
      expiresAt: body.expiresAt ?? null,
      ipAllowlist: body.ipAllowlist ?? [],
      limits: {
        minute: givenLimits.minute ?? minute,
        hour: givenLimits.hour ?? hour,
        day: givenLimits.day ?? day,
      },
    });
    if (!creation.ok) return creation;
    const location = headerLines({ Location: `${OPERATOR_BASE_PATH}/tenants/${params.tenantId}/keys` });
    return reply(201, creation.value, location);
  },
});

export const listKeys = operatorEndpoint({
  name: 'listKeys',
  method: 'GET',
  path: '/tenants/{tenantId}/keys',
  role: 'read',
  tag: 'Keys',
  summary: "List a tenant's keys, also the revoked",
  replies: {
    200: {
      description: 'All of them.',
      data: cursorPage(key),
      example: { items: [keyExample], nextCursor: null },
    },
  },
  errors: ['NOT_FOUND'],
  async handle({ params, services }) {
    const list = await services.operators.listKeys(params.tenantId);
    return mapOutcome(list, (items) => ({ items, nextCursor: null }));
  },
});

export const rotateKey = operatorEndpoint({
  name: 'rotateKey',
  method: 'POST',
  path: '/tenants/{tenantId}/keys/{keyId}/rotate',
  role: 'admin',
  tag: 'Keys',
  summary: 'Give a key a new value. The old one stops at once',
  description: 'A call with the old value gets `401 API_KEY_REVOKED`.',
  body: closedObject({}),
  replies: { 200: { description: 'The key with its new value.', data: freshKey, example: freshKeyExample } },
  errors: ['NOT_FOUND', 'CONFLICT'],
  handle: ({ params, services }) => services.operators.rotateKey(params.tenantId, params.keyId),
});

export const revokeKey = operatorEndpoint({
  name: 'revokeKey',
  method: 'DELETE',
  path: '/tenants/{tenantId}/keys/{keyId}',
  role: 'admin',
  tag: 'Keys',
  summary: 'Revoke a key. After the answer no node accepts it',
  body: closedObject({}),
  replies: { 200: { description: 'The key, revoked.', data: key, example: keyExample } },
  errors: ['NOT_FOUND'],
  handle: ({ params, services }) => services.operators.revokeKey(params.tenantId, params.keyId),
});
