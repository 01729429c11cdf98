/** The programs of examples/, as somebody would run them who installed the client from its tarball. */

import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { readRepositoryFile } from '../../testbed/read-repository-file.ts';
import { until } from '../../testbed/waiting.ts';
import { type InstalledClient, installClient } from '../stack/installed-client.ts';
import { type ServiceStack, startServiceStack } from '../stack/service-stack.ts';

const tsx = import.meta.resolve('tsx');
const SHOP_PHONE = '+33611110002';
const CUSTOMER = '+33622220003';
const NOBODY = '+33622220002';
const PACKAGE = 'node_modules/tenant-messaging-client';

const folder = mkdtempSync(join(tmpdir(), 'examples-'));
let stack: ServiceStack;
let installed: InstalledClient;
before(async () => {
  [stack, installed] = await Promise.all([startServiceStack(), installClient(folder)]);
});
after(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

/** An event of the feed. */
interface Told {
  readonly id: string;
  readonly data: { readonly idempotencyKey?: string };
}

function start(program: string, args: readonly string[]): ChildProcessByStdio<null, Readable, null> {
  const variables = [
    ...[`API_URL=${stack.apiUrl()}`, `API_KEY=${stack.apiKey}`, `SIMULATOR_URL=${stack.simulator.url}`],
  ];
  return spawn('env', [...variables, process.execPath, '--import', tsx, program, ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Runs an example to its end. `onLine` sees each line that it prints. */
async function run(
  program: string,
  args: readonly string[],
  onLine: (line: string) => void = () => undefined,
): Promise<{ readonly code: number | null; readonly lines: readonly string[] }> {
  const child = start(program, args);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    onLine(line);
  });
  const [code] = await once(child, 'close');
  return { code, lines };
}

test('the tarball holds the compiled client and nothing else, and needs no other package', async () => {
  const { packed } = installed;
  assert.ok(packed.includes('dist/index.js') && packed.includes('dist/index.d.ts'));
  assert.deepEqual(
    packed.filter((path) => !/^(dist\/[\w-]+\.(js|d\.ts)|package\.json|README\.md)$/.test(path)),
    [],
  );
  const text = packed.map((path) => readFileSync(join(folder, PACKAGE, path), 'utf8'));
  const importedArrays = text.flatMap((each) => [...each.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)]);
  const outside = importedArrays.map(([, name = '']) => name).filter((name) => !name.startsWith('./'));
  // Its README shows how it is imported.
  assert.deepEqual([...new Set(outside)], ['tenant-messaging-client']);
});

test('the examples compile against the types of the tarball', async () => {
  assert.equal(await installed.compile(), '');
});

test("the tour: README's lines are those of tour.ts, which connects, sends and finds the message", async () => {
  const shown = /```ts\n(.*?)```/s.exec(readRepositoryFile('README.md'))?.[1];
  assert.ok(shown && readRepositoryFile('examples/tour.ts').includes(shown));
  const createdAnswer = await stack.admin.post(`/tenants/${stack.tenantId}/shops`, { name: 'Demo shop' });
  assert.equal(createdAnswer.status, 201);
  const { code, lines } = await run('examples/tour.ts', []);
  assert.deepEqual([code, lines.join(' ')], [0, "202 sent [ 'Your bread is ready' ]"]);
  const again = await run('examples/tour.ts', []);
  assert.deepEqual([again.code, again.lines.join(' ')], [0, "200 sent [ 'Your bread is ready' ]"]);
});

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

test('send.ts shows why a message was rejected, and why a send was refused', async () => {
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

test('events.ts shows the events, and continues at its last position', async () => {
  const cursor = join(folder, 'cursor');
  const send = (key: string, to: string) => run('examples/send.ts', [stack.shopId, to, `Hello ${key}`, key]);
  const { data } = await stack.api.get('/events');
  writeFileSync(cursor, String(data.nextCursor));
  for (const [key, to] of [
    ['told-1', '+33622220004'],
    ['told-2', '+33622220005'],
  ] as const) {
    assert.equal((await send(key, to)).code, 0);
    const child = start('examples/events.ts', [cursor]);
    // A receipt of the message before may come in between; its end, which the cursor has passed, may not.
    let ended = 'it told no end';
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.startsWith('message.sent ')) continue;
      ended = line;
      break;
    }
    assert.equal(ended, `message.sent ${to} ${key}`);
    const told = (await stack.api.get(`/events?cursor=${data.nextCursor}`)).data.items as Told[];
    const place = told.find((event) => event.data.idempotencyKey === key)?.id ?? '';
    await until('the cursor is kept', async () => readFileSync(cursor, 'utf8') >= place);
    child.kill('SIGKILL');
    await once(child, 'close');
  }
});

test('inbox.ts answers each message once, also after a crash, and passes over who opted out', async () => {
  const [person, other] = ['+33622220006', '+33622220007'];
  const cursor = join(folder, 'inbox-cursor');
  assert.equal((await stack.admin.patch(`/tenants/${stack.tenantId}`, { inbound: 'texts' })).status, 200);
  const beginning = String((await stack.api.get('/events')).data.nextCursor);
  const place = () => readFileSync(cursor, 'utf8');
  const write = (from: string, text: string) => stack.network.write(from, { to: SHOP_PHONE, text });
  /** Starts at the beginning, and ends it at once after that many messages. */
  const told = async (count: number): Promise<string[]> => {
    writeFileSync(cursor, beginning);
    const child = start('examples/inbox.ts', [stack.shopId, 'We call you.', cursor]);
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) if (lines.push(line) === count) break;
    const { data } = await stack.api.get(`/events?cursor=${beginning}&types=message.received`);
    const lastId = (data.items as Told[])[count - 1]?.id ?? '';
    await until('the cursor is kept', async () => place() >= lastId);
    child.kill('SIGKILL');
    await once(child, 'close');
    return lines;
  };
  await write(person, 'Are you open?');
  assert.deepEqual(await told(1), [`answered ${person}`]);
  await write(other, 'STOP');
  assert.deepEqual(await told(2), [`replayed ${person}`, `passed over ${other} RECIPIENT_OPTED_OUT`]);
  await until('the answer arrived', async () => (await stack.network.inbox(person)).items.length > 0);
  const texts = (await stack.network.inbox(person)).items.map(({ text }) => text);
  assert.deepEqual(texts, ['We call you.']);
  const { data } = await stack.api.get(`/shops/${stack.shopId}/inbound`);
  const marked = (data.items as { readonly readAt: string | null }[]).map(({ readAt }) => readAt !== null);
  assert.deepEqual(marked, [false, true]);
});

test('batch.ts writes to all of a list, shows each refused recipient, and follows the same batch when it is run again', async () => {
  const people = ['+33622220011', '+33622220012'];
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones: people });
  const list = join(folder, 'people.csv');
  writeFileSync(list, [...people, '+33622220019'].map((phone) => `${phone},${phone.slice(-2)}`).join('\n'));
  const args = [stack.shopId, 'news', list, 'Hello {{name}}'];
  const first = await run('examples/batch.ts', args);
  const [refused, forecast = '', ...rest] = first.lines;
  assert.deepEqual([refused, rest], ['refused +33622220019 COLD_RECIPIENT', ['finished sent 2']]);
  // The first may have left before the forecast is made.
  assert.match(forecast, /^forecast \d{4}-\d\d-\d\d [12]$/);
  const again = await run('examples/batch.ts', args);
  assert.deepEqual([again.code, again.lines.at(-1)], [0, 'finished sent 2']);
  const inboxes = await Promise.all(people.map((phone) => stack.network.inbox(phone)));
  assert.deepEqual(
    inboxes.map(({ items }) => items.map(({ text }) => text)),
    [['Hello 11'], ['Hello 12']],
  );
});
