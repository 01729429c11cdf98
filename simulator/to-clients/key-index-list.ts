import { type BinaryNode, proto } from '@whiskeysockets/baileys';
import { stanzaTime } from '../clock.ts';
import type { Network } from '../network.ts';
import { node } from '../socket/stanzas.ts';

/** The first bytes of what an account signs about its key indexes (zapo, `src/signal/attestation/constants.ts`). */
export const KEY_INDEX_PREFIX = Buffer.from([6, 2]);

/** The phone's own device and key index. */
const PHONE = 0;

/** Returns the list of the key indexes that a number's devices have, signed with its account key. */
export function signedKeyIndexList(network: Network, phone: string, devices: readonly number[]): BinaryNode {
  const handset = network.handsets.handsetOf(phone);
  const ts = stanzaTime(network.clock);
  const validIndexes = [...new Set([PHONE, ...devices])];
  const details = proto.ADVKeyIndexList.encode({
    rawId: handset.registrationId,
    timestamp: Number(ts),
    currentIndex: Math.max(...validIndexes),
    validIndexes,
  }).finish();
  const accountSignature = handset.sign(Buffer.concat([KEY_INDEX_PREFIX, details]));
  const list = proto.ADVSignedKeyIndexList.encode({ details, accountSignature }).finish();
  return node('key-index-list', { ts }, list);
}
