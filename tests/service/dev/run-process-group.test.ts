import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { lockFile } from '../../../service/dev/file-lock.ts';
import { moduleFile, nodeFlags } from '../../testbed/root.ts';

const patient = 'exec sleep 600';

interface Running {
  readonly process: ChildProcess;
  readonly pid: number;
  /** The first line on standard output. */
  readonly line: Promise<{ readonly ready: boolean; readonly pids: readonly number[] }>;
  /** Resolves when this text was written on standard error. */
  heard(text: string): Promise<void>;
  /** Settles when the process and everything that inherited its output are gone. */
  readonly over: Promise<{
    readonly code: number | null;
    readonly signal: string | null;
    readonly errors: string;
  }>;
}

/** Starts a group in a separate process group. */
function run(scenario: object): Running {
  const script = moduleFile('tests/service/dev/group-process.ts');
  const child = spawn(process.execPath, [...nodeFlags, script, JSON.stringify(scenario)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const line = once(createInterface({ input: child.stdout }), 'line').then(([text]) => JSON.parse(text));
  // A scenario that fails prints no line.
  line.catch(() => undefined);
  const heard = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const listen = (): void => {
        if (errors.includes(text)) resolve();
      };
      child.stderr.on('data', listen);
      listen();
    });
  const exit = once(child, 'close').then(([code, signal]) => ({ code, signal, errors }));
  return { process: child, pid: child.pid ?? assert.fail('it did not start'), line, heard, over: exit };
}

/** False for one that has ended and whose new parent, the system's first process, has not looked yet. */
function runs(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

function assertGone(pids: readonly number[]): void {
  for (const pid of pids) assert.equal(runs(pid), false, `${pid} still runs`);
}

const two = [
  { name: 'first', script: patient },
  { name: 'second', script: patient },
];

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`${signal} to the process ends everything with exit 0`, async () => {
    const group = run({ members: two, outcome: 'ready' });
    const { pids } = await group.line;
    group.process.kill(signal);
    const { code, errors } = await group.over;
    assert.deepEqual({ code, errors }, { code: 0, errors: '' });
    assertGone(pids);
  });

  test(`${signal} to the whole group ends everything with exit 0`, async () => {
    const group = run({ members: two, outcome: 'ready' });
    const { pids } = await group.line;
    process.kill(-group.pid, signal);
    assert.equal((await group.over).code, 0);
    assertGone(pids);
  });
}

test('a signal during the start ends the started members with exit 0', async () => {
  const group = run({ members: two, outcome: 'hangs' });
  const { pids } = await group.line;
  group.process.kill('SIGTERM');
  assert.equal((await group.over).code, 0);
  assertGone(pids);
});

test('members stay in the process group, each under the id that was printed', async () => {
  const group = run({
    members: [{ name: 'one', script: 'echo "$$ $(ps -o pgid= -p $$)" >&2; read _' }, ...two],
    outcome: 'ready',
  });
  // The first member reads an empty input and ends at once, which ends the others.
  const { code, errors } = await group.over;
  const { pids } = await group.line;
  assert.equal(code, 1);
  assert.match(errors, new RegExp(`^${pids[0]} +${group.pid}$`, 'm'));
});

test('when a member is killed the others are ended, and the exit shows it', async () => {
  const group = run({ members: two, outcome: 'ready' });
  const { pids } = await group.line;
  process.kill(pids[1] ?? 0, 'SIGKILL');
  const { code, errors } = await group.over;
  assert.equal(code, 1);
  assert.equal(errors, 'group: second ended (SIGKILL)\n');
  assertGone(pids);
});

test('a member that ends by itself with exit 0 ends the group with an error', async () => {
  const group = run({ members: [...two, { name: 'third', script: 'exit 0' }], outcome: 'hangs' });
  const { code, errors } = await group.over;
  assert.equal(code, 1);
  assert.equal(errors, 'group: third ended (exit code 0)\n');
  assertGone((await group.line).pids);
});

test('when the start fails, started members are ended and one sentence gives the reason', async () => {
  const group = run({ members: two, outcome: 'fails' });
  const { code, errors } = await group.over;
  assert.equal(code, 1);
  assert.equal(errors, 'group: the last step went wrong\n');
});

test('members end after SIGKILL of the process, and their lock is free only then', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'group-'));
  const lockPath = join(folder, 'lock');
  // No long sleep beside it: a shell's child that is asked to end before it has become its command lives on.
  const slow = `trap 'echo ended politely >&2; exit' TERM; echo listens >&2; while sleep 0.1; do :; done`;
  const group = run({ members: [{ name: 'slow', script: slow }, ...two], outcome: 'ready', lockPath });
  await group.line;
  await group.heard('listens');
  assert.equal(await lockFile(lockPath, { waitSeconds: 0 }), undefined);
  group.process.kill('SIGKILL');
  const lock = await lockFile(lockPath, { waitSeconds: 60 });
  const { signal, errors } = await group.over;
  assert.equal(signal, 'SIGKILL');
  assert.match(errors, /ended politely/);
  assert.ok(lock);
  lock.release();
  rmSync(folder, { recursive: true });
});
