import { generateKeyPairSync } from 'node:crypto';
import forge from 'node-forge';
import type { Journal } from '../journal.ts';

const { md, pki } = forge;

/** The key and certificate of an https server on loopback, and the authority that its clients must trust. All PEM. */
export interface MediaCertificate {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const VALID_FROM = new Date('2020-01-01T00:00:00Z');
const VALID_UNTIL = new Date('2120-01-01T00:00:00Z');

/** Kinds of names in a certificate (RFC 5280, GeneralName). */
const DNS_NAME = 2;
const IP_ADDRESS = 7;

/** Returns the certificate from the journal. The first start makes it. */
export function mediaCertificate(journal: Journal): MediaCertificate {
  const certificates = journal.collection<MediaCertificate>('media-certificate');
  let certificate = certificates.get('media');
  if (!certificate) {
    certificate = createCertificate();
    certificates.set('media', certificate);
  }
  return certificate;
}

/** Returns a certificate for loopback that is signed by itself, so it is its own authority. */
export function createCertificate(): MediaCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const certificate = pki.createCertificate();
  const name = [{ name: 'commonName', value: 'Chat simulator media' }];
  certificate.publicKey = pki.publicKeyFromPem(publicKey);
  certificate.serialNumber = '01';
  certificate.validity.notBefore = VALID_FROM;
  certificate.validity.notAfter = VALID_UNTIL;
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: 'basicConstraints', critical: true, cA: true },
    {
      name: 'subjectAltName',
      critical: true,
      altNames: [
        { type: DNS_NAME, value: 'localhost' },
        { type: IP_ADDRESS, ip: '127.0.0.1' },
        { type: IP_ADDRESS, ip: '::1' },
      ],
    },
  ]);
  certificate.sign(pki.privateKeyFromPem(privateKey), md.sha256.create());
  const cert = pki.certificateToPem(certificate);
  return { ca: cert, cert, key: privateKey };
}
