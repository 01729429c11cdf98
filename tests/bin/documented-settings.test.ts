/**
 * The table of settings, service/environment.ts, compose.yaml, docs/settings.md and .env.example name the same
 * variables.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentExample, settingsPage } from '../../bin/generators/settings-documents.ts';
import { SETTING_GROUPS } from '../../bin/generators/settings-table.ts';
import { serviceEnvironment } from '../../service/environment.ts';
import { least } from '../service/refused-environment.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';

const settings = SETTING_GROUPS.flatMap((group) => group.settings);
const namesOf = (chosenSettings: typeof settings): string[] => chosenSettings.map(({ name }) => name).sort();
const matches = (text: string, pattern: RegExp): string[] =>
  [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))].sort();

test('the table has a row for each variable that the programs read, and for no other', () => {
  const schemas = ['service/environment.ts', 'service/operator-settings.ts']
    .map(readRepositoryFile)
    .join('\n');
  // An entry of a schema's object: its name, a colon, and how it is read.
  const entries = matches(schemas, /[\n{,] *([A-Z]+(?:_[A-Z]+)*): [a-z]/g);
  assert.ok(entries.length > 25, 'the schemas are no longer understood');
  const readByPrograms = settings.filter(({ readBy }) => readBy === undefined || readBy === 'bin/dev');
  assert.deepEqual(namesOf(readByPrograms), entries);
});

test('compose.yaml passes on each setting that it does not decide, and no other variable', () => {
  const compose = readRepositoryFile('compose.yaml');
  const passed = settings.filter(({ decidedByCompose }) => decidedByCompose === undefined);
  assert.deepEqual(matches(compose, /(?<!\$)\$\{([A-Z_]+)/g), namesOf(passed));
  const published = new Set(['PORT', 'ADMIN_PORT']);
  const forNodes = passed.filter(({ name, readBy }) => readBy !== 'compose.yaml' && !published.has(name));
  const [, environment = ''] = /^x-environment:[^\n]*\n((?: .*\n|\n)+)/m.exec(compose) ?? [];
  const givenNames = [...environment.matchAll(/^ {2}([A-Z_]+): (.*)$/gm)].map(([, name = '', value = '']) => {
    assert.ok(
      [':', '?', '-'].some((mark) => value.includes(`\${${name}${mark}`)),
      `${name} is passed on under another name`,
    );
    return name;
  });
  assert.deepEqual(givenNames.sort(), namesOf(forNodes));
});

test('compose.yaml passes on the file of each secret, and then allows an empty value', () => {
  const compose = readRepositoryFile('compose.yaml');
  const files = settings.filter(({ readBy }) => readBy === 'secret files').map(({ name }) => name);
  assert.deepEqual(
    files,
    [...readRepositoryFile('service/environment.ts').matchAll(/^ {2}'([A-Z_]+)',$/gm)].map(
      ([, name]) => `${name}_FILE`,
    ),
  );
  for (const file of files) {
    const [, form] = new RegExp(`^  ${file.slice(0, -5)}: \\$\\{[A-Z_]+(:?.)`, 'm').exec(compose) ?? [];
    assert.ok(form === '?' || form === '-' || compose.includes(`{${file.slice(0, -5)}:-}`), file);
  }
});

test('docs/settings.md and .env.example are what npm run settings writes', () => {
  assert.equal(readRepositoryFile('docs/settings.md'), settingsPage());
  assert.equal(readRepositoryFile('.env.example'), environmentExample());
});

test('each default in the table is the default of the service', () => {
  const givenSettings = settings.filter(
    ({ readBy, standard }) => readBy === undefined && /^`[^`]+`$/.test(standard),
  );
  assert.ok(givenSettings.length > 10);
  for (const { name, standard } of givenSettings) {
    const variables = { ...least, [name]: standard.slice(1, -1) };
    assert.deepEqual(serviceEnvironment(variables), serviceEnvironment(least), name);
  }
});

test('a default in the table is that of compose.yaml, if it has one', () => {
  const compose = readRepositoryFile('compose.yaml');
  for (const { name, standard } of settings.filter(({ readBy }) => readBy === 'compose.yaml')) {
    const [, value] = /^`([^`]+)`$/.exec(standard) ?? [];
    if (value !== undefined) assert.ok(compose.includes(`\${${name}:-${value}}`), name);
  }
});
