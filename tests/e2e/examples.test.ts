/** The programs of examples/, as somebody would run them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { type ServiceStack, startServiceStack } from './service-stack.ts';

const root = join(import.meta.dirname, '../..');
const SHOP_PHONE = '+33611110001';
const CUSTOMER = '+33622220001';
const NOBODY = '+33622220002';

const folder = mkdtempSync(join(tmpdir(), 'examples-'));
let stack: ServiceStack;
before(async () => {
  stack = await startServiceStack();
});
after(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

/** Runs an example to its end. `onLine` sees each line that it prints. */
async function run(
  program: string,
  args: readonly string[],
  onLine: (line: string) => void = () => undefined,
): Promise<{ readonly code: number | null; readonly lines: readonly string[] }> {
  const variables = [`API_URL=${stack.apiUrl()}`, `API_KEY=${stack.apiKey}`];
  const child = spawn('env', [...variables, process.execPath, '--import', 'tsx', program, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    onLine(line);
  });
  const [code] = await once(child, 'close');
  return { code, lines };
}

test('connect.ts shows a code as text and picture, and ends when it was scanned', async () => {
  const picture = join(folder, 'qr.png');
  const { code, lines } = await run('examples/connect.ts', [stack.shopId, picture], (line) => {
    const [word, qr] = line.split(' ');
    if (word === 'qr' && qr !== undefined) void stack.network.scan(qr, SHOP_PHONE);
  });
  assert.equal(code, 0);
  assert.equal(lines.at(-1), `connected ${SHOP_PHONE.slice(1)}`);
  assert.equal(readFileSync(picture).subarray(1, 4).toString(), 'PNG');
});

test('send.ts sends once, however often it is started with the same key', async () => {
  const args = [stack.shopId, CUSTOMER, 'Your bread is ready', 'order-1'];
  const first = await run('examples/send.ts', args);
  const again = await run('examples/send.ts', args);
  assert.deepEqual([first.code, again.code], [0, 0]);
  const id = first.lines[0]?.split(' ')[1];
  assert.deepEqual(first.lines, [`accepted ${id}`, 'sent']);
  assert.deepEqual(again.lines, [`replayed ${id}`, 'sent']);
  assert.equal((await stack.network.inbox(CUSTOMER)).items.length, 1);
});

test('send.ts says why a message was rejected, and why a send was refused', async () => {
  await stack.network.setNumber(NOBODY, false);
  const rejected = await run('examples/send.ts', [stack.shopId, NOBODY, 'Anybody there?', 'order-2']);
  assert.deepEqual([rejected.code, rejected.lines[1]], [1, 'rejected RECIPIENT_NOT_ON_MSGAPP']);
  const refused = await run('examples/send.ts', [stack.shopId, CUSTOMER, 'One more thing', 'order-3']);
  assert.equal(refused.code, 1);
  assert.match(refused.lines[0] ?? '', /^refused RECIPIENT_RATE_LIMITED; again after \d+ s$/);
});

test('messages.ts lists what there is, newest first, and by status', async () => {
  const { code, lines } = await run('examples/messages.ts', [stack.shopId]);
  assert.equal(code, 0);
  assert.deepEqual(
    lines.map((line) => line.split(' ').slice(1)),
    [
      ['rejected', NOBODY],
      ['sent', CUSTOMER],
    ],
  );
  const rejected = await run('examples/messages.ts', [stack.shopId, 'rejected']);
  assert.deepEqual(rejected.lines, [lines[0]]);
});
