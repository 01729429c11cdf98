import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate for localhost that a test's own authority signed. */
export interface TestCertificate {
  /** The folder of `cert.pem` and `key.pem`. */
  readonly folder: string;
  /** The certificate of the authority, PEM. */
  readonly ca: string;
  /** Removes the folder. */
  remove(): void;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** Makes an authority and its certificate for localhost with openssl, valid for two days. */
export function testCertificate(): TestCertificate {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  const openssl = (...words: readonly string[]) =>
    execFileSync('openssl', words, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost\n');
  openssl(
    'req',
    '-x509',
    ...NEW_KEY,
    '-days',
    '2',
    '-subj',
    '/CN=Test authority',
    '-keyout',
    'ca-key.pem',
    '-out',
    'ca.pem',
  );
  openssl('req', ...NEW_KEY, '-subj', '/CN=localhost', '-keyout', 'key.pem', '-out', 'request.pem');
  const authority = ['-CA', 'ca.pem', '-CAkey', 'ca-key.pem', '-set_serial', '1'];
  const signedNames = ['-in', 'request.pem', '-days', '2', '-extfile', 'names', '-out', 'cert.pem'];
  openssl('x509', '-req', ...authority, ...signedNames);
  return {
    folder,
    ca: readFileSync(join(folder, 'ca.pem'), 'utf8'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
