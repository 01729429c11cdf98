/**
 * The document of today keeps what callers of a released version use: nothing is gone, and no request is newly refused.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { apiDocument } from '../../../bin/generators/client-types.ts';

import { breakingChanges } from './breaking-changes.ts';

type Json = Readonly<Record<string, unknown>>;

/** Tests run at the root of the repository. */
const folder = join(process.cwd(), 'docs/released');
const today = apiDocument() as unknown as Json;
const [name = '', ...others] = readdirSync(folder);
assert.deepEqual(others, [], 'one document says what the older ones said');

test(`a program written for ${name} still works`, () => {
  assert.deepEqual(breakingChanges(JSON.parse(readFileSync(join(folder, name), 'utf8')), today), []);
});

/** A document of one operation, with one schema for its body and its reply. */
function documentOf(schema: object, { status = '200', parameters = [] as readonly object[] } = {}): Json {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Sent' } } };
  const operation = { parameters, requestBody: { content }, responses: { [status]: { content } } };
  return { paths: { '/sent': { post: operation } }, components: { schemas: { Sent: schema } } };
}

const text = { type: 'string', maxLength: 10 };
const sent = { type: 'object', properties: { text, kind: { enum: ['a', 'b'] } }, required: ['text'] };
const query = { in: 'query', name: 'to', schema: { type: 'string' } };
const withText = (schema: object) =>
  documentOf({ ...sent, properties: { ...sent.properties, text: schema } });
const place = 'POST /sent';

for (const [change, newer, expected] of [
  ['a path is gone', { paths: {} }, [`${place} is gone`]],
  ['a reply is gone', documentOf(sent, { status: '202' }), [`${place}: the reply 200 is gone`]],
  [
    'a parameter is required',
    documentOf(sent, { parameters: [{ ...query, required: true }] }),
    [`${place}: query to is required now`],
  ],
  [
    'a field is required',
    documentOf({ ...sent, required: ['text', 'kind'] }),
    [`${place}.kind is required now`],
  ],
  ['a text is shorter', withText({ ...text, maxLength: 9 }), [`${place}.text: maxLength is stricter`]],
  ['a text has a pattern', withText({ ...text, pattern: '^a' }), [`${place}.text: pattern is stricter`]],
  [
    'further fields are refused',
    documentOf({ ...sent, additionalProperties: false }),
    [`${place}: further fields are refused now`],
  ],
  [
    'a value is refused',
    documentOf({ ...sent, properties: { text, kind: { enum: ['b'] } } }),
    [`${place}.kind: a is refused now`],
  ],
  [
    'a reply may lack a field',
    documentOf({ ...sent, required: [] }),
    [`${place}, 200.text may be left out now`],
  ],
  [
    'a field is of another type',
    withText({ type: ['string', 'null'], maxLength: 10 }),
    [
      `${place}.text: its type was string and is null|string`,
      `${place}, 200.text: its type was string and is null|string`,
    ],
  ],
  [
    'a field is gone',
    documentOf({ ...sent, properties: { text } }),
    [`${place}.kind is gone`, `${place}, 200.kind is gone`],
  ],
  [
    'more is taken and told',
    documentOf({ ...sent, properties: { ...sent.properties, more: {} } }, { parameters: [query] }),
    [],
  ],
] as const) {
  test(`between two documents: ${change}`, () => {
    assert.deepEqual(breakingChanges(documentOf(sent), newer), expected);
  });
}

test('a list of names may have a name more, and none less', () => {
  const list = (names: string) => withText({ ...text, pattern: `^(${names})(,(${names}))*$` });
  assert.deepEqual(breakingChanges(list('a|b|c'), list('a|b|c|d')), []);
  assert.deepEqual(breakingChanges(list('a|b|c'), list('a|b|d')), [`${place}.text: pattern is stricter`]);
});

test('an alternative may stand elsewhere, and may not be gone', () => {
  const [one, other, third] = ['a', 'b', 'c'].map((kind) => ({ properties: { kind: { const: kind } } }));
  const [older, longer] = [documentOf({ anyOf: [one, other] }), documentOf({ anyOf: [third, one, other] })];
  assert.deepEqual(breakingChanges(older, longer), []);
  assert.notDeepEqual(breakingChanges(longer, older), []);
});
