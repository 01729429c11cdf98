/** Position of an entry: Redis's time and number of its tick, the name of its log, and its index in the tick. */
export interface Position {
  readonly ms: number;
  readonly sequence: number;
  readonly logName: string;
  readonly index: number;
}

/** Orders positions by time, the oldest first. */
export function order(left: Position, right: Position): number {
  if (left.ms !== right.ms) return left.ms - right.ms;
  if (left.sequence !== right.sequence) return left.sequence - right.sequence;
  if (left.logName !== right.logName) return left.logName < right.logName ? -1 : 1;
  return left.index - right.index;
}

/** Returns the cursor of a position. */
export function encodePosition({ ms, sequence, logName, index }: Position): string {
  return Buffer.from(JSON.stringify([ms, sequence, logName, index])).toString('base64url');
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
  const [ms, sequence, logName, index] = parts;
  if (!isCount(ms) || !isCount(sequence) || !isCount(index) || typeof logName !== 'string')
    throw new TypeError('not a cursor of the request log');
  return { ms, sequence, logName, index };
}

function isCount(part: unknown): part is number {
  return Number.isSafeInteger(part) && (part as number) >= 0;
}
