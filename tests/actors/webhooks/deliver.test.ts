/** One delivery to a real HTTPS server: what counts as success, what is signed, and which addresses are never asked. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { after, before, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { Webhook } from 'standardwebhooks';
import { AddressGuard } from '../../../actors/outbound/address-guard.ts';
import { nameLookup } from '../../../actors/outbound/name-lookup.ts';
import { type DeliveryOptions, deliver } from '../../../actors/webhooks/deliver.ts';
import { makeSecret } from '../../../actors/webhooks/signature.ts';
import { HOUR_MS } from '../../../runtime/durations.ts';
import { createCertificate } from '../../../simulator/media/media-certificate.ts';
import { listening } from '../../testbed/listening.ts';

let server: Server;
let url: string;
let options: DeliveryOptions;
let seen: { readonly headers: Record<string, string>; readonly body: string }[] = [];

before(async () => {
  const certificate = createCertificate();
  server = createServer({ key: certificate.key, cert: certificate.cert }, (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      body += piece;
    });
    request.on('end', () => {
      seen.push({ headers: request.headers as Record<string, string>, body });
      const [, status = '204', retryAfter] = (request.url ?? '').split('/');
      const headers = retryAfter === undefined ? {} : { 'retry-after': decodeURIComponent(retryAfter) };
      if (status === 'cut') request.socket.destroy();
      else if (status === '101')
        request.socket.write(`${SWITCHING}Connection: upgrade\r\nUpgrade: x\r\n\r\n`);
      else if (status === 'bare') request.socket.write(`${SWITCHING}\r\n`);
      else response.writeHead(Number(status), { ...headers, location: '/204' }).end('thanks');
    });
  });
  url = `https://localhost:${await listening(server)}`;
  options = {
    guard: new AddressGuard({ allowLoopback: true, deniedRanges: [] }),
    resolve: nameLookup([]),
    ca: certificate.ca,
  };
});
after(() => server.close());

const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\n';
/** With a letter of two bytes, and white space at its end, so that other bytes than these have other signatures. */
const BODY = '{"type":"é"}\n';

/** Sends an event there now. */
function send(to: string, more: Partial<DeliveryOptions> = {}, secrets = [makeSecret()]) {
  seen = [];
  const signed = { id: '1'.repeat(24), timestamp: Math.floor(Date.now() / 1_000), body: BODY };
  return deliver(to, { ...signed, secrets }, { ...options, ...more });
}

test('2xx is success, and either of the secrets verifies it', async () => {
  const secrets = [makeSecret(), makeSecret()];
  assert.deepEqual(await send(`${url}/200`, {}, secrets), { status: 200, error: null, holdMs: null });
  const [{ headers, body } = { headers: {}, body: '' }] = seen;
  for (const secret of secrets) assert.deepEqual(new Webhook(secret).verify(body, headers), { type: 'é' });
  assert.throws(() => new Webhook(makeSecret()).verify(body, headers));
  assert.throws(() => new Webhook(secrets[0] ?? '').verify(`${body} `, headers));
});

test('a redirect is not followed, and only 429 and 503 may delay the next attempt, ten hours at most', async () => {
  assert.deepEqual(await send(`${url}/302`), {
    status: 302,
    error: 'the endpoint answered 302',
    holdMs: null,
  });
  assert.equal(seen.length, 1);
  assert.equal((await send(`${url}/429/30`)).holdMs, 30_000);
  assert.equal((await send(`${url}/503/99999999`)).holdMs, 10 * HOUR_MS);
  assert.equal((await send(`${url}/503/soon`)).holdMs, null);
  assert.equal((await send(`${url}/500/30`)).holdMs, null);
  const retryAt = new Date(Date.now() + 60_000).toUTCString();
  const { holdMs } = await send(`${url}/503/${encodeURIComponent(retryAt)}`);
  assert.ok(holdMs !== null && holdMs > 50_000 && holdMs <= 61_000, `${holdMs}`);
});

test('an endpoint that switches protocols has failed at once, and its connection is closed', {
  timeout: 10_000,
}, async () => {
  for (const path of ['101', 'bare']) {
    const opened = once(server, 'secureConnection') as Promise<[TLSSocket]>;
    const closed = opened.then(([socket]) => once(socket, 'close'));
    assert.deepEqual(await send(`${url}/${path}`), {
      status: 101,
      error: 'the endpoint answered 101',
      holdMs: null,
    });
    await closed;
  }
});

test('a cut connection, an unknown authority and an address inside are failures that name no address', async () => {
  const guard = new AddressGuard({ allowLoopback: false, deniedRanges: [] });
  for (const [to, more, cause] of [
    [`${url}/cut`, {}, /could not be reached \(ECONNRESET\)/],
    [`${url}/200`, { ca: '' }, /could not be reached/],
    [`${url}/200`, { guard }, /not at a public address/],
    ['https://10.0.0.1/', { guard }, /not at a public address/],
    ['https://[::ffff:7f00:1]/', { guard }, /not at a public address/],
  ] as const) {
    const { status, error } = await send(to, more);
    assert.equal(status, null);
    assert.match(error ?? '', cause);
    assert.ok(!error?.includes('localhost') && !error?.includes('10.0.0.1'));
  }
});

test('an endpoint has 15 seconds to answer', async (context) => {
  const timeout = context.mock.method(AbortSignal, 'timeout', () => AbortSignal.abort());
  const { status, error } = await send(`${url}/200`);
  assert.deepEqual([status, error], [null, 'the endpoint did not answer within 15 seconds']);
  assert.deepEqual(
    timeout.mock.calls.map((call) => call.arguments),
    [[15_000]],
  );
});
