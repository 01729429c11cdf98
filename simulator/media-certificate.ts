import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import * as der from './der.ts';
import type { Journal } from './journal.ts';

/** What an https server on loopback needs, and the certificate its clients must trust. All PEM. */
export interface MediaCertificate {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Object identifiers of RFC 5280 and RFC 5758. */
const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
} as const;

/** Key usage bits, most significant first: digitalSignature is bit 0, keyCertSign bit 5. */
const MAY_SIGN_DATA = der.bits(Buffer.from([0x80]), 7);
const MAY_SIGN_CERTIFICATES = der.bits(Buffer.from([0x04]), 2);

const VALID_FROM = new Date('2020-01-01T00:00:00Z');
const VALID_UNTIL = new Date('2120-01-01T00:00:00Z');

/** The certificate kept in the journal, made at the first start with an authority of its own. */
export function mediaCertificate(journal: Journal): MediaCertificate {
  const kept = journal.collection<MediaCertificate>('media-certificate');
  let certificate = kept.get('media');
  if (!certificate) {
    certificate = createCertificate();
    kept.set('media', certificate);
  }
  return certificate;
}

function createCertificate(): MediaCertificate {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const authorityName = nameOf('Chat simulator media authority');
  const ca = certificate({
    subject: authorityName,
    issuer: authorityName,
    publicKey: authority.publicKey,
    signer: authority.privateKey,
    extensions: [
      extension(OID.basicConstraints, der.sequence(der.boolean(true))),
      extension(OID.keyUsage, MAY_SIGN_CERTIFICATES),
    ],
  });
  const cert = certificate({
    subject: nameOf('localhost'),
    issuer: authorityName,
    publicKey: server.publicKey,
    signer: authority.privateKey,
    extensions: [
      extension(OID.keyUsage, MAY_SIGN_DATA),
      extension(
        OID.subjectAltName,
        der.sequence(
          der.implicit(2, Buffer.from('localhost')),
          der.implicit(7, Buffer.from([127, 0, 0, 1])),
          der.implicit(7, Buffer.concat([Buffer.alloc(15), Buffer.from([1])])),
        ),
      ),
    ],
  });
  return { ca, cert, key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

function certificate(options: {
  subject: Buffer;
  issuer: Buffer;
  publicKey: KeyObject;
  signer: KeyObject;
  extensions: Buffer[];
}): string {
  const algorithm = der.sequence(der.objectId(OID.ecdsaWithSha256));
  const serial = randomBytes(16);
  // A serial's first byte must not be zero, and its sign bit not set.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x01;
  const content = der.sequence(
    der.explicit(0, der.integer(Buffer.from([2]))),
    der.integer(serial),
    algorithm,
    options.issuer,
    der.sequence(der.time(VALID_FROM), der.time(VALID_UNTIL)),
    options.subject,
    options.publicKey.export({ type: 'spki', format: 'der' }),
    der.explicit(3, der.sequence(...options.extensions)),
  );
  const signed = der.sequence(content, algorithm, der.bits(sign('sha256', content, options.signer)));
  const lines = signed.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

const nameOf = (commonName: string): Buffer =>
  der.sequence(der.set(der.sequence(der.objectId(OID.commonName), der.text(commonName))));

const extension = (id: string, value: Buffer): Buffer =>
  der.sequence(der.objectId(id), der.boolean(true), der.octets(value));
