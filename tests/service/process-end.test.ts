/** The states of a process from its start to its exit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProcessEnd } from '../../service/process-end.ts';
import { deferred } from '../testbed/deferred.ts';
import { FakeClock } from '../testbed/fake-clock.ts';
import { QuietLog } from '../testbed/quiet-log.ts';

const DELAY_MS = 20_000;

/** A process whose start is under way, and what it did since. */
function startingProcess(shutdownDelayMs = DELAY_MS) {
  const clock = new FakeClock();
  const log = new QuietLog();
  const done: string[] = [];
  const stopped = deferred<Error | undefined>();
  const end = new ProcessEnd({
    clock,
    log,
    shutdownDelayMs,
    reportFailure: (error) => done.push(`reported ${(error as Error).message}`),
    // The real one never returns.
    exit: (exitCode) => {
      done.push(`exit ${exitCode}`);
      return undefined as never;
    },
  });
  const service = {
    withdraw: () => void done.push('withdrawn'),
    async stop() {
      done.push('stop');
      const error = await stopped.promise;
      if (error !== undefined) throw error;
    },
  };
  return { clock, log, done, stopped, end, service };
}

/** A process whose service runs. */
function runningProcess(shutdownDelayMs?: number) {
  const world = startingProcess(shutdownDelayMs);
  world.end.onStarted(world.service);
  return world;
}

test('a signal while the service runs withdraws it, and stops it after the delay', async () => {
  const { clock, done, end, stopped } = runningProcess();
  end.onSignal();
  await clock.advance(DELAY_MS - 1);
  assert.deepEqual(done, ['withdrawn']);
  await clock.advance(1);
  assert.deepEqual(done, ['withdrawn', 'stop']);
  end.onSignal();
  end.onLost();
  stopped.resolve(undefined);
  await clock.advance(0);
  assert.deepEqual(done, ['withdrawn', 'stop', 'exit 0']);
});

test('a second signal ends the delay, and later ones do nothing', async () => {
  const { clock, done, end } = runningProcess(5_000);
  for (let signals = 0; signals < 4; signals += 1) end.onSignal();
  await clock.advance(9_499);
  assert.deepEqual(done, ['withdrawn', 'stop']);
});

test('a signal stops the service at once if there is no delay', () => {
  const { done, end } = runningProcess(0);
  end.onSignal();
  assert.deepEqual(done, ['stop']);
});

test('a lost node stops with 1, also during the delay', async () => {
  for (const isWithdrawn of [false, true]) {
    const { clock, done, end, stopped } = runningProcess();
    if (isWithdrawn) end.onSignal();
    end.onLost();
    stopped.resolve(undefined);
    await clock.advance(0);
    assert.deepEqual(done, [...(isWithdrawn ? ['withdrawn'] : []), 'stop', 'exit 1']);
  }
});

test('a stop that fails is logged, and ends the process with 1', async () => {
  const { clock, done, end, log, stopped } = runningProcess(0);
  end.onSignal();
  stopped.resolve(new Error('not stopped'));
  await clock.advance(0);
  assert.deepEqual([done, log.errors], [['stop', 'exit 1'], ['the stop was not clean']]);
});

test('a stop that hangs ends the process with 1 after 9.5 s', async () => {
  const { clock, done, end } = runningProcess(0);
  end.onSignal();
  await clock.advance(9_499);
  assert.deepEqual(done, ['stop']);
  await clock.advance(1);
  assert.deepEqual(done, ['stop', 'exit 1']);
});

test('a signal during the start aborts it, and the process ends with 0', () => {
  const { done, end } = startingProcess();
  end.onSignal();
  end.onSignal();
  assert.ok(end.startSignal.aborted);
  const { reason } = end.startSignal;
  end.onStartFailed(reason);
  end.exitAfterStart(reason);
  assert.deepEqual(done, ['exit 0']);
});

test('a start that fails ends the process with 1, whether a signal comes before or after', () => {
  const error = new Error('no Redis');
  for (const order of ['before', 'after']) {
    const { done, end } = startingProcess();
    if (order === 'before') end.onSignal();
    end.onStartFailed(error);
    if (order === 'after') end.onSignal();
    assert.equal(end.startSignal.aborted, order === 'before');
    end.exitAfterStart(error);
    assert.deepEqual(done, ['reported no Redis', 'exit 1']);
  }
});

test('a node that is lost during its start exits with 1 at once', () => {
  const { done, end } = startingProcess();
  end.onLost();
  assert.deepEqual(done, ['exit 1']);
});
