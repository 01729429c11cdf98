import * as v from 'valibot';
import { done } from '../../actors/failure.ts';
import { auditEntry } from '../audit-log/audit-entry.ts';
import { AUDIT_CURSOR } from '../audit-log/audit-reader.ts';
import { idInEitherCase, utcDateTime } from '../contract/fields.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { TOKEN_ROLES } from '../contract/operator-role.ts';
import { integerParameter, limitParameter } from '../contract/query-parameters.ts';
import { operatorEndpoint } from './services.ts';

export const readOperator = operatorEndpoint({
  name: 'readOperator',
  method: 'GET',
  path: '/me',
  role: 'read',
  tag: 'Operators',
  summary: 'Read the operator of the token, and its role',
  replies: {
    200: {
      description: 'The operator.',
      data: v.strictObject({ name: v.string(), role: v.picklist(TOKEN_ROLES) }),
      example: { name: 'ada', role: 'operate' },
    },
  },
  async handle({ operator: { name, role } }) {
    return done({ name, role });
  },
});

export const listAudit = operatorEndpoint({
  name: 'listAudit',
  method: 'GET',
  path: '/audit',
  role: 'read',
  tag: 'Operators',
  summary: 'List changes and attempted changes by operators, newest first',
  description:
    'A change is recorded before it is carried out. A call that is refused because of its role is no change; only the process log has it, with its operator. `status` is null while a change runs, and if its outcome was not recorded. Ids of erased things are digests. Changes are kept as long as the request log, at most 50,000. With a rare filter a page may have fewer items than `limit` and still a next page.',
  query: {
    operator: v.optional(v.string()),
    tenant: v.optional(idInEitherCase),
    route: v.optional(v.string()),
    status: v.optional(integerParameter({ min: 100, max: 599 })),
    after: v.optional(utcDateTime),
    limit: limitParameter,
    cursor: v.optional(v.pipe(v.string(), v.regex(AUDIT_CURSOR, 'must be a nextCursor of this list'))),
  },
  replies: {
    200: {
      description: 'A page of changes.',
      data: cursorPage(auditEntry),
      example: {
        items: [
          {
            id: '1801396800000-66b1f0a2c3d4e5f607182907',
            at: '2027-01-31T12:00:00.000Z',
            operator: 'ada',
            role: 'admin',
            method: 'POST',
            route: '/tenants/{tenantId}/keys',
            params: { tenantId: '66b1f0a2c3d4e5f607182906' },
            ip: '203.0.113.7',
            requestId: '66b1f0a2c3d4e5f607182908',
            status: 201,
            code: null,
          },
        ],
        nextCursor: null,
      },
    },
  },
  async handle({ query: { operator, tenant, route, status, after, limit, cursor }, services }) {
    const afterMs = after === undefined ? undefined : Date.parse(after);
    const filter = { operator, tenantId: tenant, route, status, afterMs };
    return done(await services.audit.list({ ...filter, limit, cursor }));
  },
});
