import type { Store } from '../../../runtime/store.ts';
import { credentialCiphers, keyMark, Unreadable } from '../credential-cipher.ts';

/** Hash: under the mark of each key that ever sealed, a value sealed with it. Written unfenced, by every node's start. */
const CHECK_KEY = 'credentials-check';

/**
 * Sees that the configured keys, the first of which seals, are keys of this store: one of them has sealed here before,
 * or none ever did. Rejects otherwise, since with such keys no session of any shop would open.
 */
export async function checkCredentialsKeys(store: Store, keys: readonly Buffer[]): Promise<void> {
  const [stored] = await store.readBytes([['HGETALL', CHECK_KEY]]);
  const cipher = credentialCiphers(keys)(CHECK_KEY);
  const sealed = sealedValues(stored);
  if (sealed.length > 0 && !sealed.some((value) => opens(() => cipher.open(CHECK_KEY, value)))) {
    throw new Error(
      'CREDENTIALS_KEY: no key of it opens what was sealed in this Redis, so no shop could go on with its session; add the key that was used until now',
    );
  }
  const [first] = keys;
  if (first === undefined) return;
  const value = cipher.seal(CHECK_KEY, Buffer.from('check'));
  await store.append([['HSET', CHECK_KEY, keyMark(first).toString('hex'), value]]);
}

function opens(open: () => Buffer): boolean {
  try {
    open();
    return true;
  } catch (error) {
    if (error instanceof Unreadable) return false;
    throw error;
  }
}

/** A hash read whole comes as a flat list or as an object, by the client's taste. */
function sealedValues(stored: unknown): Buffer[] {
  if (!Array.isArray(stored)) return Object.values(stored ?? {}).map((value) => Buffer.from(value as Buffer));
  return stored.filter((_, index) => index % 2 === 1).map((value) => Buffer.from(value as Buffer));
}
