import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiDocument, clientTypes } from '../../bin/generators/client-types.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';

test("client/src/operations.ts has the types of the API's document", () => {
  const written = readRepositoryFile('client/src/operations.ts').split('\n');
  const made = clientTypes(apiDocument()).split('\n');
  const place = made.findIndex((line, index) => line !== written[index]);
  assert.equal(place, -1, `other types from line ${place + 1} on: run npm run client-types`);
  assert.equal(written.length, made.length, 'the document has less: run npm run client-types');
});
