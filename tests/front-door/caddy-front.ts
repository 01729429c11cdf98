import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnGuarded } from '../../service/guarded-process.ts';
import { freePorts } from '../e2e/free-ports.ts';
import { until } from '../e2e/waiting.ts';
import { root } from '../root.ts';

/** Caddy as the profile `tls` of compose.yaml runs it, for the name localhost. */
interface CaddyFront {
  /** The address at which it speaks HTTPS. */
  readonly port: number;
  /** The address at which it speaks HTTP. */
  readonly plainUrl: string;
  /** The certificate of its authority, PEM. */
  readonly ca: string;
  stop(): Promise<void>;
}

/** Starts Caddy before the proxy, with a certificate of a new authority. Resolves once it has the certificate. */
export async function startCaddy(frontUrl: string): Promise<CaddyFront> {
  const folder = mkdtempSync(join(tmpdir(), 'caddy-'));
  const [plainPort = 0, port = 0] = await freePorts(2);
  const replaced = new Map([
    ['\tadmin off', `\tadmin off\n\tstorage file_system ${folder}`],
    ['http_port 8080', `http_port ${plainPort}`],
    ['https_port 8443', `https_port ${port}`],
    ['{$API_DOMAIN}', 'localhost'],
    ['{$TLS}', 'tls internal'],
    ['172.30.57.10:3000', new URL(frontUrl).host],
  ]);
  let configuration = readFileSync(join(root, 'image/Caddyfile'), 'utf8');
  for (const [from, to] of replaced) {
    if (!configuration.includes(from)) throw new Error(`image/Caddyfile has no ${from}`);
    configuration = configuration.replace(from, to);
  }
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, configuration);
  const args = ['run', '--config', file];
  const caddy = spawnGuarded({ name: 'caddy', command: 'caddy', args, errors: 'read' });
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
    const obtained = until('caddy has its certificate', () =>
      Promise.resolve(said.includes('certificate obtained successfully')),
    );
    await Promise.race([obtained, ended]);
  } catch (failure) {
    await stop();
    throw failure;
  }
  const ca = readFileSync(join(folder, 'pki/authorities/local/root.crt'), 'utf8');
  return { port, plainUrl: `http://localhost:${plainPort}`, ca, stop };
}
