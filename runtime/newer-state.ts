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
