import type { IncomingMessage } from 'node:http';
import { type InboundDownload, LARGEST_INBOUND_FILE } from '../../actors/inbound-content.ts';
import { egressThrough } from '../../actors/outbound/egress.ts';
import { askNetworkFile, type DownloadBounds, DownloadRefused } from '../../actors/outbound/network-file.ts';
import { openSealedFile, SEALING_BYTES } from '../../actors/outbound/sealed-file.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { CallerConnection } from '../contract/caller-connection.ts';
import { errorReply } from '../contract/envelope.ts';
import type { ErrorCode } from '../contract/errors.ts';
import { type HeaderLines, headerLines, type ReplyStream } from '../contract/exchange.ts';
import type { OwnerReply } from '../owner/serve-as-owner.ts';
import { shownFile } from './shown-file.ts';

/** Most files that one node sends at a time. */
const MOST_FILES = { tenant: 4, node: 64 } as const;
/** Longest time between two pieces of a file from the network, in milliseconds. */
const STALL_MS = 10_000;
/** Longest time for one file, in milliseconds: 100 MiB at 1.4 Mbit/s. */
const LONGEST_MS = 600_000;

/** The limits of requests to the network's file hosts. */
export type FileBounds = Omit<DownloadBounds, 'hosts' | 'egress'>;

/** A file that the owner of its tenant allowed to be fetched. */
export interface AllowedFile extends OwnerReply {
  readonly file: InboundDownload;
}

/**
 * Sends attachments of inbound messages. The node that took the call fetches them from the network and decrypts them on
 * the way. Nothing is stored. No more is fetched than the reader accepts.
 */
export class FileReplies {
  readonly #bounds: FileBounds;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #open = new Map<string, number>();
  #count = 0;
  #bytes = 0;

  constructor(options: { readonly bounds: FileBounds; readonly clock: Clock; readonly log: Logger }) {
    this.#bounds = options.bounds;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Files that are given now. */
  get count(): number {
    return this.#count;
  }

  /** Bytes that were given since the start, in the clear. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Returns the reply with the file. It is a refusal if all slots are in use or the network does not have the file.
   * Never rejects.
   */
  async reply(
    { reply: { headers }, keyId, file }: AllowedFile,
    call: {
      readonly tenantId: string;
      readonly isHead: boolean;
      readonly connection: CallerConnection | undefined;
    },
  ): Promise<OwnerReply> {
    const shown = shownFile(file);
    const given = { status: 200, contentType: shown.contentType, body: '' } as const;
    const lines = headers + headerLines(shown.headers);
    if (call.isHead) return { reply: { ...given, headers: lines, stream: () => undefined }, keyId };
    const leave = this.#enter(call.tenantId);
    if (leave === undefined) return { reply: refusal('OVERLOADED', headers), keyId };
    const download = new Download(this.#clock, leave);
    call.connection?.onGone(() => download.end());
    try {
      const source = await this.#ask(file, download);
      const stream = (reader: ReplyStream): void => void this.#pour(source, { file, download, reader });
      return { reply: { ...given, headers: lines, stream }, keyId };
    } catch (error) {
      download.end();
      return { reply: refusal(codeOf(error), headers), keyId };
    }
  }

  /** Takes a slot, or returns undefined if there is none. The returned function frees it. */
  #enter(tenantId: string): (() => void) | undefined {
    const ofTenant = this.#open.get(tenantId) ?? 0;
    if (ofTenant >= MOST_FILES.tenant || this.#count >= MOST_FILES.node) return undefined;
    this.#open.set(tenantId, ofTenant + 1);
    this.#count += 1;
    return () => {
      this.#count -= 1;
      const left = (this.#open.get(tenantId) ?? 1) - 1;
      if (left === 0) this.#open.delete(tenantId);
      else this.#open.set(tenantId, left);
    };
  }

  #ask({ hosts, egress, file }: InboundDownload, download: Download): Promise<IncomingMessage> {
    const maxBytes = LARGEST_INBOUND_FILE + SEALING_BYTES;
    const way = egress && egressThrough(egress);
    const bounds = { ...this.#bounds, egress: way, hosts: async () => hosts };
    return download.soon(askNetworkFile(file.directPath, bounds, { maxBytes, signal: download.signal }));
  }

  /** Passes the file on. One that turns out to be another file, or comes to no end, ends the connection and not the reply. */
  async #pour(
    source: IncomingMessage,
    {
      file: { file, sha256 },
      download,
      reader,
    }: { readonly file: InboundDownload; readonly download: Download; readonly reader: ReplyStream },
  ): Promise<void> {
    reader.onClose(() => download.end());
    const maxBytes = LARGEST_INBOUND_FILE + SEALING_BYTES;
    try {
      for await (const piece of openSealedFile(download.pieces(source), { ...file, sha256, maxBytes })) {
        this.#bytes += piece.byteLength;
        if (!reader.write(piece)) await reader.drained();
      }
      reader.end();
    } catch (error) {
      // Do not log its path, which opens the file's ciphertext to anyone.
      if (!download.signal.aborted) this.#log.warn({ cause: String(error) }, 'an attachment was broken off');
      reader.drop();
    } finally {
      source.destroy();
      download.end();
    }
  }
}

/** One file on its way: its bounds in time, and its end, which comes once. */
class Download {
  readonly #clock: Clock;
  readonly #leave: () => void;
  readonly #end = new AbortController();
  readonly #longest;

  constructor(clock: Clock, leave: () => void) {
    this.#clock = clock;
    this.#leave = leave;
    this.#longest = clock.after(LONGEST_MS, () => this.end());
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  end(): void {
    if (this.#end.signal.aborted) return;
    this.#longest.cancel();
    this.#end.abort();
    this.#leave();
  }

  /** Waits for data of the network; ends the download if it takes too long. */
  async soon<Value>(coming: Promise<Value>): Promise<Value> {
    const stalled = this.#clock.after(STALL_MS, () => this.end());
    try {
      return await coming;
    } finally {
      stalled.cancel();
    }
  }

  async *pieces(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const pieces = source[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await this.soon(pieces.next());
      if (done === true) return;
      yield value;
    }
  }
}

function codeOf(error: unknown): ErrorCode {
  const because = error instanceof DownloadRefused ? error.because : undefined;
  if (because === 'gone') return 'MEDIA_GONE';
  return because === 'too_large' ? 'MEDIA_TOO_LARGE' : 'MEDIA_UNAVAILABLE';
}

const MESSAGES: Partial<Record<ErrorCode, string>> = {
  OVERLOADED: 'Too many attachments are being fetched; try again shortly.',
};

function refusal(code: ErrorCode, rate: HeaderLines): OwnerReply['reply'] {
  const message = MESSAGES[code];
  return errorReply({ code, ...(message === undefined ? {} : { message }) }, rate);
}
