import { hashFields } from '../../../runtime/store.ts';

/** The shop's data about a number that wrote to it. */
export interface Writer {
  /** When it last wrote, for "replied since". */
  readonly lastInboundAtMs: number;
  /** The network's stamp on that message, in whole seconds, for order. */
  readonly stampMs: number;
  /** True if the person's last message was an opt-out keyword (docs/contract.md, Opt-out). */
  readonly optedOut: boolean;
  /** The network's ids of the person's last messages, so that a repeated delivery changes nothing. */
  readonly wireIds: readonly string[];
}

/** A person's message, as far as the policy cares. */
export interface WrittenMessage extends Pick<Writer, 'optedOut'> {
  readonly wireId: string;
  /** The network's stamp, in whole seconds. */
  readonly atMs: number;
}

const REMEMBERED_WIRE_IDS = 8;

/**
 * Returns the data after a person's message. Undefined if nothing changes, because the message was seen before. A
 * message with an earlier network timestamp than the newest (late or out of order) does not replace it.
 */
export function afterMessage(
  writer: Writer | undefined,
  message: WrittenMessage,
  nowMs: number,
): Writer | undefined {
  if (writer?.wireIds.includes(message.wireId)) return undefined;
  const wireIds = [...(writer?.wireIds ?? []), message.wireId].slice(-REMEMBERED_WIRE_IDS);
  if (writer !== undefined && message.atMs < writer.stampMs) return { ...writer, wireIds };
  // The timestamp is cut to the second. A reply within the second of our send would look older than the send.
  const lastInboundAtMs = Math.min(nowMs, message.atMs + 999);
  return { lastInboundAtMs, stampMs: message.atMs, optedOut: message.optedOut, wireIds };
}

/**
 * Merges the records of one person who wrote under two addresses. The later message counts. If both are of the same
 * second, the opt-out counts. A repeated delivery of a message of either changes nothing.
 */
export function laterWriter(left: Writer | undefined, right: Writer | undefined): Writer | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const isLater = right.stampMs > left.stampMs || (right.stampMs === left.stampMs && right.optedOut);
  const [earlier, later] = isLater ? [left, right] : [right, left];
  const wireIds = [...new Set([...earlier.wireIds, ...later.wireIds])].slice(-REMEMBERED_WIRE_IDS);
  return { ...later, lastInboundAtMs: Math.max(earlier.lastInboundAtMs, later.lastInboundAtMs), wireIds };
}

/** Reads a writer back; undefined when the number never wrote. */
export function decodeWriter(text: string | null): Writer | undefined {
  return text === null ? undefined : (JSON.parse(text) as Writer);
}

/** Reads the writers of a shop from the flat list of fields and values that `HGETALL` returns. */
export function decodeWriters(fields: readonly string[]): Map<string, Writer> {
  return new Map([...hashFields(fields)].map(([address, text]) => [address, JSON.parse(text) as Writer]));
}
