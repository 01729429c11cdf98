/**
 * The receipts of recipients' devices for a message that reached the network. Times in milliseconds since the Unix
 * epoch.
 */
export interface MessageReceipts {
  /** The time at which the first recipient's device received it, or null without a receipt. */
  readonly deliveredAtMs: number | null;
  /** The time at which the first recipient read it, or null without a receipt. Many recipients never send one. */
  readonly readAtMs: number | null;
  /** How many members of a group received it, and how many read it; at most 1 for a person. */
  readonly delivered: number;
  readonly read: number;
}

const NO_RECEIPTS: MessageReceipts = { deliveredAtMs: null, readAtMs: null, delivered: 0, read: 0 };

/** Returns the stored form: four numbers, with an empty text for null. */
export function encodeReceipts({ deliveredAtMs, readAtMs, delivered, read }: MessageReceipts): string {
  return [deliveredAtMs ?? '', readAtMs ?? '', delivered, read].join(' ');
}

/** Decodes stored receipts; an absent value means that there are none. */
export function decodeReceipts(text: string | null | undefined): MessageReceipts {
  if (!text) return NO_RECEIPTS;
  const [deliveredAtMs = '', readAtMs = '', deliveredCount, readCount] = text.split(' ');
  return {
    deliveredAtMs: deliveredAtMs === '' ? null : Number(deliveredAtMs),
    readAtMs: readAtMs === '' ? null : Number(readAtMs),
    delivered: Number(deliveredCount),
    read: Number(readCount),
  };
}
