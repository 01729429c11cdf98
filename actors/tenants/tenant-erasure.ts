import type { Actors } from '../../runtime/actors.ts';
import type { Address } from '../../runtime/address.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { partsOf } from '../../runtime/parts.ts';
import type { Store, Write } from '../../runtime/store.ts';
import { withReplyTimeout } from '../with-reply-timeout.ts';
import { askTenant } from './ask-tenant.ts';
import { activeTenant } from './committed-tenant.ts';
import type { KeyIndex } from './key-index.ts';
import { PROGRESS_AT_A_TIME } from './stored-webhooks/webhook-progress.ts';
import type { TenantState } from './tenant-state.ts';

/** How soon a failed erasure is retried. */
const ERASE_AGAIN_MS = 10_000;
/** Keys that one step removes. 85 at once took Redis up to 6.8 ms in the bench `erasure`; its bound is 5 ms. */
export const KEYS_AT_ONCE = 25;

export interface TenantErasureOptions {
  readonly actors: Pick<Actors, 'ask' | 'peek' | 'passivate'>;
  readonly store: Pick<Store, 'read' | 'commit'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly keyIndex: Pick<KeyIndex, 'forget'>;
  /** Erases a shop. Rejects if it stopped half way and must be repeated. */
  readonly eraseShop: (shop: {
    readonly tenantId: string;
    readonly shopId: string;
    readonly isTenantErased: boolean;
  }) => Promise<void>;
  /** Erases a person who wrote to the tenant's shops. Rejects if it stopped half way and must be repeated. */
  readonly erasePerson: (person: {
    readonly tenantId: string;
    readonly personId: string;
    readonly shopIds: readonly string[];
  }) => Promise<void>;
  /** Erases messages of the tenant that no list of its shops named. */
  readonly eraseStrays: (tenantId: string) => Promise<void>;
  readonly forgetDeadLetters: (address: Address) => Promise<void>;
  /** Erases the tenant's request log, and its name from the log of operators' changes. */
  readonly forgetRequests: (tenantId: string) => Promise<void>;
  /** Brings the operators' list up to the tenant's record; never rejects. */
  readonly refreshDirectory: (tenantId: string) => Promise<void>;
}

/** One tenant's erasure on this node. */
interface ErasureRun {
  readonly done: Promise<void>;
  /** True if another erasure was requested since the last check. */
  isAskedAgain: boolean;
  /** Ends the wait before the next attempt. */
  wake: () => void;
}

/**
 * Erases shops, people, and whole tenants with all their data. Unfinished erasures are stored with the tenant's record,
 * and the record is erased last. After a crash or a move the tenant's next owner starts again, and each step may be
 * repeated.
 */
export class TenantErasure {
  readonly #options: TenantErasureOptions;
  readonly #runs = new Map<string, ErasureRun>();

  constructor(options: TenantErasureOptions) {
    this.#options = options;
  }

  /**
   * Resolves when nothing is left to erase, or when another node owns the tenant. A failure is logged and retried after
   * ten seconds. Never rejects.
   */
  run(address: Address): Promise<void> {
    const runInProgress = this.#runs.get(address.id);
    if (runInProgress !== undefined) {
      runInProgress.isAskedAgain = true;
      runInProgress.wake();
      return runInProgress.done;
    }
    const run: ErasureRun = { done: this.#rounds(address), isAskedAgain: false, wake: () => undefined };
    this.#runs.set(address.id, run);
    return run.done;
  }

  async #rounds(address: Address): Promise<void> {
    for (;;) {
      const isDone = await this.#round(address);
      const run = this.#runs.get(address.id);
      if (run === undefined) return;
      if (isDone && !run.isAskedAgain) {
        this.#runs.delete(address.id);
        return;
      }
      run.isAskedAgain = false;
      if (!isDone) await this.#pause(run);
    }
  }

