import type { Store } from '../../../../runtime/store.ts';
import type { Retention } from '../../records/message-days.ts';
import type { NumberVault } from '../../records/number-vault.ts';

/** The sources of the facts for a turn. */
export interface FactSources extends Retention {
  readonly store: Store;
  readonly hasWorker: () => boolean;
  /** Makes digests, and opens inbound messages and the archived data of erased shops' numbers. */
  readonly vault: NumberVault;
}
