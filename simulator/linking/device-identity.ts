import {
  type BinaryNode,
  Curve,
  getBinaryNodeChild,
  hmacSign,
  proto,
  WA_ADV_ACCOUNT_SIG_PREFIX,
  WA_ADV_DEVICE_SIG_PREFIX,
} from '@whiskeysockets/baileys';
import type { Handset } from '../handsets/handset.ts';
import type { Companion } from './companions.ts';

/** Returns the bytes that account and device both sign: the device, and the time of linking in seconds. */
export const identityDetails = (companion: Companion, timestamp: number): Uint8Array =>
  proto.ADVDeviceIdentity.encode({
    rawId: companion.registrationId,
    timestamp,
    keyIndex: companion.device,
  }).finish();

/** Returns the account's signature over a companion, sealed with the secret of the QR code. */
export function signIdentity(options: {
  handset: Handset;
  companion: Companion;
  details: Uint8Array;
  advSecret: Buffer;
}): Buffer {
  const { handset, companion, details, advSecret } = options;
  const identity = proto.ADVSignedDeviceIdentity.encode({
    details,
    accountSignatureKey: handset.identityKey,
    accountSignature: handset.sign(
      Buffer.concat([WA_ADV_ACCOUNT_SIG_PREFIX, details, companion.identityKey]),
    ),
  }).finish();
  const sealedIdentity = { details: identity, hmac: hmacSign(identity, advSecret) };
  return Buffer.from(proto.ADVSignedDeviceIdentityHMAC.encode(sealedIdentity).finish());
}

/** True if the client's `pair-device-sign` has the companion's own signature over its link to the account. */
export function isSignedByDevice(options: {
  handset: Handset;
  companion: Companion;
  details: Uint8Array;
  answer: BinaryNode;
}): boolean {
  const { handset, companion, details, answer } = options;
  const identity = getBinaryNodeChild(getBinaryNodeChild(answer, 'pair-device-sign'), 'device-identity');
  if (!(identity?.content instanceof Uint8Array)) return false;
  const { deviceSignature } = proto.ADVSignedDeviceIdentity.decode(identity.content);
  const signedBytes = Buffer.concat([
    WA_ADV_DEVICE_SIG_PREFIX,
    details,
    companion.identityKey,
    handset.identityKey,
  ]);
  return !!deviceSignature && Curve.verify(companion.identityKey, signedBytes, deviceSignature);
}
