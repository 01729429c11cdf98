/** Position of an entry: Redis's time and number of its tick, the name of its log, and its index in the tick. */
export interface Position {
  readonly ms: number;
  readonly sequence: number;
  readonly account: string;
  readonly index: number;
}

/** Orders positions by time, the oldest first. */
export function order(left: Position, right: Position): number {
  if (left.ms !== right.ms) return left.ms - right.ms;
  if (left.sequence !== right.sequence) return left.sequence - right.sequence;
  if (left.account !== right.account) return left.account < right.account ? -1 : 1;
  return left.index - right.index;
}

/** Returns the cursor of a position. */
export function encodePosition({ ms, sequence, account, index }: Position): string {
  return Buffer.from(JSON.stringify([ms, sequence, account, index])).toString('base64url');
}

/** True if the cursor has the form of a request log's cursor. */
export function isRequestCursor(cursor: string): boolean {
  try {
    decodePosition(cursor);
    return true;
  } catch {
    return false;
  }
}

/** Returns the position of a cursor. Throws if it is not one of the request log. */
export function decodePosition(cursor: string): Position {
  const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[];
  const [ms, sequence, account, index] = parts;
  if (!isCount(ms) || !isCount(sequence) || !isCount(index) || typeof account !== 'string')
    throw new TypeError('not a cursor of the request log');
  return { ms, sequence, account, index };
}

function isCount(part: unknown): part is number {
  return Number.isSafeInteger(part) && (part as number) >= 0;
}
