import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { after, beforeEach, describe, test } from 'node:test';
import { shopAddress } from '../../../actors/shops/records/shop-keys.ts';
import { tenantAddress } from '../../../actors/tenants/tenant-keys.ts';
import type { ReplyValue, RequestValue } from '../../../http/contract/exchange.ts';
import { OPERATOR_ROLES, TOKEN_ROLES } from '../../../http/contract/operator-role.ts';
import { makeMetrics } from '../../../http/metrics/metrics.ts';
import {
  CHANGES_A_SECOND,
  CHANGES_AT_ONCE,
  type OperatorTokenCheck,
  operatorTokenCheck,
} from '../../../http/operator-api/edge/operator-token-check.ts';
import { GUESS_WINDOW_MS, MOST_GUESSES } from '../../../http/operator-api/edge/token-guesses.ts';
import { OPERATOR_ENDPOINTS } from '../../../http/operator-api/endpoints.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { send } from '../openapi/checked-client.ts';
import { ADMIN_TOKEN } from '../service-fixture.ts';
import { sharedService } from '../shared-service.ts';
import { storeDeadLetter } from './stored-dead-letter.ts';

const tokenOf = (role: string): string => `token-of-the-role-${role}`;

describe("roles on the operators' listener", () => {
  after(() => agent.destroy());
  const { service, target } = sharedService({
    settings: {
      operatorTokens: [
        { name: 'admin', role: 'admin', token: ADMIN_TOKEN },
        ...TOKEN_ROLES.map((role) => ({ name: `an-${role}`, role, token: tokenOf(role) })),
      ],
    },
  });
  const agent = new Agent({ keepAlive: true });
  const page = (path: string, key: string) => send(agent, 'GET', service.adminUrl + path, { key });

  for (const { method, path, role: asked } of OPERATOR_ENDPOINTS) {
    test(`${method} ${path} asks for the role ${asked}, and for no more`, async () => {
      // The ids do not exist, so an admitted call changes nothing.
      const url = path.replaceAll(/\{\w+\}/g, 'a'.repeat(24));
      for (const held of TOKEN_ROLES) {
        const reply = await target.admin.call(method, url, { key: tokenOf(held), json: { nonsense: true } });
        const isEnough = TOKEN_ROLES.indexOf(held) >= TOKEN_ROLES.indexOf(asked ?? 'admin');
        if (isEnough) assert.notEqual(reply.status, 403, `${held}: ${reply.text}`);
        else assert.equal(reply.body.error.code, 'FORBIDDEN_ROLE', `${held}: ${reply.text}`);
      }
    });
  }

  test("a shop's dead letter is replayed with operate, a tenant's only with admin, and the audit log has the refusal", async () => {
    const tenant = await target.tenant();
    const shop = shopAddress({ tenantId: tenant.id, shopId: await target.shop(tenant) });
    const ofShop = await storeDeadLetter(service, shop, { type: 'pause' });
    const revoke = { type: 'revoke_contact', phone: '+41791234567' };
    const ofTenant = await storeDeadLetter(service, tenantAddress(tenant.id), revoke);
    const replay = async (id: string, role: string) => {
      const call = { key: tokenOf(role), json: {} };
      const { status, body } = await target.admin.call('POST', `/dead-letters/${id}/replay`, call);
      return [status, body.error?.code];
    };
    assert.deepEqual(await replay(ofShop, 'operate'), [200, undefined]);
    assert.deepEqual(await replay(ofTenant, 'operate'), [403, 'FORBIDDEN_ROLE']);
    assert.deepEqual(await replay(ofShop, 'operate'), [404, 'NOT_FOUND']);
    const { body } = await target.admin.call('GET', '/audit?operator=an-operate', { key: ADMIN_TOKEN });
    const refused = body.data.items.find(
      ({ params }: { params: object }) => 'id' in params && params.id === ofTenant,
    );
    assert.deepEqual([refused.status, refused.code], [403, 'FORBIDDEN_ROLE']);
    assert.deepEqual(await replay(ofTenant, 'admin'), [200, undefined]);
  });

  test('reads need the role read, except for the code to scan; changes need a larger role', () => {
    for (const { method, path, role } of OPERATOR_ENDPOINTS) {
      const looks = method === 'GET' && !path.endsWith('/connect');
      assert.equal(role === 'read', looks, `${method} ${path}`);
    }
  });

  test('/metrics takes the token of the scraper, which opens nothing else, and every operator', async () => {
    for (const role of TOKEN_ROLES) assert.equal((await page('/metrics', tokenOf(role))).status, 200);
    for (const path of ['/admin/v1/events', '/admin/v1/openapi.json', '/admin/v1/me', '/admin/v1/nodes']) {
      const reply = await page(path, tokenOf('metrics'));
      assert.deepEqual([reply.status, reply.body.error.code], [403, 'FORBIDDEN_ROLE'], path);
    }
  });

  test('GET /me returns the operator of the token', async () => {
    for (const role of OPERATOR_ROLES) {
      const { body } = await target.admin.call('GET', '/me', { key: tokenOf(role) });
      assert.deepEqual(body.data, { name: `an-${role}`, role });
    }
  });

  test('refusals are counted by reason', async () => {
    const counted = async (reason: string): Promise<number> => {
      const { text } = await page('/metrics', ADMIN_TOKEN);
      const line = new RegExp(`^msgapi_operator_refusals_total\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(
        text,
      );
      return Number(line?.[1]);
    };
    const before = { role: await counted('role'), invalid: await counted('invalid') };
    await page('/admin/v1/nodes', tokenOf('metrics'));
    await page('/metrics', 'a wrong one');
    assert.equal(await counted('role'), before.role + 1);
    assert.equal(await counted('invalid'), before.invalid + 1);
    assert.ok((await counted('missing')) >= 0);
  });
});

const READ_TOKEN = 'token-of-somebody-who-reads';

describe("guesses at operators' tokens", () => {
  const lines: { readonly level: string; readonly fields: object }[] = [];
  let clock: FakeClock;
  let tokenCheck: OperatorTokenCheck;
  const ask = (token: string, ip: string) => {
    const headers = { authorization: `Bearer ${token}` } as RequestValue['headers'];
    const admitted = tokenCheck.admit({ headers, ip }, { role: 'read', isChange: false });
    return admitted.isAdmitted ? undefined : admitted.refusal;
  };
  function guess(count: number, address: (number: number) => string): void {
    for (let number = 0; number < count; number += 1)
      assert.equal(must(ask(`guess-${number}`, address(number))).code, 'API_KEY_INVALID');
  }

  beforeEach(() => {
    lines.length = 0;
    clock = new FakeClock();
    const logAt = (level: string) => (fields: object) => void lines.push({ level, fields });
    const log = { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
    const tokens = [
      { name: 'admin', role: 'admin', token: ADMIN_TOKEN },
      { name: 'ben', role: 'read', token: READ_TOKEN },
    ] as const;
    tokenCheck = operatorTokenCheck({ tokens, clock, log, metrics: makeMetrics() });
  });

  test('an address that sent too many is refused, also with the right one, until a minute is over', async () => {
    guess(MOST_GUESSES, () => '203.0.113.1');
    const refusedValue = must(ask(ADMIN_TOKEN, '203.0.113.1'));
    assert.deepEqual([refusedValue.status, refusedValue.code], [429, 'RATE_LIMITED']);
    assert.match(refusedValue.headers, /\r\nRetry-After: 60$/);
    const withoutToken = tokenCheck.admit(
      { headers: {} as RequestValue['headers'], ip: '203.0.113.1' },
      { role: 'read', isChange: false },
    );
    assert.equal(withoutToken.isAdmitted || withoutToken.refusal.status, 429);
    assert.equal(ask(ADMIN_TOKEN, '203.0.113.2'), undefined);
    const fields = { ip: '203.0.113.1' };
    assert.deepEqual(lines, [
      { level: 'warn', fields },
      { level: 'error', fields },
    ]);
    await clock.advance(GUESS_WINDOW_MS);
    assert.equal(ask(ADMIN_TOKEN, '203.0.113.1'), undefined);
  });

  test('one below the limit refuse no caller', () => {
    guess(MOST_GUESSES - 1, () => '203.0.113.1');
    assert.equal(ask(ADMIN_TOKEN, '203.0.113.1'), undefined);
  });

  test('a repeated wrong token is one guess: an old scraper locks no one out', () => {
    for (let call = 0; call < MOST_GUESSES * 2; call += 1) ask('yesterday', '203.0.113.1');
    assert.equal(ask(ADMIN_TOKEN, '203.0.113.1'), undefined);
  });

  test('an IPv6 address counts as its network of 64 bits', () => {
    guess(MOST_GUESSES, (number) => `2001:db8:0:1::${number + 1}`);
    assert.equal(must(ask(ADMIN_TOKEN, '2001:db8:0:1:ffff::1')).status, 429);
    assert.equal(ask(ADMIN_TOKEN, '2001:db8:0:2::1'), undefined);
  });

  test('a call with too small a role names its operator in the log', () => {
    const headers = { authorization: `Bearer ${READ_TOKEN}` } as RequestValue['headers'];
    const admitted = tokenCheck.admit({ headers, ip: '203.0.113.1' }, { role: 'operate', isChange: true });
    assert.equal(admitted.isAdmitted || admitted.refusal.status, 403);
    const fields = { ip: '203.0.113.1', operator: 'ben', role: 'read', needs: 'operate' };
    assert.deepEqual(lines, [{ level: 'warn', fields }]);
  });

  test('an operator who makes too many changes is refused more of them; others and reads are not', async () => {
    const change = (token: string, isChange = true) => {
      const headers = { authorization: `Bearer ${token}` } as RequestValue['headers'];
      const admitted = tokenCheck.admit({ headers, ip: '203.0.113.1' }, { role: 'read', isChange });
      return admitted.isAdmitted ? undefined : admitted.refusal;
    };
    for (let made = 0; made < CHANGES_AT_ONCE; made += 1) assert.equal(change(ADMIN_TOKEN), undefined);
    const refusedValue = must(change(ADMIN_TOKEN));
    assert.deepEqual([refusedValue.status, refusedValue.code], [429, 'RATE_LIMITED']);
    assert.match(refusedValue.headers, /\r\nRetry-After: 1$/);
    assert.equal(change(ADMIN_TOKEN, false), undefined);
    assert.equal(change(READ_TOKEN), undefined);
    await clock.advance(1_000);
    for (let made = 0; made < CHANGES_A_SECOND; made += 1) assert.equal(change(ADMIN_TOKEN), undefined);
    assert.equal(must(change(ADMIN_TOKEN)).status, 429);
  });

  test('are remembered for the newest 10,000 addresses', () => {
    guess(MOST_GUESSES, () => '203.0.113.1');
    for (let number = 0; number < 10_000; number += 1) ask('wrong', `10.0.${number >> 8}.${number & 255}`);
    assert.equal(ask(ADMIN_TOKEN, '203.0.113.1'), undefined);
  });
});

function must(reply: ReplyValue | undefined): ReplyValue {
  assert.ok(reply);
  return reply;
}
