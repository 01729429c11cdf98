// A stack that people would choose instead: Fastify 5, rate-limiter-flexible and BullMQ. They do the same work in the
// way their documentation shows it. `node fastify.js <redis|memory> <socket of Redis> <fleet.json>`
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Queue } from 'bullmq';
import createFastify from 'fastify';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { createPolicy } from './policy.js';

const [limits, redisPath, fleetPath] = process.argv.slice(2);
const fleet = JSON.parse(readFileSync(fleetPath, 'utf8'));
const sha256 = (text) => createHash('sha256').update(text).digest('hex');
// Keys, shops and customers are in memory. No such service would have that without cost.
const keys = new Map(fleet.keys.map(({ key, tenantId }, index) => [sha256(key), { id: `key${index}`, tenantId }]));
const shops = new Map(fleet.shops.map((shop) => [shop.id, shop]));
const policy = createPolicy(new Set(fleet.recipients));

const redis = new Redis({ path: redisPath, enableAutoPipelining: true });
const queue = new Queue('messages', { connection: new Redis({ path: redisPath, maxRetriesPerRequest: null }) });
const limiter = (keyPrefix, duration) => {
  const options = { keyPrefix, points: 100_000_000, duration };
  return limits === 'redis' ? new RateLimiterRedis({ storeClient: redis, ...options }) : new RateLimiterMemory(options);
};
const windows = [limiter('minute', 60), limiter('hour', 3_600), limiter('day', 86_400)];

const error = (code, message) => ({ success: false, error: { code, message } });
const app = createFastify({
  loggerInstance: pino({ level: 'info' }, pino.destination({ fd: 2, sync: false, minLength: 4_096 })),
  disableRequestLogging: true,
  genReqId: () => randomBytes(12).toString('hex'),
});
app.decorateRequest('caller', null);
app.addHook('onResponse', (request, reply, done) => {
  const { id, method, routeOptions, ip } = request;
  request.log.info({ id, method, route: routeOptions.url, status: reply.statusCode, latencyMs: reply.elapsedTime, ip }, 'request');
  done();
});
app.addHook('onRequest', async (request, reply) => {
  const { authorization = '' } = request.headers;
  const caller = keys.get(sha256(authorization.slice(7)));
  if (caller === undefined) return reply.code(401).send(error('API_KEY_INVALID', 'unknown key'));
  request.caller = caller;
  const used = await Promise.all(windows.map((window) => window.consume(caller.id)));
  const tightest = used.reduce((least, one) => (one.remainingPoints < least.remainingPoints ? one : least));
  reply.headers({
    'X-RateLimit-Limit': 100_000_000,
    'X-RateLimit-Remaining': tightest.remainingPoints,
    'X-RateLimit-Reset': Math.ceil((Date.now() + tightest.msBeforeNext) / 1_000),
    'X-RateLimit-Scope': ['minute', 'hour', 'day'][used.indexOf(tightest)],
    'X-Request-Id': request.id,
  });
});

app.get('/api/v1/me', async ({ caller }) => ({
  success: true,
  data: {
    key: { id: caller.id, name: 'bench', permissions: ['messages.send', 'messages.read'], expiresAt: null },
    tenant: { id: caller.tenantId, name: 'bench', plan: 'scale' },
    limits: { minute: 100_000_000, hour: 100_000_000, day: 100_000_000 },
  },
}));

app.get('/api/v1/messages/:id', async (request, reply) => {
  const job = await queue.getJob(request.params.id);
  if (job === undefined || job.data.tenantId !== request.caller.tenantId) {
    return reply.code(404).send(error('MESSAGE_NOT_FOUND', 'no such message'));
  }
  return { success: true, data: { id: job.id, status: 'queued', ...job.data } };
});

const body = {
  type: 'object',
  required: ['channel', 'to'],
  additionalProperties: false,
  properties: {
    channel: { const: 'msgapp' },
    to: { type: 'string', pattern: '^\\+[1-9][0-9]{6,14}$' },
    text: { type: 'string', maxLength: 4_096 },
    mediaUrl: { type: 'string' },
    idempotencyKey: { type: 'string', minLength: 1, maxLength: 128 },
  },
};
app.post('/api/v1/shops/:id/messages', { schema: { body } }, async (request, reply) => {
  const { caller, body: draft, params } = request;
  const shop = shops.get(params.id);
  if (shop?.tenantId !== caller.tenantId) return reply.code(404).send(error('SHOP_NOT_FOUND', 'no such shop'));
  const nowMs = Date.now();
  const verdict = policy.evaluate(shop.id, draft, nowMs);
  if (!verdict.admitted) return reply.code(429).send(error(verdict.code, 'refused by the send policy'));
  const id = randomBytes(12).toString('hex');
  const message = { tenantId: caller.tenantId, shopId: shop.id, ...draft, policy: verdict.policy, createdAtMs: nowMs };
  await queue.add('message', message, { jobId: id });
  policy.record(shop.id, verdict.entry);
  return reply.code(202).send({
    success: true,
    data: { id, status: 'queued', statusUrl: `/api/v1/messages/${id}`, policy: verdict.policy },
  });
});

await queue.waitUntilReady();
await app.listen({ port: 0, host: '127.0.0.1' });
process.stdout.write(`${JSON.stringify({ ready: true, api: `http://127.0.0.1:${app.server.address().port}/api/v1` })}\n`);
