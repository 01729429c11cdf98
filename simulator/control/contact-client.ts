import type { FileFault } from '../media/media-host.ts';
import type { WrittenKind } from '../to-clients/written-kinds.ts';

/** A message that a contact writes, as the control API takes it. */
export interface ContactMessageCall {
  readonly to: string;
  /** By default a text. */
  readonly kind?: WrittenKind;
  readonly text?: string;
  /** The stanza that it quotes, reacts to, edits, takes back or votes on. */
  readonly about?: string;
  readonly wrapped?: 'none' | 'ephemeral' | 'view_once';
  /** The content of a file, base64. By default `fileBytes` random bytes. */
  readonly file?: string;
  readonly fileBytes?: number;
  readonly fileType?: string;
  readonly fileName?: string;
  readonly wait?: boolean;
  readonly addressing?: 'lid' | 'pn' | 'lid_only' | 'pn_only';
  /** How the number gets the contact's token. */
  readonly token?: 'notification' | 'message' | 'none';
  /** The stanza comes without a ciphertext. */
  readonly unavailable?: boolean;
  /** Bytes that are sealed instead of the message, padding included, base64. */
  readonly sealed?: string;
}

/** The methods of the control client that let contacts write, and spoil their files. */
export function contactCalls(call: <Data>(method: string, path: string, body?: object) => Promise<Data>) {
  return {
    /** A contact writes to a shop's number or a group. `delivered` is true if a client sent its receipt in time. */
    write: (from: string, message: ContactMessageCall) =>
      call<{ id: string; delivered: boolean; path: string | null }>(
        'POST',
        `/numbers/${encodeURIComponent(from)}/messages`,
        message,
      ),
    /** Sends a handset's receipts for its messages from a number, or for one stanza's id. */
    sendReceipts: (
      from: string,
      receipts: { to: string; type?: 'delivered' | 'read'; group?: string; id?: string },
    ) => call<{ count: number }>('POST', `/numbers/${encodeURIComponent(from)}/receipts`, receipts),
    /** Sends the receipts of many members' handsets for one message of a group as one stanza. */
    sendGroupedReceipt: (
      group: string,
      receipts: { to: string; messageId: string; delivered?: readonly string[]; read?: readonly string[] },
    ) => call<{ count: number }>('POST', `/groups/${encodeURIComponent(group)}/receipts`, receipts),
    /**
     * Sends the phone's connected clients these bytes instead of an encoded stanza. `count` is the number of clients.
     */
    sendFrame: (phone: string, frame: Uint8Array) =>
      call<{ count: number }>('POST', `/sessions/${encodeURIComponent(phone)}/frames`, {
        frame: Buffer.from(frame).toString('base64'),
      }),
    /** Spoils a file that a contact sent. `path` is from the answer of `write`. */
    spoilFile: (path: string, fault: FileFault) => call<object>('PUT', '/files', { path, fault }),
    /** Returns the number of downloads whose readers have not read everything. */
    downloads: async () => (await call<{ downloads: number }>('GET', '/files')).downloads,
  };
}