  #pause(run: ErasureRun): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(ERASE_AGAIN_MS, resolve);
      run.wake = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  /**
   * Attempts the unfinished erasures once: shops first, then people. The rest of a deleted tenant follows if no shop
   * failed. Returns false if one failed.
   */
  async #round(address: Address): Promise<boolean> {
    // The turn that decided it has ended once this resolves.
    await Promise.resolve();
    const state = this.#here(address);
    if (state === undefined) return true;
    const { tenantId } = state;
    const { eraseShop, erasePerson, log } = this.#options;
    try {
      if (state.record.deleted) await this.#forgetKeys(state);
      else if (state.erasing.size > 0) await this.#eraseProgress(address, state);
      const areShopsErased = await this.#eraseEach('shop', state.erasing, address, (shopId) =>
        eraseShop({ tenantId, shopId, isTenantErased: state.record.deleted }),
      );
      if (state.record.deleted) return areShopsErased && (await this.#eraseTenant(address, state));
      // A shop that failed keeps no person waiting: its own erasure takes what people wrote to it.
      const arePeopleErased = await this.#eraseEach('person', state.erasingPeople, address, (personId) =>
        erasePerson({ tenantId, personId, shopIds: [...state.shops.keys()] }),
      );
      return areShopsErased && arePeopleErased;
    } catch (error) {
      log.error({ tenantId, err: error }, 'the erasure of a tenant stopped; it is tried again');
      return false;
    }
  }

  /** Returns the tenant, if it is active here and not yet erased. */
  #here(address: Address): TenantState | undefined {
    const state = activeTenant(this.#options.actors, address.id);
    return state?.isGone ? undefined : state;
  }

  async #forgetKeys({ apiKeysByHash }: TenantState): Promise<void> {
    for (const hashes of partsOf([...apiKeysByHash.keys()], KEYS_AT_ONCE))
      await this.#options.keyIndex.forget(hashes);
  }

  /**
   * Removes the entries of all shops that are being erased from the webhooks, in steps between which others have turns.
   */
  async #eraseProgress(address: Address, { webhooks }: TenantState): Promise<void> {
    const { actors, clock } = this.#options;
    for (const webhookIds of partsOf([...webhooks.keys()], PROGRESS_AT_A_TIME)) {
      if (this.#here(address) === undefined) return;
      await withReplyTimeout(clock, askTenant(actors, address.id, { type: 'erase_progress', webhookIds }));
    }
  }

  /**
   * Erases one after the other, so that other tenants' commits run in between. One that cannot be erased delays no
   * other of them. Returns true if all of them were erased.
   */
  async #eraseEach(
    subject: 'shop' | 'person',
    ids: ReadonlySet<string>,
    address: Address,
    erase: (id: string) => Promise<void>,
  ): Promise<boolean> {
    const tenantId = address.id;
    let isDone = true;
    for (const id of ids) {
      if (this.#here(address) === undefined) break;
      await erase(id).catch((error: unknown) => {
        isDone = false;
        // No log has the id of a person.
        const fields = subject === 'shop' ? { tenantId, shopId: id } : { tenantId };
        const line = `the erasure of a ${subject} stopped; it is tried again`;
        this.#options.log.error({ ...fields, err: error }, line);
      });
    }
    return isDone;
  }

  /** Returns false if a shop of the tenant is not erased yet. */
  async #eraseTenant(address: Address, { shard, tenantId, keys }: TenantState): Promise<boolean> {
    const { actors, clock, log, forgetDeadLetters, forgetRequests, refreshDirectory } = this.#options;
    if (this.#here(address) === undefined) return true;
    await this.#options.eraseStrays(tenantId);
    await forgetDeadLetters(address);
    await this.#forgetNumbers(shard, keys.numbersLeft);
    await forgetRequests(tenantId);
    await refreshDirectory(tenantId);
    const reply = await withReplyTimeout(clock, askTenant(actors, tenantId, { type: 'tenant_erased' }));
    // `NOT_FOUND`: the tenant is erased already. `CONFLICT`: the shard was away while a shop was to be erased.
    if (!reply.ok && reply.failure.code === 'CONFLICT') {
      log.warn({ tenantId }, 'a shop of a deleted tenant is not erased yet; it is tried again');
      return false;
    }
    await actors.passivate(address);
    return true;
  }

  /** Removes the archives of the numbers of erased shops, in steps: the tenant may have erased many shops. */
  async #forgetNumbers(shard: number, numbersLeft: string): Promise<void> {
    const { store } = this.#options;
    for (;;) {
      const [archiveKeys] = await store.read([['SRANDMEMBER', numbersLeft, KEYS_AT_ONCE]]);
      if (archiveKeys.length === 0) return;
      await store.commit(shard, [
        ...archiveKeys.map((key): Write => ['UNLINK', key]),
        ['SREM', numbersLeft, ...archiveKeys],
      ]);
    }
  }
}
