/**
 * The receipts of recipients' devices for a message that reached the network. Times in milliseconds since the Unix
 * epoch.
 */
export interface MessageReceipts {
  /** When the first recipient's device received it; null: no receipt. */
  readonly deliveredAtMs: number | null;
  /** When the first recipient read it; null: no receipt, and many recipients never send one. */
  readonly readAtMs: number | null;
  /** How many members of a group received it, and how many read it; at most 1 for a person. */
  readonly delivered: number;
  readonly read: number;
}

/** No receipts yet. */
const NO_RECEIPTS: MessageReceipts = { deliveredAtMs: null, readAtMs: null, delivered: 0, read: 0 };

/** The stored form: four numbers, an empty place for what there is not. */
export function encodeReceipts({ deliveredAtMs, readAtMs, delivered, read }: MessageReceipts): string {
  return [deliveredAtMs ?? '', readAtMs ?? '', delivered, read].join(' ');
}

/** Decodes stored receipts; an absent value means that there are none. */
export function decodeReceipts(text: string | null | undefined): MessageReceipts {
  if (!text) return NO_RECEIPTS;
  const [deliveredAtMs = '', readAtMs = '', delivered, read] = text.split(' ');
  return {
    deliveredAtMs: deliveredAtMs === '' ? null : Number(deliveredAtMs),
    readAtMs: readAtMs === '' ? null : Number(readAtMs),
    delivered: Number(delivered),
    read: Number(read),
  };
}
