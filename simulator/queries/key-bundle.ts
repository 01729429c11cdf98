import { createHash } from 'node:crypto';
import {
  type BinaryNode,
  encodeBigEndian,
  generateSignalPubKey,
  getBinaryNodeChild,
  getBinaryNodeChildBuffer,
  getBinaryNodeChildUInt,
} from '@whiskeysockets/baileys';

/** The keys with which another device can open a Signal session. Public keys are 32 bytes. */
export interface KeyBundle {
  readonly registrationId: number;
  readonly identityKey: Uint8Array;
  readonly signedPreKey: SignedPublicKey;
  readonly preKey?: PublicPreKey | undefined;
}

/** A one-time key. */
export interface PublicPreKey {
  readonly id: number;
  readonly key: Uint8Array;
}

/** The medium-term key, signed with the identity key. */
export interface SignedPublicKey extends PublicPreKey {
  readonly signature: Uint8Array;
}

/** The type byte of a curve 25519 key (Baileys `KEY_BUNDLE_TYPE`). */
const CURVE_KEY_TYPE = Buffer.from([5]);

/** Returns the child nodes that carry a bundle. A `user` row and the `keys` of a retry receipt have the same form. */
export function bundleNodes(bundle: KeyBundle): BinaryNode[] {
  const nodes: BinaryNode[] = [
    { tag: 'registration', attrs: {}, content: encodeBigEndian(bundle.registrationId) },
    { tag: 'type', attrs: {}, content: CURVE_KEY_TYPE },
    { tag: 'identity', attrs: {}, content: bundle.identityKey },
    {
      tag: 'skey',
      attrs: {},
      content: [
        ...preKeyNodes(bundle.signedPreKey),
        { tag: 'signature', attrs: {}, content: bundle.signedPreKey.signature },
      ],
    },
  ];
  if (bundle.preKey) nodes.push({ tag: 'key', attrs: {}, content: preKeyNodes(bundle.preKey) });
  return nodes;
}

/** Returns the child nodes of a `digest`: the bundle, the ids of all one-time keys, and a hash of all public keys. */
export function digestNodes(bundle: KeyBundle, oneTime: readonly PublicPreKey[]): BinaryNode[] {
  const { identityKey, registrationId, signedPreKey } = bundle;
  const hash = createHash('sha1').update(identityKey).update(signedPreKey.key).update(signedPreKey.signature);
  for (const { key } of oneTime) hash.update(key);
  const ids = oneTime.map(
    ({ id }): BinaryNode => ({ tag: 'id', attrs: {}, content: encodeBigEndian(id, 3) }),
  );
  return [
    ...bundleNodes({ identityKey, registrationId, signedPreKey }),
    { tag: 'list', attrs: {}, content: ids },
    { tag: 'hash', attrs: {}, content: hash.digest() },
  ];
}

function preKeyNodes(preKey: PublicPreKey): BinaryNode[] {
  return [
    { tag: 'id', attrs: {}, content: encodeBigEndian(preKey.id, 3) },
    { tag: 'value', attrs: {}, content: preKey.key },
  ];
}

/** Returns the key of a `key` node, or undefined if it is malformed. */
export function readPreKey(node: BinaryNode | undefined): PublicPreKey | undefined {
  if (!node) return undefined;
  const id = getBinaryNodeChildUInt(node, 'id', 3);
  const key = getBinaryNodeChildBuffer(node, 'value');
  return id === undefined || key?.byteLength !== 32 ? undefined : { id, key: Buffer.from(key) };
}

/** Returns the key of an `skey` node, or undefined if it is malformed. */
export function readSignedPreKey(node: BinaryNode | undefined): SignedPublicKey | undefined {
  const preKey = readPreKey(node);
  const signature = getBinaryNodeChildBuffer(node, 'signature');
  return preKey && signature?.byteLength === 64
    ? { ...preKey, signature: Buffer.from(signature) }
    : undefined;
}

/** Returns the bundle of a client's retry receipt, if it has one. */
export function readRetryBundle(receipt: BinaryNode): KeyBundle | undefined {
  const keys = getBinaryNodeChild(receipt, 'keys');
  if (!keys) return undefined;
  const registrationId = getBinaryNodeChildUInt(receipt, 'registration', 4);
  const identityKey = getBinaryNodeChildBuffer(keys, 'identity');
  const signedPreKey = readSignedPreKey(getBinaryNodeChild(keys, 'skey'));
  if (registrationId === undefined || identityKey?.byteLength !== 32 || !signedPreKey) return undefined;
  const preKey = readPreKey(getBinaryNodeChild(keys, 'key'));
  return { registrationId, identityKey: Buffer.from(identityKey), signedPreKey, preKey };
}

/** Returns the bundle in the form of the Signal library. */
export function signalSession(bundle: KeyBundle) {
  const { signedPreKey, preKey } = bundle;
  return {
    registrationId: bundle.registrationId,
    identityKey: generateSignalPubKey(bundle.identityKey),
    signedPreKey: {
      keyId: signedPreKey.id,
      publicKey: generateSignalPubKey(signedPreKey.key),
      signature: signedPreKey.signature,
    },
    ...(preKey === undefined
      ? {}
      : { preKey: { keyId: preKey.id, publicKey: generateSignalPubKey(preKey.key) } }),
  };
}
