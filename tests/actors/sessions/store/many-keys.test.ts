/** An opening session reads the names of its keys. It reads their values only if an older key sealed some. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { fields, sealedStore, text } from './sealed-store-fixture.ts';

test('with one key only the names are read when a session opens', async () => {
  const { sealed, open, asked } = sealedStore();
  await sealed.write({ hash: 'credentials', fields: fields({ 'session/a': '1' }) });
  const next = open();
  asked.length = 0;
  await next.reseal('credentials');
  assert.deepEqual(asked, ['names']);
  assert.deepEqual(text(await next.read('credentials', ['session/b'])), [undefined]);
  assert.deepEqual(asked, ['names'], 'what is missing is known');
});

test('thousands of keys are sealed again some hundreds at a time', async () => {
  const { sealed, open, asked, answers, keys } = sealedStore();
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`session/${index}`, 'x']));
  await sealed.write({ hash: 'credentials', fields: fields(many) });
  keys.unshift(randomBytes(32));
  asked.length = 0;
  answers.length = 0;
  await open().reseal('credentials');
  const read = answers.flatMap((answer) => (answer.kind === 'surveyed' ? [answer.others.length] : []));
  assert.ok(Math.max(...read) <= 300, `${read}`);
  assert.equal(asked.filter((kind) => kind === 'write').length, 4);
  keys.pop();
  assert.deepEqual(text(await open().read('credentials', ['session/0', 'session/999'])), ['x', 'x']);
});

test('a walk over the keys reads their names, and only the values that are to be sealed again', async () => {
  const { sealed, open, answers, keys } = sealedStore();
  await sealed.write({ hash: 'credentials', fields: fields({ 'session/a': '1' }) });
  keys.unshift(randomBytes(32));
  const next = open();
  await next.write({ hash: 'credentials', fields: fields({ 'session/b': '2' }) });
  const survey = async (): Promise<readonly (readonly string[])[]> => {
    answers.length = 0;
    await next.reseal('credentials');
    const [answer] = answers;
    assert.equal(answer?.kind, 'surveyed');
    return [answer.fields, answer.others.map(([field]) => field)];
  };
  assert.deepEqual(await survey(), [['session/a', 'session/b'], ['session/a']]);
  assert.deepEqual(await survey(), [['session/a', 'session/b'], []]);
  keys.pop();
  assert.deepEqual(text(await open().read('credentials', ['session/a', 'session/b'])), ['1', '2']);
});
