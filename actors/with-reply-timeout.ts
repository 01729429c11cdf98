import type { Clock } from '../runtime/clock.ts';
import { RuntimeFailure } from '../runtime/runtime-failure.ts';

/**
 * How long a caller waits for an actor or for another node, in milliseconds (docs/contract.md, Codes of the service).
 */
export const REPLY_MS = 2_000;

/**
 * Waits for the reply to a command that its actor retries until Redis accepts it, which may take hours. Rejects with
 * the `RuntimeFailure` `DEADLINE_EXCEEDED` after `REPLY_MS`; the command is carried out all the same.
 */
export function withReplyTimeout<Answer>(
  clock: Pick<Clock, 'after'>,
  answer: Promise<Answer>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(REPLY_MS, () =>
      reject(new RuntimeFailure('DEADLINE_EXCEEDED', `not stored within ${REPLY_MS} ms`, 1)),
    );
    answer.then(resolve, reject).finally(() => timer.cancel());
  });
}
