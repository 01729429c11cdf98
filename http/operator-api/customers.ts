import * as v from 'valibot';
import { boundedArray } from '../contract/bounded-array.ts';
import { closedObject } from '../contract/closed-object.ts';
import { phoneNumber, text } from '../contract/fields.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { limitParameter } from '../contract/query-parameters.ts';
import { operatorEndpoint } from './services.ts';

const namedCustomers = closedObject({
  phones: v.pipe(
    boundedArray(phoneNumber, { max: 1_000 }),
    v.minLength(1, 'must have at least 1 item'),
    v.maxLength(1_000, 'must have at most 1000 items'),
  ),
});

export const addCustomers = operatorEndpoint({
  name: 'addCustomers',
  method: 'POST',
  path: '/tenants/{tenantId}/customers',
  role: 'admin',
  tag: 'Tenants',
  summary: "Add numbers to the tenant's customer records. They become known recipients",
  body: namedCustomers,
  bodyExample: { phones: ['+41797654321'] },
  replies: {
    201: {
      description: 'How many numbers were new.',
      data: v.strictObject({ added: v.number() }),
      example: { added: 1 },
    },
  },
  errors: ['NOT_FOUND'],
  handle: ({ params, body, services }) => services.operators.addCustomers(params.tenantId, body.phones),
});

export const listCustomers = operatorEndpoint({
  name: 'listCustomers',
  method: 'GET',
  path: '/tenants/{tenantId}/customers',
  role: 'read',
  tag: 'Tenants',
  summary: "List the numbers in the tenant's customer records, in their order",
  query: {
    limit: limitParameter,
    cursor: v.optional(v.pipe(phoneNumber, v.description('The nextCursor of the page before.'))),
    q: v.optional(v.pipe(text({ max: 16 }), v.description('A part of the number.'))),
  },
  replies: {
    200: {
      description: 'A page.',
      data: cursorPage(v.strictObject({ phone: v.string() })),
      example: { items: [{ phone: '+41797654321' }], nextCursor: null },
    },
  },
  errors: ['NOT_FOUND'],
  handle: ({ params, query, services }) => services.operators.listCustomers(params.tenantId, query),
});

export const removeCustomers = operatorEndpoint({
  name: 'removeCustomers',
  method: 'DELETE',
  path: '/tenants/{tenantId}/customers',
  role: 'admin',
  tag: 'Tenants',
  summary: "Remove numbers from the tenant's customer records",
  description:
    'From the next send on they are cold recipients, unless they wrote to the shop or the tenant declared them. Messages that were accepted before are still sent.',
  body: namedCustomers,
  bodyExample: { phones: ['+41797654321'] },
  replies: {
    200: {
      description: 'How many numbers were removed.',
      data: v.strictObject({ removed: v.number() }),
      example: { removed: 1 },
    },
  },
  errors: ['NOT_FOUND'],
  handle: ({ params, body, services }) => services.operators.removeCustomers(params.tenantId, body.phones),
});
