import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import type { Simulator } from '../../simulator/simulator.ts';
import { moduleFile, nodeFlags } from '../testbed/root.ts';
import { simulatorControl } from '../testbed/simulator-control.ts';
import { linkedClient } from './test-client.ts';

const SHOP = '+33611111111';
const CUSTOMER = '+33622222222';
const CUSTOMER_ADDRESS = '33622222222@s.whatsapp.net';
const PROGRAM = moduleFile('tests/simulator/simulator-process.ts');

test('a simulator killed the moment it acknowledged forgets nothing it acknowledged', async (context) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'simulator-'));
  let child: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  context.after(async () => {
    await kill();
    await rm(dataDir, { recursive: true, force: true });
  });
  const start = async (port = 0): Promise<Simulator> => {
    child = spawn(process.execPath, [...nodeFlags, PROGRAM, dataDir, String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    const [line] = (await once(lines, 'line')) as [string];
    return { ...(JSON.parse(line) as Omit<Simulator, 'close'>), close: kill };
  };
  const simulator = await start();
  const control = simulatorControl(simulator.url);
  let client = await linkedClient(simulator, (qr) => control.scan(qr, SHOP));
  const expected: string[] = [];
  for (const round of [1, 2, 3]) {
    const burst = [`${round} one`, `${round} two`, `${round} three`];
    const sent = await Promise.all(
      burst.map((text) => client.socket.sendMessage(CUSTOMER_ADDRESS, { text })),
    );
    await Promise.all(sent.map((message) => client.ack(message?.key.id ?? '')));
    expected.push(...burst);
    await kill();
    assert.equal(await client.closed(), 428);
    await start(simulator.port);
    client = client.again();
    await client.opened();
    const { delivered } = await control.write(CUSTOMER, { to: SHOP, text: `${round} answer` });
    assert.equal(delivered, true);
    await client.received(`${round} answer`);
  }
  const { items } = await control.inbox(CUSTOMER);
  assert.deepEqual(items.map(({ text }) => text).toSorted(), expected.toSorted());
  await client.end();
});
