import type { Clock } from '../runtime/clock.ts';
import { RuntimeFailure } from '../runtime/runtime-failure.ts';

/** How long a caller waits for the answer, in milliseconds: as long as for another node's answer. */
export const REPLY_MS = 2_000;

/**
 * Waits for the reply to a command that its actor retries until Redis accepts it, which may take hours. Rejects with
 * the `RuntimeFailure` `DEADLINE_EXCEEDED` after two seconds (docs/contract.md, Codes of the service); the command is
 * carried out all the same.
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
