import { numberForms } from '../../../policy/number-forms.ts';
import { isNetworkId, isPhoneNumber } from '../../../policy/recipient.ts';
import type { Actors } from '../../../runtime/actors.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { partsOf } from '../../../runtime/parts.ts';
import { hashFields, type Store } from '../../../runtime/store.ts';
import { askTenant } from '../../tenants/ask-tenant.ts';
import { mergedIdIn, personIdIn } from '../../tenants/person-entry.ts';
import { eraseEventsAbout, messagesWithEvents } from '../../tenants/stored-events/erase-events.ts';
import { tenantAddress, tenantKeys } from '../../tenants/tenant-keys.ts';
import { withReplyTimeout } from '../../with-reply-timeout.ts';
import type { MessageBody } from '../records/message-record.ts';
import type { NumberVault } from '../records/number-vault.ts';
import { personDigests } from '../records/person-ids.ts';
import { scanHash } from '../records/scan-hash.ts';
import { shopKeys } from '../records/shop-keys.ts';
import { eraseInbound, type InboundStep, inboundAmong, strayInbound } from './inbound-eraser.ts';
import type { MessageEraser } from './message-eraser.ts';
import { forgetUnusedIds } from './unused-ids.ts';

export interface PersonEraserOptions {
  readonly actors: Pick<Actors, 'ask' | 'owns'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly vault: Pick<NumberVault, 'digests'>;
  readonly messages: Pick<MessageEraser, 'redactListed' | 'redactStrays'>;
  /** Removes the person's id from the log of operators' changes. */
  readonly forgetChanges: (personId: string) => Promise<void>;
  /** Retention of messages in milliseconds. */
  readonly retentionMs: number;
}

/** A person whose data at a tenant is to be erased. */
export interface ErasedPerson {
  readonly tenantId: string;
  readonly personId: string;
  /** The tenant's shops. */
  readonly shopIds: readonly string[];
}

/** Fields that one step reads. */
const SCAN_COUNT = 500;

/**
 * Erases one person: their messages and the events about these, their id, their number in events, and recipient and
 * content of ended messages to them. The data of the policy stays (docs/contract.md, Erasing a person). It consists of
 * the person's opt-out, the times of messages from and to the person, and the addresses of these messages.
 */
export class PersonEraser {
  readonly #options: PersonEraserOptions;

  constructor(options: PersonEraserOptions) {
    this.#options = options;
  }

  /**
   * Resolves when it is done. Each step may be repeated: the ids, which lead to the other data, go last. Rejects if the
   * caller must repeat it.
   */
  async erase({ tenantId, personId, shopIds }: ErasedPerson): Promise<void> {
    const { actors, store, clock, messages, forgetChanges, retentionMs } = this.#options;
    const { shard } = tenantAddress(tenantId);
    const keysOfShops = shopIds.map((shopId) => shopKeys(shard, shopId));
    const knownFields = await this.#readKnown(tenantId, personId);
    const isTheirs = (address: string): boolean =>
      personDigests(tenantId, address, this.#options.vault).some((digest) => knownFields.digests.has(digest));
    const addresses = new Set<string>();
    for (const keys of keysOfShops)
      for (const address of await this.#addresses(keys, isTheirs)) addresses.add(address);
    const numbers = [...addresses].filter(isPhoneNumber).flatMap(numberForms);
    const isForgotten = (body: MessageBody): boolean =>
      body.tenantId === tenantId && body.to !== null && (addresses.has(body.to) || isTheirs(body.to));
    const isErased = (owner: { readonly tenantId: string; readonly fromId: string }): boolean =>
      owner.tenantId === tenantId && knownFields.ids.has(owner.fromId);
    const straySources = { store, retentionMs, nowMs: clock.wallMs() };
    // Messages are read once. One that comes later stays, since its event would not be looked for.
    const inboundSteps: InboundStep[] = [];
    for (const { inbound: index } of keysOfShops)
      for await (const step of inboundAmong({ shard, index }, isErased, store)) inboundSteps.push(step);
    for await (const step of strayInbound(shard, isErased, straySources)) inboundSteps.push(step);
    // The messages lead to their events, so the events go first.
    const optOuts = numbers.map((phone) => JSON.stringify({ phone }));
    const messageIds = inboundSteps.flatMap(({ ids }) => ids);
    const values = [...optOuts, ...(await messagesWithEvents(store, tenantId, messageIds))];
    await eraseEventsAbout(this.#options, tenantId, { name: `person-${personId}`, values });
    for (const step of inboundSteps) await eraseInbound(shard, step, store);
    for (const keys of keysOfShops) await messages.redactListed(shard, keys.accepted, isForgotten);
    await messages.redactStrays(shard, isForgotten);
    const lids = [...addresses].filter(isNetworkId);
    const nowMs = clock.wallMs();
    for (const keys of keysOfShops) await forgetUnusedIds(lids, { shard, keys, nowMs }, store);
    for (const id of knownFields.ids) await forgetChanges(id);
    await this.#forgetIds(tenantId, knownFields.fields);
    await withReplyTimeout(clock, askTenant(actors, tenantId, { type: 'person_erased', personId }));
  }

  /** Returns all ids of the person, the digests of their addresses, and the fields with them. */
  async #readKnown(
    tenantId: string,
    personId: string,
  ): Promise<{
    readonly ids: ReadonlySet<string>;
    readonly digests: ReadonlySet<string>;
    readonly fields: readonly string[];
  }> {
    const { personIds } = tenantKeys(tenantId);
    const mergedIds = new Map<string, string>();
    for await (const [field, entry] of this.#fields(personIds)) {
      const formerId = mergedIdIn(field);
      if (formerId !== undefined) mergedIds.set(formerId, personIdIn(entry));
    }
    const ids = new Set([personId, mergedIds.get(personId) ?? personId]);
    // Each pass adds the ids that were merged into a known one.
    for (let sizeBefore = 0; sizeBefore < ids.size; ) {
      sizeBefore = ids.size;
      for (const [formerId, presentId] of mergedIds) if (ids.has(presentId)) ids.add(formerId);
    }
    // An id is the digest of the first address.
    const digests = new Set(ids);
    const fields: string[] = [];
    for await (const [field, entry] of this.#fields(personIds)) {
      if (!ids.has(personIdIn(entry))) continue;
      fields.push(field);
      if (mergedIdIn(field) === undefined) digests.add(field);
    }
    return { ids, digests, fields };
  }

  /** Returns the addresses under which the shop knows the person: numbers, and the network's own ids. */
  async #addresses(
    keys: { readonly writers: string; readonly aliases: string },
    isTheirs: (address: string) => boolean,
  ): Promise<string[]> {
    const addresses: string[] = [];
    for await (const [address] of this.#fields(keys.writers)) if (isTheirs(address)) addresses.push(address);
    for await (const [address, number] of this.#fields(keys.aliases))
      if (isTheirs(address) || isTheirs(number)) addresses.push(address, number);
    return addresses;
  }

  async *#fields(key: string): AsyncGenerator<readonly [field: string, value: string]> {
    for await (const pairs of scanHash(this.#options.store, key, SCAN_COUNT)) yield* hashFields(pairs);
  }

  async #forgetIds(tenantId: string, fields: readonly string[]): Promise<void> {
    const { personIds } = tenantKeys(tenantId);
    const { shard } = tenantAddress(tenantId);
    for (const part of partsOf(fields, SCAN_COUNT))
      await this.#options.store.commit(shard, [['HDEL', personIds, ...part]]);
  }
}
