import assert from 'node:assert/strict';
import { appendFile, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { Journal } from '../../simulator/journal.ts';
import { propertyRuns } from '../testbed/property-runs.ts';

async function directory(context: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'journal-'));
  context.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

test('stored values are there when the journal is opened again, bytes included', async (context) => {
  const path = await directory(context);
  const value = fc.record(
    { text: fc.string(), bytes: fc.uint8Array().map((bytes) => Buffer.from(bytes)) },
    { noNullPrototype: true },
  );
  const change = fc.tuple(fc.constantFrom('left', 'right'), fc.constantFrom('a', 'b', 'c'), fc.option(value));
  const model = new Map<string, unknown>();
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 20, size: 'max' }), async (changes) => {
      const journal = await Journal.open(path);
      for (const [name, key, next] of changes) {
        const collection = journal.collection<unknown>(name);
        if (next === null) collection.delete(key);
        else collection.set(key, next);
        if (next === null) model.delete(`${name} ${key}`);
        else model.set(`${name} ${key}`, next);
      }
      await journal.close();
      const secondJournal = await Journal.open(path);
      for (const name of ['left', 'right']) {
        for (const key of ['a', 'b', 'c'])
          assert.deepEqual(secondJournal.collection(name).get(key), model.get(`${name} ${key}`));
      }
      await secondJournal.close();
    }),
    propertyRuns(context, 30),
  );
});

test('values set before settled() are in the file', async (context) => {
  const path = await directory(context);
  const journal = await Journal.open(path);
  journal.collection<number>('numbers').set('one', 1);
  await journal.settled();
  assert.match(await readFile(join(path, 'network.jsonl'), 'utf8'), /\["numbers","one",1\]/);
  await journal.close();
});

test('values set in one tick of the event loop are one write', async (context) => {
  const path = await directory(context);
  const journal = await Journal.open(path);
  const handle = await open(join(path, 'network.jsonl'));
  const append = mock.method(Object.getPrototypeOf(handle), 'appendFile');
  context.after(() => mock.restoreAll());
  await handle.close();
  const numbers = journal.collection<number>('numbers');
  numbers.set('one', 1);
  await Promise.resolve();
  numbers.set('two', 2);
  await journal.settled();
  assert.equal(append.mock.callCount(), 1);
  await journal.close();
});

test('a torn last line is dropped; damage before the end is refused; no one else may read the file', async (context) => {
  const path = await directory(context);
  const file = join(path, 'network.jsonl');
  const journal = await Journal.open(path);
  journal.collection<number>('numbers').set('one', 1);
  await journal.close();
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  await appendFile(file, '["numbers","two",');
  const torn = await Journal.open(path);
  assert.equal(torn.collection<number>('numbers').get('one'), 1);
  assert.equal(torn.collection<number>('numbers').size, 1);
  await torn.close();
  for (const damage of ['["numbers","two",', '{"numbers":"two"}', '5']) {
    await writeFile(file, `${damage}\n["numbers","one",1]\n`);
    await assert.rejects(Journal.open(path), /damaged before its end/);
  }
});
