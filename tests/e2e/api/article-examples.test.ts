/**
 * Runs the examples of the articles unchanged against the service. All examples of an article in one language are one
 * program, with `call` from the first article.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { until } from '../../testbed/waiting.ts';
import { type Account, makeAccount } from '../stack/account.ts';
import { apiClient } from '../stack/api-client.ts';
import { sharedStack } from '../stack/shared-stack.ts';

/** The articles' languages, the phone of the shop that the programs of each connect, and a person who writes to it. */
const LANGUAGES = {
  sh: { command: 'bash', file: 'example.sh', phone: '+33611110001', writer: '+33622220201' },
  js: { command: process.execPath, file: 'example.mjs', phone: '+33611110002', writer: '+33622220202' },
  python: { command: 'python3', file: 'example.py', phone: '+33611110003', writer: '+33622220203' },
} as const;
type Language = keyof typeof LANGUAGES;

const FIRST_ARTICLE = 'getting-started';
/** Its examples install and compile. tests/e2e/api/examples.test.ts runs them. */
const CLIENT_ARTICLE = 'typescript-client';
const RECIPIENT = '+41797654321';

after(() => rmSync(folder, { recursive: true, force: true }));
const stack = sharedStack();
const folder = mkdtempSync(join(tmpdir(), 'examples-'));
before(() => {
  // Packages that the articles install.
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
});

/** The examples of an article in a language, in their order. */
function examplesIn(markdown: string, language: Language): string[] {
  return [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, text = '']) => text,
  );
}

/** Runs a program as a reader would, with the address and the key in the environment; rejects when it fails. */
async function run(language: Language, name: string, program: string, account: Account): Promise<string> {
  const { command, file } = LANGUAGES[language];
  const path = join(folder, `${language}-${name}-${file}`);
  writeFileSync(path, language === 'sh' ? `set -euo pipefail\n${program}` : program);
  const { stdout } = await promisify(execFile)(command, [path], {
    timeout: 60_000,
    cwd: folder,
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      API: stack.apiUrl(),
      KEY: account.apiKey,
      SHOP: account.shopId,
    },
  });
  return stdout;
}

/** Holds the shop's phone before the code, as soon as the program asked for one. */
async function scan({ apiKey }: Account, phone: string): Promise<void> {
  const api = apiClient(stack.apiUrl, apiKey);
  const path = '/shops/bakery%20rue%20haute/channels/msgapp/connect';
  const qr = await until('a code waits to be scanned', async () => {
    const { status, data } = await api.get(path);
    return status === 200 ? data.qr : undefined;
  });
  await stack.network.scan(String(qr), phone);
}

async function isMissing(command: string): Promise<boolean> {
  return await promisify(execFile)(command, ['--version']).then(
    () => false,
    () => true,
  );
}

describe('the examples', { concurrency: 3 }, () => {
  for (const language of Object.keys(LANGUAGES) as Language[]) {
    const { command, phone, writer } = LANGUAGES[language];
    test(`in ${language} do the same as in the articles`, async (context) => {
      if (await isMissing(command)) {
        context.skip(`${command} is not on this machine, so the examples in ${language} were not run.`);
        return;
      }
      const account = await makeAccount(stack.admin, `Reader of ${language}`);
      const { data } = await apiClient(stack.apiUrl, account.apiKey).get('/docs');
      const slugs = (data.items as { slug: string }[]).map(({ slug }) => slug);
      const examples = new Map<string, string[]>();
      for (const slug of slugs) {
        const page = await fetch(new URL(`/docs/${slug}.md`, stack.apiUrl()));
        examples.set(slug, examplesIn(await page.text(), language));
      }
      const [first = [], rest] = [
        examples.get(FIRST_ARTICLE),
        [...examples].filter(([slug]) => slug !== FIRST_ARTICLE && slug !== CLIENT_ARTICLE),
      ];
      const [call = '', ...steps] = first;
      assert.equal(steps.length, 5, 'the five steps of the first article');
      const [printed] = await Promise.all([
        run(language, FIRST_ARTICLE, first.join('\n'), account),
        scan(account, phone),
      ]);
      assert.match(printed, /\bsent\b/);
      const { items } = await stack.network.inbox(RECIPIENT);
      assert.equal(
        items.filter(({ from, text }) => from === phone && text === 'Your order is ready.').length,
        1,
      );
      await stack.admin.patch(`/tenants/${account.tenantId}`, { inbound: 'texts' });
      await stack.network.write(writer, { to: phone, kind: 'image', text: 'Is this yours?' });
      let others = 0;
      for (const [slug, texts] of rest) {
        if (texts.length === 0) continue;
        others += 1;
        const shop = { ...account, shopId: 'bakery%20rue%20haute' };
        const output = await run(language, slug, [call, ...texts].join('\n'), shop);
        if (slug === 'inbound' && language !== 'sh') assert.match(output, /^image\/jpeg 1000$/m);
      }
      if (language === 'sh') assert.equal(statSync(join(folder, 'attachment.bin')).size, 1_000);
      const listedAnswer = await apiClient(stack.apiUrl, account.apiKey).get(
        '/shops/bakery%20rue%20haute/inbound',
      );
      const [written] = listedAnswer.data.items as { readonly readAt: string | null }[];
      assert.ok(written !== undefined && written.readAt !== null);
      await until('the answer arrived', async () => (await stack.network.inbox(writer)).items.length > 0);
      assert.ok(others >= 3, `examples in ${language} in ${others} more articles`);
    });
  }
});
