import type { IncomingMessage } from 'node:http';
import type { ArmedTimer, Clock } from '../../runtime/clock.ts';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { type InboundDownload, LARGEST_INBOUND_FILE } from '../inbound-content.ts';
import { egressThrough } from './egress.ts';
import { askNetworkFile, type DownloadBounds } from './network-file.ts';
import { openSealedFile, SEALING_BYTES } from './sealed-file.ts';

/** Longest time between two pieces of a file from the network, in milliseconds. */
const STALL_MS = 10_000;
/** Longest time for one file, in milliseconds: 100 MiB at 1.4 Mbit/s. */
const LONGEST_FILE_MS = 10 * MINUTE_MS;
const MOST_BYTES = LARGEST_INBOUND_FILE + SEALING_BYTES;

/** The limits of requests to the network's file hosts. */
export type FileBounds = Omit<DownloadBounds, 'hosts' | 'egress'>;

/** Fetches one attachment from the network and decrypts it on the way, within time limits. It ends once. */
export class FileDownload {
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  readonly #end = new AbortController();
  readonly #longest: ArmedTimer;
  #source: IncomingMessage | undefined;

  constructor({ clock, onEnd }: { readonly clock: Clock; readonly onEnd: () => void }) {
    this.#clock = clock;
    this.#onEnd = onEnd;
    this.#longest = clock.after(LONGEST_FILE_MS, () => this.end());
  }

  get hasEnded(): boolean {
    return this.#end.signal.aborted;
  }

  /**
   * Asks the network. Returns the decrypted file, which is fetched as it is read, and throws if it is another file.
   * Rejects with `DownloadRefused`, or with the error of the connection.
   */
  async open(
    { hosts, egress, file, sha256 }: InboundDownload,
    bounds: FileBounds,
  ): Promise<AsyncIterable<Buffer>> {
    const way = { ...bounds, egress: egress && egressThrough(egress), hosts: async () => hosts };
    const limits = { maxBytes: MOST_BYTES, signal: this.#end.signal };
    this.#source = await this.#soon(askNetworkFile(file.directPath, way, limits));
    return openSealedFile(this.#pieces(this.#source), { ...file, sha256, maxBytes: MOST_BYTES });
  }

  /** Ends the request, wherever it is. */
  end(): void {
    if (this.hasEnded) return;
    this.#longest.cancel();
    this.#end.abort();
    this.#source?.destroy();
    this.#onEnd();
  }

  /** Waits for data of the network. Ends the download if that takes too long. */
  async #soon<Value>(coming: Promise<Value>): Promise<Value> {
    const stalled = this.#clock.after(STALL_MS, () => this.end());
    try {
      return await coming;
    } finally {
      stalled.cancel();
    }
  }

  async *#pieces(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const pieces = source[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await this.#soon(pieces.next());
      if (done === true) return;
      yield value;
    }
  }
}
