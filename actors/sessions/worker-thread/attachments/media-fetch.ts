import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { MediaType } from '../../../media-type.ts';
import { ForbiddenAddress } from '../../../outbound/address-guard.ts';
import { EgressFailure } from '../../../outbound/egress-failure.ts';
import { guardedRequest, type RequestBounds } from '../../../outbound/guarded-request.ts';
import {
  AttachmentDirectoryUnusable,
  isAttachmentFailure,
  newAttachmentPath,
} from '../../attachment-files.ts';
import { type AttachmentForm, attachmentForm, SIGNATURE_BYTES, typeOf } from './attachment-form.ts';
import { attachmentName } from './attachment-name.ts';

/** Largest attachment by kind, in bytes: the limits of the network's own clients. */
const MOST_BYTES: Record<MediaType, number> = {
  image: 16 * 1024 * 1024,
  video: 64 * 1024 * 1024,
  document: 100 * 1024 * 1024,
};

const MOST_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** An attachment could not be fetched. The message names the cause and never the address. */
export class MediaUnavailable extends Error {
  readonly code = 'MEDIA_UNAVAILABLE';
}

/** An attachment in a separate file. */
export interface FetchedMedia extends AttachmentForm {
  readonly path: string;
  readonly contentType: string;
  /** Its name for the recipient (`attachmentName`). */
  readonly fileName: string;
  /** Removes the file. */
  discard(): Promise<void>;
}

export interface MediaFetchOptions extends Omit<RequestBounds, 'signal'> {
  readonly tenantId: string;
  readonly url: string;
  readonly mediaType: MediaType;
  readonly timeoutMs: number;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  /** The folder of the file. By default, the system's for temporary files. */
  readonly directory?: string;
}

/**
 * Fetches an attachment into a temporary file, streamed. Only http(s) is fetched, and only from allowed addresses and
 * ports. They are checked again after each redirect, and the connection is pinned to the checked address. Size, time
 * and redirects are bounded. The first bytes show the type of the file, which is checked against the kind.
 *
 * Rejects with `MediaUnavailable`, with `EgressFailure` if the shop's proxy is away, and with
 * `AttachmentDirectoryUnusable` if the file cannot be written.
 */
export async function fetchMedia(options: MediaFetchOptions): Promise<FetchedMedia> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
  try {
    const { response, url } = await follow(options, signal);
    return await download(options, { response, url, signal });
  } catch (error) {
    if (error instanceof MediaUnavailable) throw error;
    // The attachment is not the reason: it may be there when the proxy is back.
    if (error instanceof EgressFailure && error.isProxy) throw error;
    if (isAttachmentFailure(error as NodeJS.ErrnoException))
      throw new AttachmentDirectoryUnusable(options.directory ?? tmpdir(), error);
    throw new MediaUnavailable(causeOf(error, timeout));
  }
}

function causeOf(error: unknown, timeout: AbortSignal): string {
  if (timeout.aborted) return 'the attachment took too long';
  if (error instanceof ForbiddenAddress)
    return 'the attachment is not at a public address and port 80 or 443';
  if (error instanceof EgressFailure) return `the attachment could not be fetched: ${error.message}`;
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return `the attachment could not be fetched${code === undefined ? '' : ` (${code})`}`;
}

async function follow(
  options: MediaFetchOptions,
  signal: AbortSignal,
): Promise<{ response: IncomingMessage; url: URL }> {
  let url = parse(options.url);
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
    const response = await ask(url, options, signal);
    const status = response.statusCode ?? 0;
    const { location } = response.headers;
    if (status === 200) return { response, url };
    response.destroy();
    if (!REDIRECTS.has(status) || location === undefined)
      throw new MediaUnavailable(`the attachment's server answered ${status}`);
    url = parse(location, url);
  }
  throw new MediaUnavailable('the attachment is redirected too often');
}

function parse(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw new MediaUnavailable('the attachment has no valid address');
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new MediaUnavailable('the attachment is neither at http nor https');
  if (url.username !== '' || url.password !== '')
    throw new MediaUnavailable('the address of the attachment holds credentials');
  return url;
}

function ask(
  url: URL,
  { guard, resolve, egress }: MediaFetchOptions,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const headers = { accept: '*/*', 'accept-encoding': 'identity' };
  return guardedRequest(url, { guard, resolve, egress, signal }, { headers });
}

/** The encodings of HTTP. Any other value there, for example `aws-chunked` of some stores, changes no byte. */
const PACKED = /\b(?:gzip|compress|deflate|br|zstd)\b/i;

async function download(
  options: MediaFetchOptions,
  source: { response: IncomingMessage; url: URL; signal: AbortSignal },
): Promise<FetchedMedia> {
  const { response, url, signal } = source;
  const maxBytes = options.maxBytes ?? MOST_BYTES[options.mediaType];
  const path = newAttachmentPath(options.directory);
  // If the file cannot be removed, the message is sent all the same. The sweep of the folder removes the file later.
  const discard = (): Promise<void> => rm(path, { force: true }).catch(() => undefined);
  try {
    // The request accepts the bare bytes only. The recipient would get a file that cannot be opened.
    if (PACKED.test(response.headers['content-encoding'] ?? ''))
      throw new MediaUnavailable('the attachment is encoded');
    if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
    const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    const passThrough = new BoundedPassage(maxBytes);
    await pipeline(response, passThrough, file, { signal });
    const contentType = checkedType(options.mediaType, passThrough.head, response);
    const { mediaType: askedFor, tenantId } = options;
    const form = await attachmentForm({ path, type: contentType, askedFor, tenantId });
    options.signal?.throwIfAborted();
    const disposition = response.headers['content-disposition'];
    return {
      ...form,
      path,
      contentType,
      fileName: attachmentName({ disposition, url, contentType }),
      discard,
    };
  } catch (error) {
    response.destroy();
    await discard();
    throw error;
  }
}

function checkedType(mediaType: MediaType, head: Buffer, response: IncomingMessage): string {
  const header = (response.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const { actual, shown } = typeOf(head, header);
  if (mediaType === 'document' || actual.startsWith(`${mediaType}/`)) return shown;
  throw new MediaUnavailable(`the attachment is no ${mediaType}`);
}

/** Passes on at most `maxBytes` bytes, and keeps the first ones, which show the type of the file. */
class BoundedPassage extends Transform {
  head = Buffer.alloc(0);
  readonly #maxBytes: number;
  #seen = 0;

  constructor(maxBytes: number) {
    super();
    this.#maxBytes = maxBytes;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    this.#seen += chunk.length;
    if (this.head.length < SIGNATURE_BYTES)
      this.head = Buffer.concat([this.head, chunk.subarray(0, SIGNATURE_BYTES - this.head.length)]);
    if (this.#seen > this.#maxBytes) callback(tooLarge());
    else callback(null, chunk);
  }

  override _flush(callback: TransformCallback): void {
    callback(this.#seen === 0 ? new MediaUnavailable('the attachment is empty') : null);
  }
}

const tooLarge = (): MediaUnavailable => new MediaUnavailable('the attachment is too large');
