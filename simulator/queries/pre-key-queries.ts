import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from '@whiskeysockets/baileys';
import type { Companion } from '../linking/companions.ts';
import type { Network } from '../network.ts';
import { SERVER_ADDRESS } from '../socket/addresses.ts';
import { attribute, iqError, iqResult, node } from '../socket/stanzas.ts';
import { bundleNodes, digestNodes, type KeyBundle, readPreKey, readSignedPreKey } from './key-bundle.ts';

/** With fewer one-time keys than this, the server asks a client for more (Baileys `MIN_PREKEY_COUNT`). */
const FEW_PRE_KEYS = 5;

/** Answers a client's queries about Signal keys: count, upload, rotation, digest, bundles of others. */
export function answerPreKeyQuery(network: Network, companion: Companion, iq: BinaryNode): BinaryNode {
  const keyNode = getBinaryNodeChild(iq, 'key');
  if (attribute(iq, 'type') === 'get' && keyNode) return answerBundles(network, companion, iq, keyNode);
  if (getBinaryNodeChild(iq, 'count')) {
    const heldCount = Math.max(network.companions.preKeyCount(companion), network.claimedPreKeys);
    return iqResult(iq, [node('count', { value: String(heldCount) })]);
  }
  if (getBinaryNodeChild(iq, 'digest')) return answerDigest(network, companion, iq);
  const rotatedKey = readSignedPreKey(getBinaryNodeChild(getBinaryNodeChild(iq, 'rotate'), 'skey'));
  if (rotatedKey) {
    network.companions.setSignedPreKey(companion, rotatedKey);
    return iqResult(iq);
  }
  return answerUpload(network, companion, iq);
}

/** Returns the keys of the client that the server has, for the client to compare. 404 if it uploaded none. */
function answerDigest(network: Network, { phone, device }: Companion, iq: BinaryNode): BinaryNode {
  const companion = network.companions.get(phone, device);
  const oneTime = companion === undefined ? [] : network.companions.preKeys(companion);
  if (companion === undefined || oneTime.length === 0) return iqError(iq, 404, 'item-not-found');
  return iqResult(iq, [node('digest', {}, digestNodes(companion, oneTime))]);
}

function answerUpload(network: Network, companion: Companion, iq: BinaryNode): BinaryNode {
  const signedPreKey = readSignedPreKey(getBinaryNodeChild(iq, 'skey'));
  const keys = getBinaryNodeChildren(getBinaryNodeChild(iq, 'list'), 'key').map(readPreKey);
  if (!signedPreKey || keys.length === 0 || keys.includes(undefined))
    return iqError(iq, 406, 'not-acceptable');
  network.companions.setSignedPreKey(companion, signedPreKey);
  network.companions.addPreKeys(
    companion,
    keys.flatMap((key) => key ?? []),
  );
  return iqResult(iq);
}

function answerBundles(
  network: Network,
  { phone: ownPhone, device }: Companion,
  iq: BinaryNode,
  askedUser: BinaryNode,
): BinaryNode {
  const rows = getBinaryNodeChildren(askedUser, 'user').map((user) => {
    const address = attribute(user, 'jid');
    const reference = network.numbers.resolve(address);
    const isOwn = reference?.number.phone === ownPhone && reference.device === device;
    network.log({ event: 'keys asked for', address, isOwn });
    const phone = reference?.number.phone ?? '';
    const code = network.faults.take('keys', phone);
    const bundle = code === undefined ? bundleOf(network, address) : undefined;
    if (bundle) return node('user', { jid: address }, bundleNodes(bundle));
    const error = { code: String(code ?? 404), text: code === undefined ? 'item-not-found' : 'refused' };
    return node('user', { jid: address }, [node('error', error)]);
  });
  return iqResult(iq, [node('list', {}, rows)]);
}

function bundleOf(network: Network, address: string): KeyBundle | undefined {
  const reference = network.numbers.resolve(address);
  if (!reference?.number.exists) return undefined;
  if (reference.device === 0) return network.handsets.handsetOf(reference.number.phone).bundle();
  const companion = network.companions.get(reference.number.phone, reference.device);
  return companion && takeBundle(network, companion);
}

/** Returns a companion's bundle. If its one-time keys run low, its client is asked for more. */
export function takeBundle(network: Network, companion: Companion): KeyBundle {
  const bundle = network.companions.bundle(companion);
  const keysLeft = network.companions.preKeyCount(companion);
  if (keysLeft < FEW_PRE_KEYS) {
    const attrs = { type: 'encrypt', from: SERVER_ADDRESS, id: network.newId() };
    const count = node('count', { value: String(keysLeft) });
    network.notices.addOnce(companion.id, node('notification', attrs, [count]));
  }
  return bundle;
}
