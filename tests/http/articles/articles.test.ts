/** The articles: to callers with a key as Markdown, to everybody as pages, with the settings in force in both. */

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ARTICLE_FIGURES } from '../../../http/articles/article-figures.ts';
import { articleLibrary } from '../../../http/articles/article-library.ts';
import { root } from '../../testbed/root.ts';
import { sharedService } from '../shared-service.ts';

const settings = {
  sendGap: { minMs: 1_500, maxMs: 9_000 },
  messageRetentionDays: 12,
  eventRetentionDays: 3,
  eventMaxEntries: 1_234,
  platformName: 'Postbox',
};

let origin: string;
const { service } = sharedService(
  { settings: { ...settings, publicUrl: 'https://api.example.com/messaging' } },
  () => {
    origin = new URL(service.apiUrl).origin;
  },
);

const textOf = async (path: string): Promise<string> => {
  const reply = await fetch(origin + path);
  assert.equal(reply.status, 200, path);
  return await reply.text();
};

test('articles name the settings in force and the public address, as pages and as Markdown', async () => {
  const expected: readonly (readonly [slug: string, text: string])[] = [
    ['getting-started', 'a pause of 1.5 to 9 seconds'],
    ['getting-started', 'https://api.example.com/messaging/api/v1'],
    ['connecting', 'via Postbox'],
    ['errors-and-retries', 'remembered for 12 days'],
    ['events', 'kept for 3 days, the newest 1,234'],
    ['webhooks', 'events are kept (3 days, the newest 1,234'],
  ];
  for (const [slug, text] of expected) {
    assert.ok((await textOf(`/docs/${slug}.md`)).includes(text), `${slug}.md: ${text}`);
    assert.ok((await textOf(`/docs/${slug}`)).includes(text), `${slug}: ${text}`);
  }
});

test('figures of the policy and of the limits are those that are enforced', async () => {
  const expected: readonly (readonly [slug: string, text: string])[] = [
    ['send-policy', '0–2: 20, 3–6: 50, 7–13: 100, from 14: 250'],
    ['send-policy', '30, unless the operator changed it'],
    ['send-policy', '3 per 24 hours, 10 minutes apart'],
    ['batches', '| the number may send     | 250     | 41     |'],
    ['batches', '| is left to single sends | 75 | 13 |'],
    ['batches', 'accepts 75 more. After 175 it accepts none'],
    ['limits', '60 calls a minute, 1,000 an hour and 10,000 a day'],
    ['limits', '|\n| `free` | 1 | 1,000 |\n| `starter` |'],
    ['limits', '|\n| `scale` | 500 | 50,000,000 |\n\n'],
    ['contacts-and-consent', 'exceed 500 new declarations'],
  ];
  for (const [slug, text] of expected)
    assert.ok((await textOf(`/docs/${slug}.md`)).includes(text), `${slug}.md: ${text}`);
  const folder = join(root, 'http/articles/texts');
  const source = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  for (const name of Object.keys(ARTICLE_FIGURES))
    assert.ok(source.join('').includes(`{{${name}}}`), `no article asks for ${name}`);
});

test('the base address redirects to the list of articles', async () => {
  const foundResponse = await fetch(`${origin}/`, { redirect: 'manual' });
  assert.deepEqual([foundResponse.status, foundResponse.headers.get('location')], [302, 'docs']);
  assert.equal(await textOf('/'), await textOf('/docs'));
});

test('every article has its page, and the list and llms.txt lead to it', async () => {
  const slugs = readdirSync(join(root, 'http/articles/texts')).map((file) =>
    file.replace(/^\d+-|\.md$/g, ''),
  );
  assert.ok(slugs.includes('versioning'));
  const [list, llms] = [await textOf('/docs'), await textOf('/llms.txt')];
  for (const slug of slugs) {
    assert.ok(list.includes(`href="docs/${slug}"`), slug);
    assert.ok(llms.includes(`(https://api.example.com/messaging/docs/${slug}.md): `), slug);
    const page = await textOf(`/docs/${slug}`);
    // The text of a batch has its own placeholders in braces, with spaces around them.
    assert.doesNotMatch(page, /\{\{\w/);
    for (const [, path = ''] of page.matchAll(/href="(?!https?:|data:)([^"#]*)/g)) {
      const { pathname } = new URL(path, `${origin}/docs/${slug}`);
      assert.equal((await fetch(origin + pathname)).status, 200, `${slug} leads to ${path}`);
    }
  }
});

test('links of the Markdown work, also at the API and below a path of a proxy', async () => {
  const prefix = 'https://api.example.com/messaging';
  for (const [, slug = ''] of (await textOf('/docs')).matchAll(/href="docs\/([a-z-]+)"/g)) {
    const markdown = await textOf(`/docs/${slug}.md`);
    for (const base of [`${prefix}/docs/`, `${prefix}/api/v1/docs/`]) {
      for (const [, link = ''] of markdown.matchAll(/\]\(([^)#]+)/g)) {
        const { href } = new URL(link, base);
        if (!href.startsWith('https://api.example.com/')) continue;
        // The API has the article under the same name, for callers with a key.
        const path = href.replace(prefix, '').replace(/^\/api\/v1\/docs\//, '/docs/');
        assert.equal((await fetch(origin + path)).status, 200, `${slug} leads to ${href}`);
      }
    }
  }
});

test('no reply to a call has a CORS header, as the articles and the document promise', async () => {
  const headers = { origin: 'https://example.com' };
  for (const method of ['GET', 'OPTIONS']) {
    const reply = await fetch(`${service.apiUrl}/me`, { method, headers });
    assert.deepEqual(
      [...reply.headers.keys()].filter((name) => name.startsWith('access-control-')),
      [],
    );
  }
  assert.match(await textOf('/docs/getting-started'), /no reply\s+to a call\s+has CORS\s+headers/i);
  assert.match(await textOf('/openapi.json'), /No reply to a call has CORS headers/);
});

test('an unknown article is not found, and a page allows only reads', async () => {
  assert.equal((await fetch(`${origin}/docs/no-such-article`)).status, 404);
  assert.equal((await fetch(`${origin}/docs/versioning`, { method: 'POST' })).status, 405);
});

test('an article that asks for a setting there is not is refused when the service starts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'articles-'));
  writeFileSync(join(folder, ['10-one', 'md'].join('.')), '# One\n\nKept for {{retentiondays}} days.\n');
  const address = { apiUrl: () => 'http://localhost/api/v1', publicUrl: () => 'http://localhost' };
  assert.throws(() => articleLibrary(folder, settings, address), /10-one.+ asks for \{\{retentiondays\}\}/);
  rmSync(folder, { recursive: true });
});
