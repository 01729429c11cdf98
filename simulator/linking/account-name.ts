/**
 * An account without a business name. Its clients learn its name from the account's settings, which are sealed with a
 * key that the phone shares after the linking. README.md names the sources.
 */
import { createHash } from 'node:crypto';
import { type BinaryNode, encodeSyncdPatch, newLTHashState, proto } from '@whiskeysockets/baileys';
import type { Network } from '../network.ts';
import { node } from '../socket/stanzas.ts';
import type { Companion } from './companions.ts';
import { sendOwn } from './history.ts';

/** The collection of settings that has the name. */
const NAMES = 'critical_block';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The key of an account's settings. It never changes, which is a simplification. */
const keyOf = (phone: string): { readonly id: Buffer; readonly data: Buffer } => ({
  id: digest(`settings ${phone}`).subarray(0, 6),
  data: digest(`settings key ${phone}`),
});

/** Shares the key of the account's settings with a client that was linked just now. */
export async function shareSettingsKey(network: Network, companion: Companion): Promise<void> {
  if (network.numbers.of(companion.phone).accountName === undefined) return;
  const { id, data } = keyOf(companion.phone);
  const fingerprint = { rawId: 1, currentIndex: 0, deviceIndexes: [0] };
  await sendOwn(network, companion, {
    protocolMessage: {
      type: proto.Message.ProtocolMessage.Type.APP_STATE_SYNC_KEY_SHARE,
      appStateSyncKeyShare: {
        keys: [{ keyId: { keyId: id }, keyData: { keyData: data, fingerprint, timestamp: 1 } }],
      },
    },
  });
}

/** Returns a collection of the account's settings: the one with its name as a file of the media host, others empty. */
export async function collectionOf(
  network: Network,
  companion: Companion,
  { attrs: { name = '', version = '0' } }: BinaryNode,
): Promise<BinaryNode> {
  const { accountName } = network.numbers.of(companion.phone);
  if (name !== NAMES || accountName === undefined || version !== '0')
    return node('collection', { name, version });
  const snapshot = await snapshotOf(companion.phone, accountName);
  const file = await network.media.keep(proto.SyncdSnapshot.encode(snapshot).finish(), 'md-app-state');
  const reference = proto.ExternalBlobReference.encode(file).finish();
  return node('collection', { name, version: '1' }, [node('snapshot', {}, reference)]);
}

async function snapshotOf(phone: string, accountName: string): Promise<proto.ISyncdSnapshot> {
  const { id, data } = keyOf(phone);
  const { patch } = await encodeSyncdPatch(
    {
      type: NAMES,
      index: ['setting_pushName'],
      syncAction: { pushNameSetting: { name: accountName } },
      apiVersion: 1,
      operation: proto.SyncdMutation.SyncdOperation.SET,
    },
    id.toString('base64'),
    newLTHashState(),
    async () => ({ keyData: data }),
  );
  const records = (patch.mutations ?? []).flatMap(({ record }) => record ?? []);
  return { version: { version: 1 }, records, mac: patch.snapshotMac ?? null, keyId: patch.keyId ?? null };
}
