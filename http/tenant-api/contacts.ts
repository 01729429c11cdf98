import * as v from 'valibot';
import { API_BASE_PATH } from '../../actors/base-path.ts';
import { contact, revokedContact } from '../../actors/reply-schemas/account-schemas.ts';
import { DECLARATION_POLICY_CODES } from '../../policy/refusal.ts';
import { EXAMPLES } from '../bodies/examples.ts';
import { boundedArray } from '../contract/bounded-array.ts';
import { closedObject } from '../contract/closed-object.ts';
import { reply } from '../contract/endpoint.ts';
import { headerLines } from '../contract/exchange.ts';
import { phoneNumber, text, utcDateTime } from '../contract/fields.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { cursorParameter, limitParameter, trueOrFalse } from '../contract/query-parameters.ts';
import { NAMED_SHOP_ERRORS, withShop } from './named-shop.ts';
import { apiEndpoint } from './services.ts';

/** The most items of a batch that are checked. It is ten times the limit of a batch, so a longer batch is too large. */
const MOST_READ_CONTACTS = 1_000;

export const listContacts = apiEndpoint({
  name: 'listContacts',
  method: 'GET',
  path: '/shops/{idOrName}/contacts/consented',
  tag: 'Contacts',
  summary: 'List the declared contacts',
  description: 'Every shop of the tenant sees the same list.',
  permission: 'contacts.read',
  query: { activeOnly: v.optional(trueOrFalse, 'true'), limit: limitParameter, cursor: cursorParameter },
  replies: {
    200: {
      description: 'A page of declared contacts.',
      data: cursorPage(contact),
      example: { items: [EXAMPLES.contact], nextCursor: null },
    },
  },
  errors: NAMED_SHOP_ERRORS,
  handle: (request) =>
    withShop(request, ({ tenantId }) => request.services.tenants.listContacts(tenantId, request.query)),
});

export const declareContacts = apiEndpoint({
  name: 'declareContacts',
  method: 'POST',
  path: '/shops/{idOrName}/contacts/consented',
  tag: 'Contacts',
  summary: 'Declare contacts that consented; all of the batch or none',
  description:
    'A number that comes twice, in either form, is declared once, with the values of its last item. It counts once in `accepted`. An `expiresAt` in the past is accepted and gives `active: false`. A number with a revoked or expired declaration counts as new for the daily limit. A number with an active one does not.',
  permission: 'contacts.write',
  body: closedObject({
    contacts: v.pipe(
      boundedArray(
        closedObject({
          phone: phoneNumber,
          note: v.optional(text({ max: 500 })),
          expiresAt: v.optional(utcDateTime),
        }),
        { max: MOST_READ_CONTACTS, isCut: true },
      ),
      v.minLength(1, 'must have at least 1 item'),
    ),
  }),
  bodyExample: { contacts: [{ phone: '+41797654321', note: 'asked for news at the counter' }] },
  replies: {
    202: {
      description: 'Declared.',
      headers: { Location: 'The list of declared contacts.' },
      data: v.strictObject({ accepted: v.pipe(v.number(), v.integer()), contacts: v.array(contact) }),
      example: { accepted: 1, contacts: [EXAMPLES.contact] },
    },
  },
  errors: [...NAMED_SHOP_ERRORS, ...DECLARATION_POLICY_CODES],
  handle: (request) =>
    withShop(request, async ({ tenantId }) => {
      const declaration = await request.services.tenants.declareContacts(tenantId, request.body.contacts);
      const list = `${API_BASE_PATH}/shops/${encodeURIComponent(request.params.idOrName)}/contacts/consented`;
      return declaration.ok ? reply(202, declaration.value, headerLines({ Location: list })) : declaration;
    }),
});

export const revokeContact = apiEndpoint({
  name: 'revokeContact',
  method: 'DELETE',
  path: '/shops/{idOrName}/contacts/consented',
  tag: 'Contacts',
  summary: 'Revoke a declaration; the record stays',
  description: 'If a number has two forms, either revokes it. `phone` is the declared form.',
  permission: 'contacts.write',
  body: closedObject({ phone: phoneNumber }),
  bodyExample: { phone: '+41797654321' },
  replies: {
    200: {
      description:
        'The record. For a number that was never declared, every field except `phone` and `active` is null.',
      data: revokedContact,
      example: { ...EXAMPLES.contact, revokedAt: '2027-02-01T08:00:00.000Z', active: false },
    },
  },
  errors: NAMED_SHOP_ERRORS,
  handle: (request) =>
    withShop(request, ({ tenantId }) => request.services.tenants.revokeContact(tenantId, request.body.phone)),
});
