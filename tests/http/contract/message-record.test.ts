import assert from 'node:assert/strict';
import { test } from 'node:test';
import { message } from '../../../actors/reply-schemas/message-schemas.ts';
import { readRepositoryFile } from '../../testbed/read-repository-file.ts';

test('docs/contract.md lists each field of a message, and no other', () => {
  const contract = readRepositoryFile('docs/contract.md');
  const [, list = ''] = /^### Message record\n\n(.*?)\n\n(?!- )/ms.exec(contract) ?? [];
  const listedFields = [...list.matchAll(/`([^`]+)`/g)].flatMap(([, names = '']) =>
    names.replaceAll(/\([^)]*\)/g, '').split(/[\s,:]+/),
  );
  assert.deepEqual(new Set(listedFields), new Set(Object.keys(message.entries)));
});
