import type { KeyLimits } from '../../../policy/limits/key-limits.ts';
import type { Actors } from '../../../runtime/actors.ts';
import type { ArmedTimer, Clock } from '../../../runtime/clock.ts';
import { tenantAddress } from '../tenant-keys.ts';

/** How often changed windows and quotas are stored. A crash may lose this much (docs/contract.md, Windows). */
const USAGE_STORE_MS = 1_000;

const SWEPT_KEYS = 1_000;

/** Has the windows and quotas that calls changed stored once a second, and gives back the memory of idle keys. */
export class UsageStorer {
  readonly #options: { readonly actors: Actors; readonly clock: Clock; readonly keyLimits: KeyLimits };
  #tenants = new Set<string>();
  #timer: ArmedTimer | undefined;

  constructor(options: { readonly actors: Actors; readonly clock: Clock; readonly keyLimits: KeyLimits }) {
    this.#options = options;
  }

  /** A call of this tenant was counted. */
  storeSoon(tenantId: string): void {
    this.#tenants.add(tenantId);
    this.#timer ??= this.#options.clock.after(USAGE_STORE_MS, () => this.#store());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #store(): void {
    const { actors, clock, keyLimits } = this.#options;
    this.#timer = undefined;
    const tenants = this.#tenants;
    this.#tenants = new Set();
    keyLimits.sweep({ nowMs: clock.wallMs(), keyCount: SWEPT_KEYS });
    for (const tenantId of tenants) {
      const address = tenantAddress(tenantId);
      // A tenant that left stored its usage then. A lease that ended may be renewed before the next second.
      if (actors.peek(address) !== undefined) actors.tell(address, { type: 'store_usage' });
    }
  }
}
