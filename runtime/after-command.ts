import type { MaybePromise } from './maybe-promise.ts';
import { outcomeUnknownFailure, RuntimeFailure, type RuntimeFailureCode } from './runtime-failure.ts';

/** The failures after which a command was not carried out. Callers may then repeat it. */
const REFUSALS: ReadonlySet<RuntimeFailureCode> = new Set<RuntimeFailureCode>([
  'MAILBOX_FULL',
  'NODE_BUSY',
  'SHARD_NOT_OWNED',
  'SUSPENDED',
  'STORE_UNAVAILABLE',
  'STOPPING',
]);

/**
 * Runs the rest of a call after a command that may have been carried out: it reads a view, or gives another command. A
 * failure of the rest never says that nothing was done. It rejects with `OUTCOME_UNKNOWN` instead, because the edge and
 * callers repeat a call that did nothing (docs/decisions/005-moved-tenants-followed.md, Decision).
 */
export async function afterCommand<Value>(rest: () => MaybePromise<Value>): Promise<Value> {
  try {
    return await rest();
  } catch (error) {
    if (!(error instanceof RuntimeFailure && REFUSALS.has(error.code))) throw error;
    throw outcomeUnknownFailure(`after the command: ${error.message}`);
  }
}
