/**
 * The caller's address behind HTTPS, when its connection ends at a server before the proxy. IP lists, the request log
 * and the lock-out of token guesses use it. Each machine has a separate address on loopback.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { MOST_GUESSES } from '../../http/operator-api/edge/token-guesses.ts';
import { ADMIN_TOKEN } from '../http/service-fixture.ts';
import { sharedService } from '../http/shared-service.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { until } from '../testbed/waiting.ts';
import { startCaddy } from './caddy-front.ts';
import { balancerBefore, type HttpsEdge, httpsCall } from './https-edge.ts';
import { behindNginx, type NginxFront } from './nginx-front.ts';
import { testCertificate } from './test-certificate.ts';

const FRONT = '127.0.0.10';
const BALANCER = '127.0.0.20';
/** Caddy connects from no address in particular. */
const CADDY = '127.0.0.1';
const CALLER = '127.0.0.5';
const STRANGER = '127.0.0.6';

/** `TRUSTED_PROXIES` of the nodes in compose.yaml, with the machines of this test. */
function trustedProxies(): string[] {
  const [, value = ''] = /^ {2}TRUSTED_PROXIES: (.+)$/m.exec(readRepositoryFile('compose.yaml')) ?? [];
  const machines: Readonly<Record<string, string>> = { '172.30.57.9': CADDY, '172.30.57.10': FRONT };
  return value.split(',').map((part) => machines[part] ?? BALANCER);
}

const certificate = testCertificate();
after(() => certificate.remove());
const { service, target } = sharedService({ settings: { trustedProxies: trustedProxies() } });

/** Makes a call over HTTPS; the status of its answer. `claims`: its own `X-Forwarded-For`. */
async function call(
  edge: HttpsEdge,
  path: string,
  { claims, ...of }: { readonly from: string; readonly token: string; readonly claims?: string },
): Promise<number> {
  const answer = await httpsCall(edge, path, {
    ...of,
    headers: claims === undefined ? {} : { 'x-forwarded-for': claims },
  });
  await once(answer.resume(), 'end');
  return answer.statusCode ?? 0;
}

const frontDoor = (
  ask: (front: NginxFront) => Promise<void>,
  change = (configuration: string) => configuration,
) =>
  behindNginx([Number(new URL(service.apiUrl).port), Number(new URL(service.apiUrl).port)], ask, {
    operatorsPort: Number(new URL(service.adminUrl).port),
    // A separate machine.
    change: (configuration) =>
      change(
        configuration.replace('proxy_http_version 1.1;', `proxy_http_version 1.1; proxy_bind ${FRONT};`),
      ),
  });

/**
 * Checks the addresses that a key with an IP list and the request log see. The caller and a stranger both claim the
 * other's address.
 */
async function seesAddresses(edge: HttpsEdge): Promise<void> {
  const tenant = await target.tenant({ plan: 'scale' });
  const { key: token } = await target.key(tenant.id, { ipAllowlist: [CALLER] });
  const path = '/api/v1/me';
  assert.equal(await call(edge, path, { from: CALLER, token }), 200);
  assert.equal(await call(edge, path, { from: CALLER, token, claims: STRANGER }), 200);
  assert.equal(await call(edge, path, { from: STRANGER, token }), 403);
  assert.equal(await call(edge, path, { from: STRANGER, token, claims: CALLER }), 403);
  assert.equal(await call(edge, path, { from: STRANGER, token, claims: `${CALLER}, ${FRONT}` }), 403);
  const logged = await until('five calls are in the request log', async () => {
    const reply = await target.admin.call('GET', `/requests?tenant=${tenant.id}`, { key: ADMIN_TOKEN });
    const items = reply.body.data.items as { ip: string }[];
    return items.length === 5 && items.map(({ ip }) => ip);
  });
  assert.deepEqual(logged, [STRANGER, STRANGER, STRANGER, CALLER, CALLER]);
}

for (const [title, forwardedFor, guesser] of [
  ['adds the caller to X-Forwarded-For', '$proxy_add_x_forwarded_for', '127.0.0.7'],
  ['writes the caller with a port', '"$http_x_forwarded_for, $remote_addr:$remote_port"', '127.0.0.8'],
] as const) {
  test(`behind a load balancer that ${title}, lists, log and lock-out see the caller`, async () => {
    const { edges, change } = await balancerBefore(certificate, { address: BALANCER, forwardedFor });
    const [tenants, operators] = edges;
    await frontDoor(async () => {
      await seesAddresses(tenants);
      const ask = (from: string, token: string) => call(operators, '/admin/v1/me', { from, token });
      for (let guess = 0; guess < MOST_GUESSES; guess += 1)
        assert.equal(await ask(guesser, `guess-${guess}`), 401);
      assert.equal(await ask(guesser, ADMIN_TOKEN), 429);
      assert.equal(await ask(CALLER, ADMIN_TOKEN), 200);
    }, change);
  });
}

for (const [title, ownCertificate] of [
  ['of its own authority', false],
  ['of the operator’s', true],
] as const) {
  test(`behind the profile tls with a certificate ${title}, lists and log see the caller`, () =>
    frontDoor(async (front) => {
      const caddy = await startCaddy(front.url, ownCertificate ? certificate : undefined);
      try {
        await seesAddresses(caddy);
      } finally {
        await caddy.stop();
      }
    }));
}
