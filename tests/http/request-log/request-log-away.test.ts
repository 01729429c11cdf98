/** The request log while Redis is away: how much it holds, and what it does after a close. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestLog } from '../../../http/request-log/request-log.ts';
import type { Store } from '../../../runtime/store.ts';
import { deferred } from '../../testbed/deferred.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';

const request = {
  atMs: 0,
  requestId: 'r',
  tenantId: undefined,
  keyId: undefined,
  method: 'GET',
  route: '/me',
  status: 200,
  latencyMs: 0.5,
  ip: '127.0.0.1',
  errorCode: undefined,
};
const none = () => undefined;

function openLog(clock: FakeClock, append: Store['append']): RequestLog {
  return new RequestLog({
    store: { read: () => Promise.reject(new Error('it reads nothing')), append },
    clock,
    log: { debug: none, info: none, warn: none, error: none },
    limits: { maxEntriesPerTenant: 1, maxAgeMs: 1, maxBytes: 1 },
  });
}

test('nothing is written after a close at which Redis refused the entries', async () => {
  const clock = new FakeClock();
  let writes = 0;
  const log = openLog(clock, () => {
    writes += 1;
    return Promise.reject(new Error('away'));
  });
  log.record(request);
  await log.close();
  assert.equal(writes, 1);
  await clock.advance(60_000);
  assert.equal(writes, 1);
});

test('entries of a write that fails count towards the memory limit all the time', async () => {
  const clock = new FakeClock();
  const { promise: held, resolve: release } = deferred();
  let isAway = true;
  const log = openLog(clock, async (writes) => {
    await held;
    if (isAway) throw new Error('away');
    return writes.map(([command]) => (command === 'EVAL' ? ['1-0', 9] : [null]));
  });
  for (let call = 0; call < 50_000; call += 1) log.record(request);
  await clock.advance(200);
  log.record(request);
  assert.equal(log.dropped, 1);
  release();
  await clock.advance(0);
  log.record(request);
  assert.equal(log.dropped, 2);
  isAway = false;
  await log.flush().catch(none);
  log.record(request);
  assert.equal(log.dropped, 2);
  await log.close();
});
