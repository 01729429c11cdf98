/** Callers find each endpoint in an article. Operators find each field of a tenant and each event in the console. */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type * as v from 'valibot';
import { tenant } from '../../actors/reply-schemas/operator-schemas.ts';
import { STATUS_WORDS, TROUBLE_WORDS } from '../../actors/shops/inspection/shop-summary.ts';
import { operatorEvent } from '../../http/operator-api/schemas/operator-event-schemas.ts';
import { changeTenant } from '../../http/operator-api/tenants.ts';
import { API_ENDPOINTS } from '../../http/tenant-api/endpoints.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';

/** The text of all files of a folder and the folders below it whose names end like this. */
function textOf(folder: string, end: string): string {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith(end))
    .map((name) => readRepositoryFile(`${folder}/${name}`))
    .join('\n');
}

/** A reader of the articles is there already. */
const OF_ARTICLES = ['docs'];

test('an article names each path of the API by its last word', () => {
  const articles = textOf('http/articles/texts', '.md');
  const lastWords = API_ENDPOINTS.map(({ path }) => path.match(/(?<=\/)[\w-]+/g)?.at(-1) ?? path);
  assert.ok(lastWords.length > 30);
  const unnamed = lastWords.filter((word) => !new RegExp(`/${word}\\b`).test(articles));
  assert.deepEqual(
    unnamed.filter((word) => !OF_ARTICLES.includes(word)),
    [],
  );
});

/** Returns the fields that the page's list of facts shows: it takes each of them, and uses it outside of quotes. */
function factsOf(page: string): string[] {
  const [, taken = '', body = ''] = /^function factsOf\(\{([^}]*)\}\) \{\n([\s\S]*?)\n\}/m.exec(page) ?? [];
  const used = body.replaceAll(/'[^'\n]*'/g, '');
  return (taken.match(/\w+/g) ?? []).filter((field) => new RegExp(`\\b${field}\\b`).test(used));
}

test("the console's page of a tenant shows each field", () => {
  const page = readRepositoryFile('http/console/app/pages/tenant.js');
  const facts = factsOf(page);
  const isShown = (field: string): boolean => facts.includes(field) || page.includes(`>\${tenant?.${field} `);
  assert.deepEqual(
    Object.keys(tenant.entries).filter((field) => !isShown(field)),
    [],
  );
});

/** Fields that a button of the page changes, without a dialog. */
const BUTTONS = ['active'];

test('a dialog of the console has an input for each field of a tenant that operators can change', () => {
  const dialogs = ['tenant/plan.js', 'dialogs/account-dialog.js']
    .map((path) => readRepositoryFile(`http/console/app/${path}`))
    .join('\n');
  // The dialog makes an input for each entry of this table.
  const [, table = ''] = /^const TUNED = .*\(\{\n([^}]*)\}/m.exec(dialogs) ?? [];
  const hasInput = (field: string): boolean =>
    dialogs.includes(` name="${field}"`) || new RegExp(`^  ${field}: '`, 'm').test(table);
  const { entries } = changeTenant.body as v.StrictObjectSchema<v.ObjectEntries, undefined>;
  const { settings, ...otherFields } = entries;
  assert.ok(settings !== undefined);
  const changeable = [...Object.keys(otherFields), ...Object.keys(tenant.entries.settings.entries)];
  assert.ok(changeable.length > 10);
  assert.deepEqual(
    changeable.filter((field) => !hasInput(field)),
    BUTTONS,
  );
});

/** Words that operators do not look for in the console: they name a shop at rest, or one at work. */
const NOT_CHOSEN = ['active', 'idle', 'preparing', 'unconfigured'];

test("the console's list of shops can be filtered by each word of a status, and each trouble has a colour", () => {
  const [, choices = ''] =
    /const STATES = \[([^\]]+)\]/.exec(readRepositoryFile('http/console/app/pages/shops.js')) ?? [];
  const tones = readRepositoryFile('http/console/app/parts.js');
  assert.deepEqual(STATUS_WORDS.filter((word) => !choices.includes(`'${word}'`)).sort(), NOT_CHOSEN);
  assert.deepEqual(
    TROUBLE_WORDS.filter((word) => !new RegExp(`^  ${word}: '`, 'm').test(tones)),
    [],
  );
});

/** Events that the console only shows in the list of the newest events. */
const ONLY_LISTED = ['missed', 'number', 'pacing', 'shop', 'tenant'];

test("a view of the console follows each type of operators' events, or the type is among those that are only listed", () => {
  const followed = new Set(
    [...textOf('http/console/app', '.js').matchAll(/event\.type === '(\w+)'/g)].map(([, type]) => type),
  );
  const types = operatorEvent.options.map(
    ({ entries }) => (entries.type as v.LiteralSchema<string, undefined>).literal,
  );
  assert.ok(types.length > 5);
  assert.deepEqual(types.filter((type) => !followed.has(type)).sort(), ONLY_LISTED);
});
