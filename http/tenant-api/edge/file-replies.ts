import type { InboundDownload } from '../../../actors/inbound-content.ts';
import { type FileBounds, FileDownload } from '../../../actors/outbound/file-download.ts';
import { DownloadRefused } from '../../../actors/outbound/network-file.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { Counts } from '../../../runtime/counts.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { CallerConnection } from '../../contract/caller-connection.ts';
import { errorReply } from '../../contract/envelope.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import { headerLines, type ReplyStream } from '../../contract/exchange.ts';
import type { OwnerReply } from '../../owner/owner-reply.ts';
import { shownFile } from '../shown-file.ts';

/** Most files that one node sends at a time. */
const MOST_FILES = { tenant: 4, node: 64 } as const;
const TOO_MANY = {
  code: 'OVERLOADED',
  message: 'Too many attachments are being fetched; try again shortly.',
} as const;

/** An owner's reply that allows a file to be fetched. */
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
  readonly #open = new Counts();

  constructor(options: { readonly bounds: FileBounds; readonly clock: Clock; readonly log: Logger }) {
    this.#bounds = options.bounds;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Files that are being sent now. */
  get count(): number {
    return this.#open.total;
  }

  /**
   * Returns the reply with the file. It is a refusal if all slots are in use or the network does not have the file. A
   * `HEAD` also asks the network, for the same status, and reads nothing of the file. Never rejects.
   */
  async reply(
    { reply: { headers }, keyId, file }: AllowedFile,
    call: {
      readonly tenantId: string;
      readonly isHead: boolean;
      readonly connection: CallerConnection | undefined;
    },
  ): Promise<OwnerReply> {
    const shownForm = shownFile(file);
    const onEnd = this.#enter(call.tenantId);
    if (onEnd === undefined) return { reply: errorReply(TOO_MANY, headers), keyId };
    const download = new FileDownload({ clock: this.#clock, onEnd });
    call.connection?.onGone(() => download.end());
    try {
      const pieces = await download.open(file, this.#bounds);
      if (call.isHead) download.end();
      const stream = (reader: ReplyStream): void => {
        if (!call.isHead) void this.#pour(pieces, download, reader);
      };
      const lines = headers + headerLines(shownForm.headers);
      return {
        reply: { status: 200, contentType: shownForm.contentType, headers: lines, body: '', stream },
        keyId,
      };
    } catch (error) {
      download.end();
      return { reply: errorReply({ code: codeOf(error) }, headers), keyId };
    }
  }

  /** Takes a slot, or returns undefined if there is none. The returned function frees it. */
  #enter(tenantId: string): (() => void) | undefined {
    if (this.#open.countOf(tenantId) >= MOST_FILES.tenant || this.#open.total >= MOST_FILES.node)
      return undefined;
    this.#open.add(tenantId, 1);
    return () => void this.#open.add(tenantId, -1);
  }

  /**
   * Sends the file. If it turns out to be another file or does not end, the connection is closed without the end of the
   * reply.
   */
  async #pour(pieces: AsyncIterable<Buffer>, download: FileDownload, reader: ReplyStream): Promise<void> {
    reader.onClose(() => download.end());
    try {
      for await (const piece of pieces) {
        if (!reader.write(piece)) await reader.waitUntilDrained();
      }
      reader.end();
    } catch (error) {
      if (!download.hasEnded) this.#log.warn({ err: error }, 'the download of an attachment was broken off');
      reader.drop();
    } finally {
      download.end();
    }
  }
}

function codeOf(error: unknown): ErrorCode {
  const reason = error instanceof DownloadRefused ? error.reason : undefined;
  if (reason === 'gone') return 'MEDIA_GONE';
  return reason === 'too_large' ? 'MEDIA_TOO_LARGE' : 'MEDIA_UNAVAILABLE';
}
