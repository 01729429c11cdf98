import type { Actors } from '../../../runtime/actors.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { DeadLetters } from '../../../runtime/dead-letters.ts';
import { partsOf } from '../../../runtime/parts.ts';
import type { Store, Write } from '../../../runtime/store.ts';
import type { SessionHost } from '../../sessions/session-host.ts';
import { askTenant } from '../../tenants/ask-tenant.ts';
import { eraseShopEvents } from '../../tenants/stored-events/erase-events.ts';
import { KEYS_AT_ONCE } from '../../tenants/tenant-erasure.ts';
import { tenantAddress } from '../../tenants/tenant-keys.ts';
import { withReplyTimeout } from '../../with-reply-timeout.ts';
import type { SharedNumbers } from '../effects/shared-numbers.ts';
import { numbersLeft, readNumbersTaken } from '../number-past/numbers-left.ts';
import type { PoolClient } from '../pool-link/pool-client.ts';
import type { PoolSessions } from '../pool-link/pool-sessions.ts';
import { endedBatchKeys, readBatchIds } from '../reading/batch-reading.ts';
import { carriedWrites, dropContent, readCarried } from '../records/carried-message.ts';
import type { InboundOwner } from '../records/inbound-records.ts';
import type { MessageState } from '../records/message-record.ts';
import type { NumberVault } from '../records/number-vault.ts';
import { readInSteps } from '../records/scan-hash.ts';
import { sentIndexKeys } from '../records/sent-index.ts';
import { type ShopKeys, shopAddress, shopKeys } from '../records/shop-keys.ts';
import { type StraySources, strayDays } from '../records/stray-messages.ts';
import type { ShopReference } from '../shop-operations.ts';
import { batchKey, endedBatchesKey } from '../state/batches.ts';
import { decodePooled } from '../state/pooled-message.ts';
import { endedKey, endedKeys } from '../state/scheduled-sends.ts';
import { eraseListedInbound, eraseStrayInbound } from './inbound-eraser.ts';
import { ERASED_AT_ONCE, MessageEraser } from './message-eraser.ts';

export interface ShopEraserOptions {
  readonly actors: Actors;
  readonly store: Store;
  readonly deadLetters: Pick<DeadLetters, 'forget'>;
  readonly host: SessionHost;
  readonly clock: Clock;
  readonly poolClient: Pick<PoolClient, 'takeBackErased'>;
  readonly poolSessions: Pick<PoolSessions, 'forget'>;
  readonly sharedNumbers: Pick<SharedNumbers, 'forget' | 'remember'>;
  /** Seals the data of its number that is kept after a shop. */
  readonly vault: NumberVault;
  /** Removes the shop's id from the log of operators' changes. */
  readonly forgetChanges: (shopId: string) => Promise<void>;
  /** Retention of messages in milliseconds. */
  readonly retentionMs: number;
}

interface ErasedShop extends ShopReference {
  /** True if its tenant is erased as well, with the streams that contain the shop's events. */
  readonly isTenantErased: boolean;
}

/**
 * Erases a shop's data: its session, credentials, messages, inbound messages, idempotency keys, windows, opt-outs and
 * dead letters. Unless its tenant is erased as well, the limits and opt-outs of its number stay for up to 30 days
 * (`number-archive.ts`).
 */
export class ShopEraser {
  readonly #options: ShopEraserOptions;
  readonly #running = new Map<string, Promise<void>>();
  readonly #messages: MessageEraser;

  constructor(options: ShopEraserOptions) {
    this.#options = options;
    this.#messages = new MessageEraser(options);
  }

  /**
   * Resolves when all data of the shop is erased. Its tenant no longer names it, so it cannot come back meanwhile.
   * Rejects if the caller must repeat it.
   */
  erase(shop: ErasedShop): Promise<void> {
    const erasure =
      this.#running.get(shop.shopId) ?? this.#erase(shop).finally(() => this.#running.delete(shop.shopId));
    this.#running.set(shop.shopId, erasure);
    return erasure;
  }

  /** Erases messages of an erased tenant that no shop's list named. */
  async eraseStrays(tenantId: string): Promise<void> {
    const { shard } = tenantAddress(tenantId);
    await this.#messages.eraseStrays(shard, (body) => body.tenantId === tenantId);
    await this.#eraseStrayInbound(shard, (owner) => owner.tenantId === tenantId);
  }

