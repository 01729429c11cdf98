/**
 * docs/first-day.md: its lines of shell, one after the other, against a service without any tenant and a simulated
 * network.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { readRepositoryFile } from '../../testbed/read-repository-file.ts';
import { until } from '../../testbed/waiting.ts';
import { sharedStack } from '../stack/shared-stack.ts';

const SHOP_PHONE = '+33611110001';

const stack = sharedStack();

const page = readRepositoryFile('docs/first-day.md');
const lines = [...page.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block = '']) =>
  block.trim().split('\n'),
);
/** Lines that only define what later ones use. */
const isDefinition = (line: string): boolean => /^(?:[A-Z]+=|\w+\(\) \{)/.test(line);

/** The reader's value for each word in capitals. */
const known = new Map<string, string>();
/** The needs of the page, in its order. */
const seen: string[] = [];

/** Runs one line as the reader does, with what the lines before it defined; the `data` of the reply. */
async function run(line: string): Promise<Record<string, unknown>> {
  const prelude = lines.filter(isDefinition).join('\n');
  let script = `${prelude}\n${line}`
    .replaceAll('http://127.0.0.1:3000/api/v1', stack.apiUrl())
    .replaceAll('http://127.0.0.1:3001', stack.adminUrl());
  for (const [word, value] of known) script = script.replaceAll(word, value);
  const { stdout } = await promisify(execFile)('env', [
    `ADMIN_TOKEN=${stack.adminToken}`,
    ...['bash', '-c', script],
  ]);
  const { data, ...rest } = JSON.parse(stdout) as { readonly data?: Record<string, unknown> };
  assert.ok(data, `${line}\n${JSON.stringify(rest)}`);
  return data;
}

/** The reader's steps after a line, by the call in the line. */
const steps: readonly (readonly [line: RegExp, then: (line: string) => Promise<void>])[] = [
  [
    /^admin \/tenants -d/,
    async (line) => {
      known.set('TENANT_ID', String((await run(line)).id));
    },
  ],
  [
    /^admin \/tenants\/TENANT_ID\/keys/,
    async (line) => {
      known.set('THE_KEY', String((await run(line)).key));
    },
  ],
  [
    /^call \/shops -d/,
    async (line) => {
      assert.equal((await run(line)).name, 'Bakery');
    },
  ],
  [
    /^call \/shops\/bakery\/channels\/msgapp\/connect -X POST/,
    async (line) => {
      const { qr, qrImageDataUrl } = await run(line);
      assert.match(String(qrImageDataUrl), /^data:image\/png;base64,/);
      await stack.network.scan(String(qr), SHOP_PHONE);
    },
  ],
  [
    /^call \/shops\/bakery\/channels\/msgapp\/connect /,
    async (line) => {
      await until('the shop is connected', async () => (await run(line)).status === 'connected');
    },
  ],
  [
    /^call \/shops\/bakery\/messages -d/,
    async (line) => {
      const [, to = ''] = /"to":"([^"]+)"/.exec(line) ?? [];
      // "Let it write to the shop's number before."
      await stack.network.write(to, { to: SHOP_PHONE, text: 'Good morning' });
      known.set('MESSAGE_ID', String((await run(line)).id));
      known.set('RECIPIENT', to);
    },
  ],
  [
    /^call \/messages\/MESSAGE_ID/,
    async (line) => {
      await until('the phone has the message', async () => (await run(line)).deliveredAt !== null);
      const { items } = await stack.network.inbox(known.get('RECIPIENT') ?? '');
      assert.deepEqual(
        items.map(({ text }) => text),
        ['Your bread is ready'],
      );
    },
  ],
];

test('the nodes answer that they are ready, as the page asks them', async () => {
  const [line] = lines.filter((each) => each.includes('/readyz'));
  assert.match(line ?? '', /^curl -s http:\/\/127\.0\.0\.1:3001\/readyz /);
  assert.equal((await fetch(`${stack.adminUrl()}/readyz`)).status, 200);
});

// Those of the engine are run by the container tests of compose.yaml.
for (const line of lines.filter((each) => !isDefinition(each) && !/^docker |\/readyz/.test(each))) {
  test(`the first day: ${line}`, async () => {
    const step = steps.find(([form]) => form.test(line));
    assert.ok(step, 'the page has a line that nothing here follows');
    await step[1](line);
    seen.push(line);
  });
}

test('as many commands were run as the page has steps', () => assert.equal(seen.length, steps.length));
