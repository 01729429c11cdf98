/**
 * The caller's address behind HTTPS, when its connection ends at a server before the proxy. IP lists, the request log
 * and the lock-out of token guesses use it. Each machine has a separate address on loopback.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { MAX_GUESSES } from '../../http/operator-api/token-guesses.ts';
import { mediaCertificate } from '../../simulator/media-certificate.ts';
import { freePorts } from '../e2e/free-ports.ts';
import { until } from '../e2e/waiting.ts';
import type { Target } from '../http/conformance-target.ts';
import { ADMIN_TOKEN, type ServiceFixture, startService, targetOf } from '../http/service-fixture.ts';
import { root } from '../root.ts';
import { startCaddy } from './caddy-front.ts';
import { behindNginx, type NginxFront } from './nginx-front.ts';

const FRONT = '127.0.0.10';
const BALANCER = '127.0.0.20';
/** Caddy connects from no address in particular. */
const CADDY = '127.0.0.1';
const CALLER = '127.0.0.5';
const STRANGER = '127.0.0.6';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** `TRUSTED_PROXIES` of the nodes in compose.yaml, with the machines of this test. */
function trustedProxies(): string[] {
  const [, value = ''] = /^ {2}TRUSTED_PROXIES: (.+)$/m.exec(read('compose.yaml')) ?? [];
  const machines: Readonly<Record<string, string>> = { '172.30.57.9': CADDY, '172.30.57.10': FRONT };
  return value.split(',').map((part) => machines[part] ?? BALANCER);
}

let service: ServiceFixture;
let target: Target;
let folder: string;
let ca: string;
before(async () => {
  service = await startService({ settings: { trustedProxies: trustedProxies() } });
  target = await targetOf(service);
  const kept = new Map();
  const certificate = mediaCertificate({ collection: () => kept } as never);
  folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  writeFileSync(join(folder, 'cert.pem'), certificate.cert);
  writeFileSync(join(folder, 'key.pem'), certificate.key);
  ca = certificate.ca;
});
after(async () => {
  rmSync(folder, { recursive: true, force: true });
  target?.close();
  await service?.stop();
});

/** The place where HTTPS ends, and the authority that its clients trust. */
interface Edge {
  readonly port: number;
  readonly ca: string;
}

/** Makes a call over HTTPS. `claims`: its own `X-Forwarded-For`. */
function call(
  edge: Edge,
  path: string,
  of: { readonly from: string; readonly token: string; readonly claims?: string },
): Promise<number> {
  const headers = {
    authorization: `Bearer ${of.token}`,
    ...(of.claims === undefined ? {} : { 'x-forwarded-for': of.claims }),
  };
  const options = { ...edge, host: '127.0.0.1', servername: 'localhost', localAddress: of.from, path };
  return new Promise((resolve, reject) => {
    request({ ...options, headers: { ...headers, host: 'localhost' }, agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });
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

/** Returns the server of docs/tls.md before each of the two ports of the proxy. */
function withBalancer(ports: readonly number[], forwardedFor: string) {
  const [, server = ''] = /```nginx\n([\s\S]+?)```/.exec(read('docs/tls.md')) ?? [];
  assert.ok(server.includes('$proxy_add_x_forwarded_for'));
  return (configuration: string): string => {
    const fronts = [...configuration.matchAll(/listen (127\.0\.0\.1:\d+);/g)].map(
      ([, address = '']) => address,
    );
    const servers = fronts.map((front, index) =>
      server
        .replace('listen 443 ssl;', `listen 127.0.0.1:${ports[index]} ssl; proxy_bind ${BALANCER};`)
        .replaceAll('/etc/ssl/api', folder)
        .replace('127.0.0.1:3000', front)
        .replace('$proxy_add_x_forwarded_for', forwardedFor),
    );
    return configuration.replace(/\}\s*$/, `${servers.join('\n')}\n}`);
  };
}

/**
 * Checks the addresses that a key with an IP list and the request log see. The caller and a stranger both claim the
 * other's address.
 */
async function seesAddresses(edge: Edge): Promise<void> {
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

for (const [what, forwardedFor, guesser] of [
  ['adds the caller to X-Forwarded-For', '$proxy_add_x_forwarded_for', '127.0.0.7'],
  ['writes the caller with a port', '"$http_x_forwarded_for, $remote_addr:$remote_port"', '127.0.0.8'],
] as const) {
  test(`behind a load balancer that ${what}, lists, log and lock-out see the caller`, async () => {
    const [port = 0, operatorsPort = 0] = await freePorts(2);
    await frontDoor(
      async () => {
        await seesAddresses({ port, ca });
        const operators = { port: operatorsPort, ca };
        const ask = (from: string, token: string) => call(operators, '/admin/v1/me', { from, token });
        for (let guess = 0; guess < MAX_GUESSES; guess += 1) {
          assert.equal(await ask(guesser, `guess-${guess}`), 401);
        }
        assert.equal(await ask(guesser, ADMIN_TOKEN), 429);
        assert.equal(await ask(CALLER, ADMIN_TOKEN), 200);
      },
      withBalancer([port, operatorsPort], forwardedFor),
    );
  });
}

test('behind the profile tls lists and log see the caller, and plain HTTP is redirected', () =>
  frontDoor(async (front) => {
    const caddy = await startCaddy(front.url);
    try {
      await seesAddresses(caddy);
      const redirected = await fetch(`${caddy.plainUrl}/api/v1/me`, { redirect: 'manual' });
      assert.equal(redirected.status, 308);
      assert.match(String(redirected.headers.get('location')), /^https:\/\/localhost/);
    } finally {
      await caddy.stop();
    }
  }));
