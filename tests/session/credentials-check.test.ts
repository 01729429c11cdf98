/** A start with keys that open nothing is refused, before any session is tried with them. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { checkCredentialsKeys } from '../../actors/session/main-thread/credentials-check.ts';
import type { Read, Store } from '../../runtime/store.ts';

/** A store of one hash. */
function oneHash(): Store {
  const fields = new Map<string, Buffer>();
  return {
    readBytes: async () => [[...fields].flatMap(([field, value]) => [Buffer.from(field), value])],
    append: async (writes: readonly Read[]) =>
      writes.map(([, , field, value]) => fields.set(String(field), value as unknown as Buffer)),
  } as unknown as Store;
}

test('any key that sealed here opens the door, in whatever order; keys that never did are refused', async () => {
  const store = oneHash();
  const [old, next, wrong] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  await checkCredentialsKeys(store, [old]);
  await checkCredentialsKeys(store, [old]);
  await assert.rejects(checkCredentialsKeys(store, [wrong]), /CREDENTIALS_KEY/);
  await assert.rejects(checkCredentialsKeys(store, [next]), /CREDENTIALS_KEY/, 'the old one was dropped');
  await checkCredentialsKeys(store, [old, next]);
  await assert.rejects(
    checkCredentialsKeys(store, [next]),
    /CREDENTIALS_KEY/,
    'nothing is sealed with it yet',
  );
  await checkCredentialsKeys(store, [next, old]);
  await checkCredentialsKeys(store, [next]);
  await checkCredentialsKeys(store, [old]);
});
