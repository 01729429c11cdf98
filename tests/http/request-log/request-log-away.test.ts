/** The request log while Redis is away: how much it holds, and what it does after a close. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestLog } from '../../../http/request-log/request-log.ts';
import { requestLogKeys } from '../../../http/request-log/request-log-keys.ts';
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

test('a write that Redis refuses after a close is not tried again', async () => {
  const clock = new FakeClock();
  const { promise: held, resolve: release } = deferred();
  let writes = 0;
  const log = openLog(clock, async () => {
    writes += 1;
    await held;
    throw new Error('away');
  });
  log.record(request);
  await clock.advance(200);
  const closed = log.close();
  release();
  await closed;
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

test('entries that Redis took are not written again because it refused those of another tenant', async () => {
  const clock = new FakeClock();
  const taken: unknown[] = [];
  let isAway = true;
  const log = openLog(clock, (writes) => {
    if (isAway && writes.some((command) => command.includes(requestLogKeys('away')[0])))
      return Promise.reject(new Error('its master is away'));
    return Promise.resolve(
      writes.map((command) => {
        if (command[0] !== 'EVAL') return [null, null];
        taken.push(command[3]);
        return ['1-0', 9];
      }),
    );
  });
  for (const tenantId of ['here', 'away']) log.record({ ...request, tenantId });
  await clock.advance(1_200);
  assert.deepEqual(taken, [requestLogKeys('here')[0]]);
  isAway = false;
  await log.close();
  assert.deepEqual(taken, [requestLogKeys('here')[0], requestLogKeys('away')[0]]);
});

test('a log whose index Redis refused is indexed later, and not written again', async () => {
  const clock = new FakeClock();
  const names: unknown[] = [];
  let isAway = true;
  const log = openLog(clock, (writes) => {
    names.push(...writes.map(([name]) => name));
    if (isAway && writes[0]?.[0] === 'ZADD') return Promise.reject(new Error('away'));
    return Promise.resolve(writes.map(([name]) => (name === 'EVAL' ? ['1-0', 9] : [null])));
  });
  log.record(request);
  await clock.advance(200);
  isAway = false;
  await clock.advance(500);
  assert.deepEqual(names, ['EVAL', 'ZADD', 'ZADD', 'ZMSCORE', 'ZADD', 'ZADD', 'ZMSCORE']);
  await log.close();
});

test('a close indexes what a write before it could not', async () => {
  const clock = new FakeClock();
  let indexings = 0;
  const log = openLog(clock, (writes) => {
    if (writes[0]?.[0] === 'ZADD') indexings += 1;
    if (indexings === 1) return Promise.reject(new Error('away'));
    return Promise.resolve(writes.map(([name]) => (name === 'EVAL' ? ['1-0', 9] : [null])));
  });
  log.record(request);
  await clock.advance(200);
  await log.close();
  assert.equal(indexings, 2);
});
