import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import type { Clock } from '../../../runtime/clock.ts';
import { type GuardedProcess, spawnGuarded } from '../../../service/dev/guarded-process.ts';
import { readReadyLine } from '../../../service/dev/ready-line.ts';

const schema = v.object({ ready: v.literal(true), at: v.string() });

function say(script: string): GuardedProcess {
  return spawnGuarded({ name: 'talker', command: 'sh', args: ['-c', script], output: 'read' });
}

test('the ready line is found among other lines', async () => {
  const talker = say(
    `echo '{"ready":false}'; echo 'not json'; echo '{"ready":true,"at":"here"}'; exec sleep 600`,
  );
  assert.deepEqual(await readReadyLine(talker, { schema }), { ready: true, at: 'here' });
  assert.deepEqual(await talker.stop({ graceMs: 5_000 }), { code: null, signal: 'SIGTERM' });
});

test('a process that ends first is reported with its exit', async () => {
  await assert.rejects(readReadyLine(say('exit 3'), { schema }), /talker could not start \(exit code 3\)/);
});

test('a command that does not exist is reported like one that ended', async () => {
  const missingProcess = spawnGuarded({
    name: 'ghost',
    command: 'no-such-command',
    args: [],
    output: 'read',
    errors: 'read',
  });
  missingProcess.stderr?.resume();
  await assert.rejects(readReadyLine(missingProcess, { schema }), /ghost could not start \(exit code 127\)/);
});

test('a process that prints nothing fails the wait at the time limit', async () => {
  const talker = say('exec sleep 600');
  let tick: (() => void) | undefined;
  const clock: Clock = {
    wallMs: () => 0,
    monotonicMs: () => 0,
    after(delayMs, callback) {
      assert.equal(delayMs, 5_000);
      tick = callback;
      return { cancel: () => undefined };
    },
  };
  const line = readReadyLine(talker, { schema, timeoutMs: 5_000, clock });
  tick?.();
  await assert.rejects(line, /did not say that it is ready within 5 s/);
  await talker.stop({ graceMs: 5_000 });
});

test('a process that ignores SIGTERM is killed when its time is up', async () => {
  const deaf = say(`trap '' TERM; echo '{"ready":true,"at":"x"}'; while :; do read _; done`);
  await readReadyLine(deaf, { schema });
  assert.deepEqual(await deaf.stop({ graceMs: 20 }), { code: null, signal: 'SIGKILL' });
});