  async #erase({ isTenantErased, ...shop }: ErasedShop): Promise<void> {
    const { actors, store, deadLetters, host, poolSessions, clock } = this.#options;
    const address = shopAddress(shop);
    const { shard } = address;
    await actors.passivate(address, { isForced: true });
    await deadLetters.forget(address);
    await host.erase({ shard, ...shop });
    await poolSessions.forget(shop);
    const keys = shopKeys(shard, shop.shopId);
    await this.#leaveNumbers(shard, shop);
    await this.#endCarried(shard, keys);
    await this.#takeBackPooled(keys);
    await this.#messages.eraseListed(shard, keys.accepted);
    await eraseListedInbound(shard, keys.inbound, store);
    if (!isTenantErased) {
      await this.#messages.eraseStrays(shard, ({ shopId }) => shopId === shop.shopId);
      await this.#eraseStrayInbound(shard, ({ shopId }) => shopId === shop.shopId);
    }
    // A key that names others comes after them, for an erasure that stops between two commits and is repeated.
    const remainingKeys = [
      ...(await this.#batchKeys(keys)),
      ...(await this.#endedSchedules(keys)),
      ...sentIndexKeys(keys),
      ...keys.all(),
    ];
    for (const part of partsOf(remainingKeys, KEYS_AT_ONCE)) {
      await store.commit(
        shard,
        part.map((key) => ['UNLINK', key]),
      );
    }
    if (!isTenantErased) {
      await eraseShopEvents(this.#options, shop);
      await this.#options.forgetChanges(shop.shopId);
    }
    // Until then the tenant's data names the shop as one to erase. If that is not stored in time, the tenant starts the
    // erasure again.
    const reply = askTenant(actors, shop.tenantId, { type: 'shop_erased', shopId: shop.shopId });
    await withReplyTimeout(clock, reply);
  }

  /** Returns the keys of all batches, including ended ones, and then those that name the ended ones. */
  async #batchKeys(keys: ShopKeys): Promise<string[]> {
    const reading = { keys, ...this.#strays };
    const strayKeys = await strayDays((day) => endedBatchesKey(keys, day), reading);
    const ids = await readBatchIds(reading, strayKeys);
    return [...ids.map((id) => batchKey(keys, id)), ...endedBatchKeys(reading), ...strayKeys];
  }

  /** Returns the keys of all scheduled sends that have ended. */
  async #endedSchedules(keys: ShopKeys): Promise<string[]> {
    const strayKeys = await strayDays((day) => endedKey(keys, day), this.#strays);
    return [...endedKeys(keys, this.#strays), ...strayKeys];
  }

  /** The sources of what is left of a longer retention, at this moment. */
  get #strays(): StraySources & Pick<ShopEraserOptions, 'store'> {
    const { store, clock, retentionMs } = this.#options;
    return { store, retentionMs, nowMs: clock.wallMs() };
  }

  async #eraseStrayInbound(shard: number, isErased: (owner: InboundOwner) => boolean): Promise<void> {
    await eraseStrayInbound(shard, isErased, this.#strays);
  }

  /** Runs before the shop's keys are deleted, because the numbers' data is read from them. */
  async #leaveNumbers(shard: number, shop: ShopReference): Promise<void> {
    const { store, clock, sharedNumbers } = this.#options;
    const { phones, writes } = await numbersLeft(shop, { ...this.#options, nowMs: clock.wallMs() });
    await sharedNumbers.forget(shop.tenantId, phones);
    if (writes.length > 0) await store.commit(shard, writes);
    const numbersTaken = await readNumbersTaken(shop, phones, this.#options);
    if (numbersTaken.writes.length > 0) await store.commit(shard, numbersTaken.writes);
    // The tenant has them still.
    for (const phone of numbersTaken.phones) sharedNumbers.remember(shop, phone);
  }

  /**
   * Ends the messages that this shop carried. Their origins learn the end at their next request. The texts are removed
   * at once. A repeated erasure ends only the messages that are left, because a message's first end is the true one.
   */
  async #endCarried(shard: number, { carried }: ShopKeys): Promise<void> {
    const { store } = this.#options;
    for (;;) {
      const [ids] = await store.read([['ZRANGE', carried, 0, ERASED_AT_ONCE - 1]]);
      if (ids.length === 0) return;
      await store.commit(shard, [...(await this.#endsOf(shard, ids)), ['ZREM', carried, ...ids]]);
    }
  }

  async #endsOf(shard: number, ids: readonly string[]): Promise<Write[]> {
    const { store, clock } = this.#options;
    const records = await readCarried(shard, ids, store);
    const updatedAtMs = clock.wallMs();
    return ids.flatMap((id, index) => {
      const { body, state } = records[index] ?? {};
      const reason = state?.status === 'sending' ? 'DELIVERY_UNKNOWN' : 'MSGAPP_SESSION_LOST';
      const message = { id, createdAtMs: body?.createdAtMs ?? updatedAtMs };
      const end: MessageState = { status: 'failed', reason, updatedAtMs, sentAtMs: null };
      return [...carriedWrites(shard, message, 'state', JSON.stringify(end)), dropContent(shard, id)];
    });
  }

  /** Takes back the messages of this shop that shops of the pool have and do not send now. */
  async #takeBackPooled({ pooled }: ShopKeys): Promise<void> {
    const { store, poolClient } = this.#options;
    const fields = await readInSteps(store, pooled);
    await Promise.all(
      decodePooled(fields, () => 0).map(async ({ messageId, createdAtMs, pool: carrier }) => {
        if (carrier !== null) await poolClient.takeBackErased({ messageId, pool: carrier, createdAtMs });
      }),
    );
  }
}
