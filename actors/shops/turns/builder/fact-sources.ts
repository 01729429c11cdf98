import type { Store } from '../../../../runtime/store.ts';
import type { Retention } from '../../records/message-days.ts';
import type { NumberVault } from '../../records/number-vault.ts';

/** The sources of the facts for a turn. */
export interface FactSources extends Retention {
  readonly store: Store;
  readonly hasWorker: () => boolean;
  /** Opens the archived data of the numbers of erased shops. */
  readonly vault: NumberVault;
}
