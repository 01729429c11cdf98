/** The client's check of a webhook's request, against what `standardwebhooks`, somebody else's code, signs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { makeSecret, signatures } from '../../actors/webhooks/signature.ts';
import { UnverifiedWebhook, verifyWebhook } from '../../client/src/index.ts';

const NOW_MS = 1_800_000_000_000;
const id = `${'0'.repeat(23)}1`;
const body = JSON.stringify({
  id,
  type: 'queue.resumed',
  timestamp: '2027-01-15T08:00:00.000Z',
  data: { shop: 'é' },
});
const secret = makeSecret();

/** Returns a request that was sent `agoMs` ago. */
function request(agoMs = 0, signingSecret = secret) {
  const sentAt = new Date(NOW_MS - agoMs);
  return {
    body,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
      'webhook-signature': new Webhook(signingSecret).sign(id, sentAt, body),
    },
  };
}
const now = (): number => NOW_MS;
const refused = (givenRequest: Parameters<typeof verifyWebhook>[0], options: object = {}) =>
  assert.rejects(verifyWebhook(givenRequest, { secret, now, ...options }), (error: Error) => {
    assert.ok(error instanceof UnverifiedWebhook);
    assert.ok(!error.message.includes(secret.slice(6)));
    return true;
  });

test('a body signed with the secret gives its event, with headers and body unchanged', async () => {
  const given = request();
  const headers = new Headers(given.headers);
  const shouted = Object.fromEntries(
    Object.entries(given.headers).map(([name, value]) => [name.toUpperCase(), value]),
  );
  for (const each of [given, { body, headers }, { body: new TextEncoder().encode(body), headers: shouted }])
    assert.deepEqual(await verifyWebhook(each, { secret, now }), JSON.parse(body));
});

test('while a secret is replaced either of two verifies, on both sides', async () => {
  const fresh = makeSecret();
  const { headers } = request();
  const timestamp = Number(headers['webhook-timestamp']);
  const both = { ...headers, 'webhook-signature': signatures({ id, timestamp, body }, [fresh, secret]) };
  for (const each of [secret, fresh]) await verifyWebhook({ body, headers: both }, { secret: each, now });
  await verifyWebhook(request(), { secret: [fresh, secret], now });
});

test('another secret, body, id, time or version is refused, and so are missing and old ones', async () => {
  await refused(request(0, makeSecret()));
  await refused({ ...request(), body: `${body} ` });
  const { headers } = request();
  for (const [name, value] of [
    ['webhook-id', '0'.repeat(24)],
    ['webhook-timestamp', String(NOW_MS / 1_000 - 1)],
    ['webhook-timestamp', 'now'],
    ['webhook-signature', headers['webhook-signature'].replace('v1,', 'v2,')],
    ['webhook-signature', 'v1,%'],
    ['webhook-signature', 'v1,'],
    ['webhook-id', undefined],
    ['webhook-timestamp', undefined],
    ['webhook-signature', undefined],
  ] as const)
    await refused({ body, headers: { ...headers, [name]: value } });
  await refused(request(301_000));
  await refused(request(-301_000));
  await verifyWebhook(request(299_000), { secret, now });
  await verifyWebhook(request(301_000), { secret, now, toleranceMs: 400_000 });
});

test('a value that cannot be a secret is refused without being shown', async () => {
  for (const each of ['', 'whsec_', 'whsec_%%%', 'c2VjcmV0']) {
    await assert.rejects(verifyWebhook(request(), { secret: each, now }), {
      name: 'TypeError',
      message: 'secret must be whsec_ followed by base64',
    });
  }
});
