import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { aesDecryptWithIV, getMediaKeys, hmacSign, type MediaType } from '@whiskeysockets/baileys';
import { serverCloser } from '../socket/server-closer.ts';
import type { Attachment } from './attachments.ts';
import type { MediaCertificate } from './media-certificate.ts';

/** The largest upload: more than the largest attachment that our clients send. The real network takes 2 GB. */
const MOST_UPLOAD_BYTES = 128 * 1024 * 1024;

/** The length of the truncated HMAC after the ciphertext. */
const MAC_BYTES = 10;

/**
 * The faults of a file. The host has dropped it (whatsmeow download.go: 403, 404 and 410), redirects, sends wrong or
 * fewer bytes, or stops in the middle.
 */
export const FILE_FAULTS = ['none', 'gone', 'moved', 'garbled', 'cut', 'stalled'] as const;

/** One of these faults. */
export type FileFault = (typeof FILE_FAULTS)[number];

/** The facts that a message gives of a file that a phone uploaded. */
export interface KeptFile {
  readonly mediaKey: Uint8Array;
  readonly fileEncSha256: Uint8Array;
  readonly directPath: string;
}

/**
 * The host for attachments: clients upload, and everyone downloads. It is https on loopback, because the client uploads
 * over nothing else. Files are kept in the data directory under the hash of their ciphertext.
 */
export class MediaHost {
  /** The secret that clients get from `media_conn` and must send to upload. */
  readonly auth = randomBytes(16).toString('base64url');
  /** The certificate to trust, PEM. */
  readonly ca: string;
  readonly #directory: string;
  readonly #server: Server;
  readonly #hostname: string;
  readonly close: () => Promise<void>;
  readonly #faults = new Map<string, FileFault>();
  /** The number of downloads whose reader has not read everything. */
  downloads = 0;

