/** What recipients' devices said of a message that reached the network. Times in milliseconds since the Unix epoch. */
export interface MessageReceipts {
  /** When the first of its recipients had it; null: nobody has said so. */
  readonly deliveredAtMs: number | null;
  /** When the first of them read it; null: nobody has said so, which many never do. */
  readonly readAtMs: number | null;
  /** How many of a group have it, and how many read it; 1 at most of a person. */
  readonly delivered: number;
  readonly read: number;
}

/** Nobody has said anything. */
const NO_RECEIPTS: MessageReceipts = { deliveredAtMs: null, readAtMs: null, delivered: 0, read: 0 };

/** The stored form: four numbers, an empty place for what there is not. */
export function encodeReceipts({ deliveredAtMs, readAtMs, delivered, read }: MessageReceipts): string {
  return [deliveredAtMs ?? '', readAtMs ?? '', delivered, read].join(' ');
}

/** Reads it back; nothing stored means that nobody has said anything. */
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
