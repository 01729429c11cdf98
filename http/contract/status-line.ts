import { STATUS_CODES } from 'node:http';

const LINES = new Map(
  Object.entries(STATUS_CODES).map(([status, reason]) => [Number(status), `${status} ${reason}`]),
);

/** Returns `404 Not Found` for 404. */
export function statusLine(status: number): string {
  return LINES.get(status) ?? String(status);
}
