import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { message } from '../../../actors/reply-schemas/message-schemas.ts';
import { root } from '../../testbed/root.ts';

test('docs/contract.md lists each field of a message, and no other', () => {
  const contract = readFileSync(join(root, 'docs/contract.md'), 'utf8');
  const [, list = ''] = /^### Message record\n\n(.*?)\n\n(?!- )/ms.exec(contract) ?? [];
  const listedFields = [...list.matchAll(/`([^`]+)`/g)].flatMap(([, names = '']) =>
    names.replaceAll(/\([^)]*\)/g, '').split(/[\s,:]+/),
  );
  assert.deepEqual(new Set(listedFields), new Set(Object.keys(message.entries)));
});
