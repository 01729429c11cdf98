import { Curve, type KeyPair, proto, WA_CERT_DETAILS } from '@whiskeysockets/baileys';
import type { Journal } from '../journal.ts';

/** The identity of the chat server: its Noise key and the certificates that lead from it to the root. */
export interface ServerIdentity {
  /** The root's public key, base64. A client must put it in `WA_CERT_DETAILS.PUBLIC_KEY`. */
  readonly rootKey: string;
  readonly staticKey: KeyPair;
  /** An encoded `CertChain`: leaf signed by the intermediate, intermediate signed by the root. */
  readonly certificateChain: Buffer;
}

const INTERMEDIATE_SERIAL = 1;
const LEAF_SERIAL = 2;
const FAR_FUTURE_SECONDS = 4_102_444_800;

/** Returns the identity from the journal. The first start makes it, so clients may pin the root key. */
export function serverIdentity(journal: Journal): ServerIdentity {
  const identities = journal.collection<ServerIdentity>('server-identity');
  let identity = identities.get('server');
  if (!identity) {
    identity = createIdentity();
    identities.set('server', identity);
  }
  return identity;
}

function createIdentity(): ServerIdentity {
  const root = Curve.generateKeyPair();
  const intermediate = Curve.generateKeyPair();
  const staticKey = Curve.generateKeyPair();
  const certificateChain = proto.CertChain.encode({
    // The client compares the intermediate's issuer with the root's serial.
    intermediate: certify({
      serial: INTERMEDIATE_SERIAL,
      issuerSerial: WA_CERT_DETAILS.SERIAL,
      key: intermediate.public,
      signer: root,
    }),
    leaf: certify({
      serial: LEAF_SERIAL,
      issuerSerial: INTERMEDIATE_SERIAL,
      key: staticKey.public,
      signer: intermediate,
    }),
  }).finish();
  return {
    rootKey: Buffer.from(root.public).toString('base64'),
    staticKey,
    certificateChain: Buffer.from(certificateChain),
  };
}

function certify(options: {
  serial: number;
  issuerSerial: number;
  key: Uint8Array;
  signer: KeyPair;
}): proto.CertChain.INoiseCertificate {
  const details = proto.CertChain.NoiseCertificate.Details.encode({
    serial: options.serial,
    issuerSerial: options.issuerSerial,
    key: options.key,
    notBefore: 0,
    notAfter: FAR_FUTURE_SECONDS,
  }).finish();
  return { details, signature: Curve.sign(options.signer.private, details) };
}
