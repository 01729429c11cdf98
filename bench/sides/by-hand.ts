/**
 * `GET /me` by hand: the service's own parts that no design can leave out, called one after the other in one function.
 * It has no routing, permissions, allowlists, quota, metrics, actors, ownership, bodies or errors. Its request log is
 * dropped instead of stored in Redis. The service's additional time is the price of its design.
 */

import { JSON_TYPE, rateHeaders } from '../../http/contract/envelope.ts';
import { uWebSockets } from '../../http/socket/uwebsockets.ts';
import { identityBody } from '../../http/tenant-api/identity.ts';
import { systemClock } from '../../runtime/clock.ts';
import { memoize } from '../../runtime/memoize.ts';
import { readsBy } from '../../tests/testbed/reads-by.ts';
import { keyLimits, LIMITS, listen, logAnswered, openRequestLog, readHead } from './by-hand-parts.ts';

const requestLog = openRequestLog({ read: readsBy(() => []), append: () => Promise.resolve([]) });
const callerOf = memoize(1_000, (hash: string) => ({
  key: {
    id: hash.slice(0, 24),
    name: 'bench',
    permissions: ['messages.send', 'messages.read', 'shops.read', 'shops.write', 'contacts.write'] as const,
    expiresAt: null,
    createdAt: '2026-01-01T00:00:00.000Z',
  },
  tenant: { id: hash.slice(24, 48), name: 'bench', plan: 'scale' },
}));

const app = uWebSockets.App();
app.any('/*', (response, rawHead) => {
  const head = readHead(rawHead, response);
  if (head.keyHash === undefined || head.path !== '/api/v1/me') {
    response.writeStatus('404 Not Found');
    response.end();
    return;
  }
  const { key, tenant } = callerOf(head.keyHash);
  const rate = keyLimits.take({ keyId: key.id, limits: LIMITS, nowMs: systemClock.wallMs() });
  logAnswered(requestLog, head, { tenantId: tenant.id, keyId: key.id, route: '/me', status: 200 });
  const { limit, remaining } = rate;
  const calls = { limit, used: limit - remaining, remaining, resetsAt: '2026-12-01T00:00:00.000Z' };
  response.writeHeader('Content-Type', `${JSON_TYPE}${rateHeaders(rate)}\r\nX-Request-Id: ${head.requestId}`);
  response.end(identityBody({ key, tenant, limits: LIMITS, quota: { api_calls: calls, apiCalls: calls } }));
});
listen(app);
