import type { FileFault } from '../media/media-host.ts';
import type { MESSAGE } from './contact-calls.ts';
import type { Given } from './control-input.ts';
import type { GROUPED_RECEIPT, RECEIPTS } from './control-routes.ts';

/** A message that a contact writes, as the control API takes it. */
export type ContactMessageCall = Given<typeof MESSAGE, 'phone'>;

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
    sendReceipts: (from: string, receipts: Given<typeof RECEIPTS, 'phone'>) =>
      call<{ count: number }>('POST', `/numbers/${encodeURIComponent(from)}/receipts`, receipts),
    /** Sends the receipts of many members' handsets for one message of a group as one stanza. */
    sendGroupedReceipt: (group: string, receipts: Given<typeof GROUPED_RECEIPT, 'id'>) =>
      call<{ count: number }>('POST', `/groups/${encodeURIComponent(group)}/receipts`, receipts),
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
