import type { RuntimeLimits } from './limits.ts';
import type { Logger } from './logger.ts';
import { RuntimeFailure } from './runtime-failure.ts';

/**
 * Thrown by `Behaviour.load` if a newer program stored the state: during its rolling deployment, or after it was rolled
 * back. It is not a crash, so it never counts towards a suspension. Callers get `STORE_UNAVAILABLE`. The actor is
 * loaded again after `RuntimeLimits.backoffMaximumMs`, on the node that then owns its shard.
 */
export class NewerState extends RuntimeFailure {
  constructor(what: string, versions: { readonly stored: number; readonly known: number }) {
    super(
      'STORE_UNAVAILABLE',
      `${what} was stored in version ${versions.stored}, newer than this program's ${versions.known}`,
      30,
    );
  }
}

/** How long an actor waits before it is loaded again, in milliseconds. */
export function waitBeforeLoading(
  failure: RuntimeFailure,
  actor: string,
  { limits, log }: { readonly limits: RuntimeLimits; readonly log: Logger },
): number {
  if (!(failure instanceof NewerState)) return limits.retryMs;
  log.error({ actor, err: failure }, 'An actor waits for a newer program');
  return limits.backoffMaximumMs;
}
