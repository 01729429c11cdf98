import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { apiDocument, clientTypes } from '../../bin/generators/client-types.ts';
import { root } from '../testbed/root.ts';

test("client/src/operations.ts has the types of the API's document", () => {
  const written = readFileSync(join(root, 'client/src/operations.ts'), 'utf8').split('\n');
  const made = clientTypes(apiDocument()).split('\n');
  const place = made.findIndex((line, index) => line !== written[index]);
  assert.equal(place, -1, `other types from line ${place + 1} on: run npm run client-types`);
  assert.equal(written.length, made.length, 'the document has less: run npm run client-types');
});
