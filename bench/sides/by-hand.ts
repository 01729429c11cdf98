import uWebSockets from 'uWebSockets.js';
import { JSON_TYPE, rateHeaders, successText } from '../../http/contract/envelope.ts';
import { rememberedJson } from '../../http/contract/known-json.ts';
import { addressOfBytes } from '../../http/pipeline/client-address.ts';
import { bearer, keyHash } from '../../http/pipeline/presented-key.ts';
import { logLineCache } from '../../http/request-log/log-line-cache.ts';
import { createLogger } from '../../http/request-log/process-log.ts';
import { RequestLog } from '../../http/request-log/request-log.ts';
import { KeyLimits } from '../../policy/key-limits.ts';
import { systemClock } from '../../runtime/clock.ts';
import { memoize } from '../../runtime/memoize.ts';
import { objectIdGenerator } from '../../runtime/object-id.ts';
import { systemRandom } from '../../runtime/random.ts';

// `GET /me` by hand: the service's own parts that no design can leave out, called one after the other in one function.
// No routing, permissions, allowlists, quota, metrics, actors, ownership, bodies or errors, and a request log that is
// thrown away in place of Redis. What the service takes above this is what its design costs.
const LIMITS = { minute: 100_000_000, hour: 100_000_000, day: 100_000_000 };
const keyLimits = new KeyLimits();
const log = createLogger({ level: 'info' });
const requestLog = new RequestLog({
  store: { read: () => Promise.resolve([]), append: () => Promise.resolve([]) },
  clock: systemClock,
  log,
  limits: { maxEntriesPerTenant: 100_000, maxAgeMs: 86_400_000, maxBytes: 1_000_000_000 },
});
const partsOf = logLineCache();
const newId = objectIdGenerator(systemRandom);
const callerOf = memoize(1_000, (hash: string) => ({
  key: {
    id: hash.slice(0, 24),
    name: 'bench',
    permissions: ['messages.send', 'messages.read', 'shops.read', 'shops.write', 'contacts.write'],
    expiresAt: null,
  },
  tenant: { id: hash.slice(24, 48), name: 'bench', plan: 'scale' },
}));

const app = uWebSockets.App();
app.any('/*', (response, raw) => {
  const startedMs = systemClock.monotonicMs();
  const method = raw.getCaseSensitiveMethod();
  const token = bearer(raw.getHeader('authorization'));
  const given = raw.getHeader('x-request-id');
  const hash = token === undefined ? undefined : keyHash(token);
  if (hash === undefined || raw.getUrl() !== '/api/v1/me') {
    response.writeStatus('404 Not Found');
    response.end();
    return;
  }
  const ip = addressOfBytes(response.getRemoteAddress());
  const atMs = systemClock.wallMs();
  const { key, tenant } = callerOf(hash);
  const rate = keyLimits.take({ keyId: key.id, limits: LIMITS, nowMs: atMs });
  const requestId = given === '' ? newId(atMs) : given;
  const latencyMs = Math.round((systemClock.monotonicMs() - startedMs) * 100) / 100;
  const answered = {
    atMs,
    requestId,
    tenantId: tenant.id,
    keyId: key.id,
    method,
    route: '/me',
    status: 200,
    words: partsOf({ tenantId: tenant.id, keyId: key.id, method, route: '/me', status: 200 }),
    latencyMs,
    ip,
    errorCode: undefined,
  };
  requestLog.record(answered);
  log.request(answered, 'request');
  const who = `"key":${rememberedJson(key)},"tenant":${rememberedJson(tenant)},"limits":${rememberedJson(LIMITS)}`;
  response.writeHeader('Content-Type', `${JSON_TYPE}${rateHeaders(rate)}\r\nX-Request-Id: ${requestId}`);
  response.end(successText(`{${who},"quota":{"apiCalls":{"limit":null,"used":${rate.remaining}}}}`));
});
app.listen('127.0.0.1', 0, (listener) => {
  if (listener === false) throw new Error('no port could be had');
  const port = uWebSockets.us_socket_local_port(listener);
  process.stdout.write(`${JSON.stringify({ ready: true, api: `http://127.0.0.1:${port}/api/v1` })}\n`);
});
