import type { IdempotentReply } from '../../actors/shops/idempotent-reply.ts';
import { reply } from './endpoint.ts';
import type { HeaderLines } from './exchange.ts';

const REPLAYED = '\r\nX-Idempotent-Replay: true';
const DIFFERS = `${REPLAYED}\r\nX-Idempotent-Mismatch: true`;

/** Returns the headers that mark a replay (docs/contract.md, Idempotency). */
export function replayHeaders({
  isReplayed,
  differs,
}: Pick<IdempotentReply<unknown>, 'isReplayed' | 'differs'>): HeaderLines {
  if (!isReplayed) return '';
  return differs ? DIFFERS : REPLAYED;
}

/**
 * Returns the reply to a call that makes something: `status` with a `Location`. It is 200 if an earlier call with the
 * same idempotency key made it.
 */
export function madeOnce<const Status extends 201 | 202, Accepted>(
  status: Status,
  idempotentReply: IdempotentReply<Accepted>,
  location: string,
) {
  if (idempotentReply.isReplayed) return reply(200, idempotentReply.accepted, replayHeaders(idempotentReply));
  return reply(status, idempotentReply.accepted, `\r\nLocation: ${location}`);
}

/** The headers of a replay, for the document. */
export const REPLAY_HEADERS = {
  'X-Idempotent-Replay': 'Always `true`.',
  'X-Idempotent-Mismatch': '`true` if this body asks for something else than the original.',
} as const;