  private constructor(options: { directory: string; certificate: MediaCertificate; hostname: string }) {
    this.ca = options.certificate.ca;
    this.#directory = options.directory;
    this.#hostname = options.hostname;
    const { cert, key } = options.certificate;
    this.#server = createServer({ cert, key }, (request, response) => {
      this.#answer(request, response).catch(() => answer(response, 500, { error: 'internal' }));
    });
    this.close = serverCloser(this.#server);
  }

  /** Starts listening on the given port, or on one that the system chooses. */
  static async start(options: {
    directory: string;
    certificate: MediaCertificate;
    listensOn: string;
    /** The name that clients use. An IPv6 address has brackets. */
    hostname: string;
    port: number;
  }): Promise<MediaHost> {
    await mkdir(options.directory, { recursive: true, mode: 0o700 });
    const host = new MediaHost(options);
    await new Promise<void>((resolve, reject) => {
      host.#server.once('error', reject);
      host.#server.listen(options.port, options.listensOn, resolve);
    });
    return host;
  }

  /** Host and port, in the form of `media_conn`. */
  get host(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `${this.#hostname}:${port}`;
  }

  /** Resolves with the SHA-256 of the decrypted attachment, hex. null: it is missing, damaged or forged. */
  async plaintextSha256({ type, media }: Attachment): Promise<string | null> {
    const { directPath, mediaKey } = media;
    const name = directPath ? fileName(directPath) : undefined;
    if (!name || !mediaKey) return null;
    try {
      const encrypted = await readFile(join(this.#directory, name));
      const keys = await getMediaKeys(mediaKey, type);
      const ciphertext = encrypted.subarray(0, -MAC_BYTES);
      const mac = hmacSign(Buffer.concat([keys.iv, ciphertext]), keys.macKey ?? Buffer.alloc(0));
      if (!mac.subarray(0, MAC_BYTES).equals(encrypted.subarray(-MAC_BYTES))) return null;
      const plaintext = aesDecryptWithIV(ciphertext, Buffer.from(keys.cipherKey), Buffer.from(keys.iv));
      return createHash('sha256').update(plaintext).digest('hex');
    } catch {
      return null;
    }
  }

  /** Stores a file, encrypted as phones upload it. Resolves with the facts that a message gives of it. */
  async keep(content: Uint8Array, type: MediaType): Promise<KeptFile> {
    const mediaKey = randomBytes(32);
    const { cipherKey, iv, macKey } = await getMediaKeys(mediaKey, type);
    const cipher = createCipheriv('aes-256-cbc', cipherKey, iv);
    const ciphertext = Buffer.concat([cipher.update(content), cipher.final()]);
    const mac = hmacSign(Buffer.concat([iv, ciphertext]), macKey ?? Buffer.alloc(0));
    const file = Buffer.concat([ciphertext, mac.subarray(0, MAC_BYTES)]);
    const fileEncSha256 = createHash('sha256').update(file).digest();
    const name = fileEncSha256.toString('base64url');
    await writeFile(join(this.#directory, name), file, { mode: 0o600 });
    return { mediaKey, fileEncSha256, directPath: `/mms/${type}/${name}` };
  }

  /** Spoils a file from now on. `none` restores it. */
  spoil(path: string, fault: FileFault): void {
    this.#faults.set(fileName(path) ?? '', fault);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', `https://${this.host}`);
    const name = fileName(url.pathname);
    if (!name) answer(response, 404, { error: 'not found' });
    else if (request.method === 'GET') await this.#download(name, response);
    else if (request.method !== 'POST') answer(response, 405, { error: 'method not allowed' });
    else if (url.searchParams.get('auth') !== this.auth) answer(response, 401, { error: 'wrong auth' });
    else await this.#upload(url.pathname, name, request, response);
  }

  async #upload(
    path: string,
    name: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.byteLength;
      if (size > MOST_UPLOAD_BYTES) {
        answer(response, 413, { error: 'too large' });
        request.destroy();
        return;
      }
      chunks.push(chunk);
    }
    const content = Buffer.concat(chunks);
    if (createHash('sha256').update(content).digest('base64url') !== name) {
      answer(response, 400, { error: 'the token is not the hash of the content' });
      return;
    }
    const file = join(this.#directory, name);
    const temporary = `${file}.${randomBytes(4).toString('hex')}`;
    await writeFile(temporary, content, { mode: 0o600 });
    await rename(temporary, file);
    answer(response, 200, { url: `https://${this.host}${path}`, direct_path: path });
  }

  async #download(name: string, response: ServerResponse): Promise<void> {
    const fault = this.#faults.get(name);
    if (fault === 'moved') {
      response.writeHead(302, { location: `https://${this.host}/mms/other/${name}` }).end();
      return;
    }
    // A file that cannot be read is answered like a missing one.
    const content = await readFile(join(this.#directory, name)).catch(() => undefined);
    if (!content || fault === 'gone') {
      answer(response, fault === 'gone' ? 410 : 404, { error: 'not found' });
      return;
    }
    this.downloads += 1;
    response.once('close', () => {
      this.downloads -= 1;
    });
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': content.byteLength,
    });
    const halfLength = content.byteLength >> 1;
    if (fault === 'cut') response.write(content.subarray(0, halfLength), () => response.destroy());
    else if (fault === 'stalled') response.write(content.subarray(0, halfLength));
    else response.end(fault === 'garbled' ? garble(content) : content);
  }
}

/** Returns the content with one bit changed. */
function garble(content: Buffer): Buffer {
  const middle = content.byteLength >> 1;
  content.writeUInt8(content.readUInt8(middle) ^ 1, middle);
  return content;
}

/** Returns the last part of `/mms/<kind>/<hash>` if it is the base64url of a SHA-256, so that it can name a file. */
function fileName(path: string): string | undefined {
  const lastPart = decodeURIComponent(path.split('?', 1)[0]?.split('/').at(-1) ?? '').replace(/=+$/, '');
  return /^[\w-]{43}$/.test(lastPart) ? lastPart : undefined;
}

function answer(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent) return;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
