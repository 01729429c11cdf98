import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { hashFields, type Store } from '../../../runtime/store.ts';
import type { ActorEventFeed } from '../../actor-event-feed.ts';
import { isForgotten } from '../number-past/number-past.ts';
import { NUMBER_MEMORY_MS } from '../number-past/number-use.ts';
import type { NumberVault } from '../records/number-vault.ts';
import type { ShopReference } from '../shop-operations.ts';

export interface SharedNumbersOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly vault: NumberVault;
  readonly feed: Pick<ActorEventFeed, 'publish'>;
  readonly log: Logger;
  /** Counts the notices to operators. */
  readonly counts: { numbersShared: number };
}

/**
 * Notifies operators if a number connects that another tenant had within 30 days. Each tenant has separate caps, but
 * the network judges the number as a whole. Nothing is refused, since a number may change its owner. Numbers are stored
 * as digests, without a fence. A connection may be missed while Redis is unreachable.
 */
export class SharedNumbers {
  readonly #options: SharedNumbersOptions;

  constructor(options: SharedNumbersOptions) {
    this.#options = options;
  }

  /** Call this once the commit that connects the shop with this number (digits only) succeeded. */
  onConnected(shop: ShopReference & { readonly name: string }, phone: string): void {
    this.#notifyIfShared(shop, phone).catch((error: unknown) => this.#logFailure(shop, error));
  }

  /**
   * A session reconnected by itself with its number. The number is remembered for 30 days more, without a notice to
   * operators.
   */
  remember(shop: ShopReference, phone: string): void {
    const [number = ''] = this.#digests(phone);
    this.#remember(shop, number).catch((error: unknown) => this.#logFailure(shop, error));
  }

  /** The tenant's shop that had these numbers is erased. */
  async forget(tenantId: string, phones: readonly string[]): Promise<void> {
    const keys = phones.flatMap((phone) => this.#digests(phone)).map(keyOf);
    if (keys.length > 0) await this.#options.store.append(keys.map((key) => ['HDEL', key, tenantId]));
  }

  #logFailure({ tenantId, shopId }: ShopReference, error: unknown): void {
    const line = 'could not note the number of a shop, or check whether another tenant has it';
    this.#options.log.warn({ tenantId, shopId, err: error }, line);
  }

  /** Notes that the tenant has the number now. Returns the time that it noted. */
  async #remember({ tenantId }: ShopReference, number: string): Promise<number> {
    const { store, clock } = this.#options;
    const nowMs = clock.wallMs();
    const key = keyOf(number);
    await store.append([
      ['HSET', key, tenantId, nowMs],
      ['PEXPIREAT', key, nowMs + NUMBER_MEMORY_MS],
    ]);
    return nowMs;
  }

  async #notifyIfShared(shop: ShopReference & { readonly name: string }, phone: string): Promise<void> {
    const { store, feed, log, counts } = this.#options;
    const { tenantId, shopId, name } = shop;
    const digests = this.#digests(phone);
    const [number = ''] = digests;
    const nowMs = await this.#remember(shop, number);
    const replies = await store.read(digests.map((digest) => ['HGETALL', keyOf(digest)]));
    const uses = replies.flatMap((fields) => [...hashFields(fields)]);
    const otherUses = uses.filter(([id, atMs]) => id !== tenantId && !isForgotten(Number(atMs), nowMs));
    if (otherUses.length === 0) return;
    const otherTenants = [...new Set(otherUses.map(([id]) => id))];
    counts.numbersShared += 1;
    log.warn({ tenantId, shopId, number, otherTenants }, 'a number is used by several tenants');
    feed.publish('number', { tenantId, shopId, shop: name, state: 'shared', number, otherTenants });
  }

  #digests(phone: string): readonly string[] {
    return this.#options.vault.digests('shared', phone);
  }
}

/** Hash by tenant: when it last connected the number. */
function keyOf(digest: string): string {
  return `number-tenants:${digest}`;
}
