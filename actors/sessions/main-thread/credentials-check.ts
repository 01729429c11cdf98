import { partsOf } from '../../../runtime/parts.ts';
import type { Store } from '../../../runtime/store.ts';
import { associatedDataOf, IDENTITY_FIELD, sealedOwner } from '../associated-data.ts';
import { credentialCiphers, keyMark, Unreadable } from '../credential-cipher.ts';
import type { SessionAddress } from '../session-host.ts';
import { sealedKey } from './credential-store.ts';

/**
 * Hash: under the mark of each key that ever sealed, a value sealed with it. Written unfenced, by every node's start.
 */
const CHECK_KEY = 'credentials-check';

/** Shops whose credentials are read in one round trip: 2 to 3 KB each. */
const SHOPS_AT_A_TIME = 200;

/**
 * Checks that the configured keys are keys of this store: one of them has sealed here before, or no key has. The first
 * one seals. Rejects otherwise, since no session would open; nothing is written then.
 *
 * There may be no check value yet, for example after an update from a version without one. Then the check opens the
 * credentials of `shops` until one succeeds.
 */
export async function checkCredentialsKeys(
  store: Pick<Store, 'readBytes' | 'append'>,
  keys: readonly Buffer[],
  shops: AsyncIterable<readonly SessionAddress[]>,
): Promise<void> {
  const [sealedChecks] = await store.readBytes([['HVALS', CHECK_KEY]]);
  const ciphers = credentialCiphers(keys);
  const cipher = ciphers(CHECK_KEY);
  const areOurs =
    sealedChecks.length === 0
      ? await openSessions(store, ciphers, shops)
      : sealedChecks.some((value) => opens(() => cipher.open(CHECK_KEY, value)));
  if (!areOurs) {
    throw new Error(
      'CREDENTIALS_KEY: no key in it decrypts the data in this Redis, so no shop could resume its session; add the former key',
    );
  }
  const [first] = keys;
  if (first === undefined) return;
  const value = cipher.seal(CHECK_KEY, Buffer.from('check'));
  await store.append([['HSET', CHECK_KEY, keyMark(first).toString('hex'), value]]);
}

/** True if the credentials of any shop open, or no shop has any. */
async function openSessions(
  store: Pick<Store, 'readBytes'>,
  ciphers: ReturnType<typeof credentialCiphers>,
  shops: AsyncIterable<readonly SessionAddress[]>,
): Promise<boolean> {
  let isSealed = false;
  for await (const shopsFound of shops) {
    for (const part of partsOf(shopsFound, SHOPS_AT_A_TIME)) {
      const values = await store.readBytes(
        part.map((shop) => ['HGET', sealedKey(shop, 'credentials'), IDENTITY_FIELD]),
      );
      for (const [index, shop] of part.entries()) {
        const value = values[index];
        if (value == null) continue;
        isSealed = true;
        const associatedData = associatedDataOf(shop, 'credentials', IDENTITY_FIELD);
        const cipher = ciphers(sealedOwner(shop));
        if (opens(() => cipher.open(associatedData, Buffer.from(value)))) return true;
      }
    }
  }
  return !isSealed;
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
