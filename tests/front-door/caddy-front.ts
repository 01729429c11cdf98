import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnGuarded } from '../../service/dev/guarded-process.ts';
import { freePorts } from '../testbed/free-ports.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { until } from '../testbed/waiting.ts';
import type { TestCertificate } from './test-certificate.ts';

/** Caddy as the profile `tls` of compose.yaml runs it, for the name localhost. */
interface CaddyFront {
  /** The port at which it speaks HTTPS. */
  readonly port: number;
  /** The address at which it speaks HTTP. */
  readonly plainUrl: string;
  /** The certificate of its authority, PEM. */
  readonly ca: string;
  stop(): Promise<void>;
}

/** `TLS` as docs/tls.md has it for own certificates, with another folder than that of the container. */
function ownCertificate(folder: string): string {
  const page = readRepositoryFile('docs/tls.md');
  const [, directive = ''] = /TLS='(tls \/[^']+)'/.exec(page) ?? [];
  if (!directive.includes('/certificates/')) throw new Error('docs/tls.md names no own certificates');
  return directive.replaceAll('/certificates', folder);
}

/**
 * Starts Caddy before the proxy. Without a certificate it makes one of its own authority. Resolves once it serves with
 * the certificate.
 */
export async function startCaddy(frontUrl: string, certificate?: TestCertificate): Promise<CaddyFront> {
  const folder = mkdtempSync(join(tmpdir(), 'caddy-'));
  const [plainPort = 0, port = 0] = await freePorts(2);
  const replaced = new Map([
    ['\tadmin off', `\tadmin off\n\tstorage file_system ${folder}`],
    ['http_port 8080', `http_port ${plainPort}`],
    ['https_port 8443', `https_port ${port}`],
    ['172.30.57.10:3000', new URL(frontUrl).host],
  ]);
  let configuration = readRepositoryFile('deploy/front/Caddyfile');
  for (const [from, to] of replaced) {
    if (!configuration.includes(from)) throw new Error(`deploy/front/Caddyfile has no ${from}`);
    configuration = configuration.replace(from, to);
  }
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, configuration);
  // The variables that compose.yaml gives it.
  const tls = certificate ? ownCertificate(certificate.folder) : 'tls internal';
  const args = ['API_DOMAIN=localhost', `TLS=${tls}`, 'caddy', 'run', '--config', file];
  const caddy = spawnGuarded({ name: 'caddy', command: 'env', args, errors: 'read' });
  let said = '';
  caddy.stderr?.on('data', (bytes) => {
    said += bytes;
  });
  const stop = async (): Promise<void> => {
    await caddy.stop({ graceMs: 5_000 });
    rmSync(folder, { recursive: true, force: true });
  };
  const ended = caddy.ended.then(() =>
    Promise.reject(new Error(`caddy ended (is it there? bin/prepare-program caddy caddy): ${said}`)),
  );
  ended.catch(() => undefined);
  try {
    const ready = certificate ? 'serving initial configuration' : 'certificate obtained successfully';
    const serves = until('caddy serves with its certificate', () => Promise.resolve(said.includes(ready)));
    await Promise.race([serves, ended]);
  } catch (error) {
    await stop();
    throw error;
  }
  const ca = certificate?.ca ?? readFileSync(join(folder, 'pki/authorities/local/root.crt'), 'utf8');
  return { port, plainUrl: `http://localhost:${plainPort}`, ca, stop };
}
