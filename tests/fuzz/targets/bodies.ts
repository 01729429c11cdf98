import assert from 'node:assert/strict';
import { tenantKeys } from '../../../actors/tenants/tenant-keys.ts';
import type { Read } from '../../../runtime/store.ts';
import type { Call, Operation, Reply } from '../../http/openapi/checked-client.ts';
import { callsOf, withoutWait } from '../../http/openapi/fuzz-calls.ts';
import { type RealService, startRealService } from '../../http/real-service.ts';
import { ADMIN_TOKEN } from '../../http/service-fixture.ts';
import type { TestTenant } from '../../http/target.ts';
import { readRepositoryFile } from '../../testbed/read-repository-file.ts';
import type { Draw } from '../draw.ts';
import type { FuzzTarget, OpenTarget } from '../fuzz-target.ts';

/** Server errors that ask a caller to retry, or report that there is no session. */
const TOLD = ['OVERLOADED', 'SERVICE_UNAVAILABLE', 'MSGAPP_NOT_CONNECTED', 'MEDIA_UNAVAILABLE'];
/** Cases with one tenant: operators' calls suspend it, take its keys and erase it. */
const CASES_OF_TENANT = 100;

interface KeptBody {
  readonly at: string;
  readonly body: unknown;
}

const KEPT = JSON.parse(readRepositoryFile('tests/fuzz/corpus/bodies.json')) as readonly KeptBody[];

/** Paths, queries and bodies of both APIs: no 500, answers as documented, errors name a field and store nothing. */
export const bodies: FuzzTarget = {
  name: 'bodies',
  open: async () => openBodies(await startRealService()),
};

interface Route {
  readonly isOperators: boolean;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

function openBodies(service: RealService): OpenTarget {
  const routes = [service.api, service.admin].flatMap(({ document }, index) =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]): Route[] =>
        // The operators' events never end.
        index === 1 && path === '/events'
          ? []
          : [{ isOperators: index === 1, method: method.toUpperCase(), path, operation }],
      ),
    ),
  );
  let account: Account | undefined;
  let cases = 0;
  return {
    async tryCase(draw, note) {
      if (account === undefined || cases % CASES_OF_TENANT === 0) account = await newAccount(service);
      cases += 1;
      const route = draw.pick(routes);
      const { url, call } = callOf(draw, route, account);
      note({ method: route.method, url, ...call });
      const isLookedAt = route.method !== 'GET' && draw.isOneIn(4);
      const before = isLookedAt ? await storedOf(service, account) : undefined;
      const key = route.isOperators ? ADMIN_TOKEN : account.tenant.key;
      const reply = await service[route.isOperators ? 'admin' : 'api'].call(route.method, url, {
        key,
        ...call,
      });
      judge(reply);
      if (reply.status === 422 && before !== undefined)
        assert.equal(await storedOf(service, account), before, 'a refused call stored something');
    },
    close: () => service.stop(),
  };
}

interface Account {
  readonly tenant: TestTenant;
  /** Values of the parameters of paths, by name. */
  readonly ids: Readonly<Record<string, string>>;
}

async function newAccount(service: RealService): Promise<Account> {
  const tenant = await service.tenant({ plan: 'scale' });
  const shopId = await service.shop(tenant);
  const hook = await service.operator('POST', `/tenants/${tenant.id}/webhooks`, {
    url: 'http://127.0.0.1:9/hook',
  });
  assert.equal(hook.status, 201, hook.text);
  const shop = { shopId, idOrName: shopId };
  return { tenant, ids: { tenantId: tenant.id, keyId: tenant.keyId, webhookId: hook.body.data.id, ...shop } };
}

function callOf(
  draw: Draw,
  { method, path, operation }: Route,
  { ids }: Account,
): { url: string; call: Call } {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id = ids[name] ?? '66b1f0a2c3d4e5f60718293a';
    if (!draw.isOneIn(12)) return id;
    const text = draw.isOneIn(2) ? draw.mutatedText(id) : String(draw.odd()).slice(0, 200);
    return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '?')) || 'x';
  });
  const madeCall = draw.made(callsOf(filled, operation, 'shop'));
  const url = withoutWait(madeCall.url).replaceAll(/\/\.+(?=\/|$)/g, '/x');
  const keptBodies = KEPT.filter(({ at }) => at === `${method} ${path}`);
  if (keptBodies.length === 0 || draw.isOneIn(3))
    return { url, call: { headers: madeCall.headers, body: madeCall.body } };
  const json = JSON.stringify(draw.mutatedJson(draw.pick(keptBodies).body));
  const body = draw.isOneIn(5) ? draw.mutated(Buffer.from(json)) : json;
  return { url, call: { headers: { 'content-type': 'application/json' }, body } };
}

function judge({ status, body, text }: Reply): void {
  const error = body?.error;
  assert.ok(status < 500 || TOLD.includes(error?.code), text);
  if (error?.code !== 'VALIDATION_ERROR') return;
  assert.ok(error.fields?.length > 0, `no field is named: ${text}`);
  // A property may have no name at all.
  for (const { field, message } of error.fields) assert.ok(typeof field === 'string' && message !== '', text);
}

/** Returns the data of a tenant that only complete calls change. */
async function storedOf({ runtime }: RealService, { tenant }: Account): Promise<string> {
  const { record, apiKeys, shops, customers, contacts, webhooks } = tenantKeys(tenant.id);
  const reads: Read[] = [
    ['GET', record],
    ...[apiKeys, shops, webhooks, contacts].map((key): Read => ['HGETALL', key]),
    ['SMEMBERS', customers],
  ];
  return JSON.stringify(await runtime.node.store.read(reads));
}
