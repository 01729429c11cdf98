import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FailureCode } from '../../../actors/failure.ts';
import type { Operation } from '../steered-calls.ts';
import type { Target } from '../target.ts';

type Planned = readonly [
  operation: Operation,
  failure: FailureCode,
  status: number,
  code: string,
  method: string,
  path: string,
];

const SEND = ['POST', '/shops/{shop}/messages'] as const;
const STATUS = ['POST', '/shops/{shop}/statuses'] as const;
const DECLARE = ['POST', '/shops/{shop}/contacts/consented'] as const;

/**
 * docs/contract.md, Errors, the rows that take days or a chat network to reach; status and code as the table
 * has them.
 */
const PLANNED: readonly Planned[] = [
  ['createShop', 'SHOP_LIMIT_REACHED', 402, 'QUOTA_EXCEEDED', 'POST', '/shops'],
  ['createShop', 'TENANT_OWNER_MISSING', 409, 'TENANT_OWNER_MISSING', 'POST', '/shops'],
  ['createShop', 'SHOP_NAME_TAKEN', 409, 'SHOP_NAME_TAKEN', 'POST', '/shops'],
  ['send', 'RECIPIENT_OPTED_OUT', 422, 'RECIPIENT_OPTED_OUT', ...SEND],
  ['send', 'MESSAGE_TOO_LONG', 422, 'MESSAGE_TOO_LONG', ...SEND],
  ['send', 'TOO_MANY_MEDIA', 422, 'TOO_MANY_MEDIA', ...SEND],
  ['send', 'GROUP_CONTEXT_REQUIRED', 422, 'GROUP_CONTEXT_REQUIRED', ...SEND],
  ['send', 'GROUP_NOT_ADMINISTERED', 403, 'GROUP_NOT_ADMINISTERED', ...SEND],
  ['send', 'DAILY_CAP_REACHED', 429, 'DAILY_CAP_REACHED', ...SEND],
  ['send', 'HOURLY_CAP_REACHED', 429, 'HOURLY_CAP_REACHED', ...SEND],
  ['send', 'COLD_RECIPIENT_CAP_REACHED', 429, 'COLD_RECIPIENT_CAP_REACHED', ...SEND],
  ['send', 'DECLARED_RECIPIENT_CAP_REACHED', 429, 'DECLARED_RECIPIENT_CAP_REACHED', ...SEND],
  ['send', 'RECIPIENT_RATE_LIMITED', 429, 'RECIPIENT_RATE_LIMITED', ...SEND],
  ['send', 'BULK_PATTERN_BLOCKED', 429, 'BULK_PATTERN_BLOCKED', ...SEND],
  ['send', 'GROUP_DAILY_CAP_REACHED', 429, 'GROUP_DAILY_CAP_REACHED', ...SEND],
  ['postStatus', 'STATUSES_DAILY_CAP_REACHED', 429, 'STATUSES_DAILY_CAP_REACHED', ...STATUS],
  ['declareContacts', 'DECLARE_BATCH_TOO_LARGE', 429, 'DECLARE_BATCH_TOO_LARGE', ...DECLARE],
  ['declareContacts', 'DECLARE_DAILY_CAP_REACHED', 429, 'DECLARE_DAILY_CAP_REACHED', ...DECLARE],
  ['send', 'BOT_SERVICE_UNREACHABLE', 503, 'BOT_SERVICE_UNREACHABLE', ...SEND],
  ['send', 'MSGAPP_NOT_CONNECTED', 503, 'MSGAPP_NOT_CONNECTED', ...SEND],
  ['send', 'MSGAPP_SESSION_LOST', 503, 'MSGAPP_SESSION_LOST', ...SEND],
  ['groups', 'MSGAPP_NOT_CONNECTED', 503, 'MSGAPP_NOT_CONNECTED', 'GET', '/shops/{shop}/groups'],
];

const BODIES: Readonly<Record<string, object>> = {
  '/shops': { name: 'new' },
  '/shops/{shop}/messages': { channel: 'msgapp', to: '+41791234567', text: 'hello' },
  '/shops/{shop}/statuses': { caption: 'hello' },
  '/shops/{shop}/contacts/consented': { contacts: [{ phone: '+41791234567' }] },
};

/** docs/contract.md, Errors: the planned failures of operations, as a caller gets them. */
export function plannedRows(target: () => Target, canPlan: boolean): void {
  for (const [operation, failure, status, code, method, path] of canPlan ? PLANNED : []) {
    test(`${status} ${code} on ${method} ${path}${failure === code ? '' : ` (${failure})`}`, async () => {
      const { api, tenant, shop, plan } = target();
      const owner = await tenant();
      const shopId = await shop(owner);
      plan?.(operation, {
        code: failure,
        ...(status === 429 || status === 503 ? { retryAfterSeconds: 37 } : {}),
      });
      const json = method === 'POST' ? BODIES[path] : undefined;
      const reply = await api.call(method, path.replace('{shop}', shopId), { key: owner.key, json });
      assert.equal(reply.status, status, reply.text);
      assert.equal(reply.body.error.code, code);
      if (status === 429 || status === 503) assert.equal(reply.headers['retry-after'], '37');
      assert.ok(reply.headers['x-ratelimit-remaining']);
    });
  }

  test('every 429 names the time to retry: a day if the policy knows no end', {
    skip: canPlan ? false : 'a state that no call reaches at once',
  }, async () => {
    const { api, tenant, shop, plan } = target();
    const owner = await tenant();
    const shopId = await shop(owner);
    for (const [operation, code, , , method, path] of PLANNED.filter(([, , status]) => status === 429)) {
      plan?.(operation, { code });
      const json = method === 'POST' ? BODIES[path] : undefined;
      const reply = await api.call(method, path.replace('{shop}', shopId), { key: owner.key, json });
      assert.equal(reply.body.error.code, code);
      const seconds = code === 'DECLARE_BATCH_TOO_LARGE' ? 1 : 86_400;
      assert.deepEqual([reply.body.error.retryAfter, reply.headers['retry-after']], [seconds, `${seconds}`]);
    }
  });
}
