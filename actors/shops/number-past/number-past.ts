import type { LedgerEntry } from '../../../policy/ledger-entry.ts';
import { type NetworkLimits, NO_LIMITS } from '../../../policy/network-limits.ts';
import { recipientKey } from '../../../policy/number-forms.ts';
import { isPhoneNumber } from '../../../policy/recipient.ts';
import { hashFields, type Store } from '../../../runtime/store.ts';
import { warmupPairedAtMs } from '../machines/channel-context.ts';
import { restoreMachines, type ShopMachines } from '../machines/shop-machines.ts';
import { readInSteps } from '../records/scan-hash.ts';
import { shopKeys } from '../records/shop-keys.ts';
import { decodeWriters, laterWriter, type Writer } from '../records/writer.ts';
import { allThatCount, newestRead } from '../state/newest-accepted.ts';
import { countedEntries } from '../state/stored-ledger.ts';
import { decodeLimits } from '../state/stored-limits.ts';
import { NUMBER_MEMORY_MS, type NumberUse } from './number-use.ts';

/** The counts and limits of a number's last shop that also apply to the next one. Times since the Unix epoch. */
export interface NumberCounts {
  readonly usedAtMs: number;
  /** The start of its warm-up; null if unknown. */
  readonly warmupSinceMs: number | null;
  /** The sends through it that still count. */
  readonly entries: readonly LedgerEntry[];
  /** The limits that the network reported. */
  readonly limits: NetworkLimits;
  /** The end of its queue's pause after a rate signal, or null if there is no pause. */
  readonly pausedUntilMs: number | null;
}

/** All data of a number's last shop that also applies to the next one. */
export interface NumberPast extends NumberCounts {
  /** The people who wrote to it, and if they opted out, by address. */
  readonly writers: ReadonlyMap<string, Writer>;
  /**
   * The numbers that the network knows people by. The key is the address under which a caller wrote to them, or they
   * wrote. A network id without a known number is its own alias.
   */
  readonly aliases: ReadonlyMap<string, string>;
}

/** The store of a tenant's shard, and the moment of the reading. */
interface Reading {
  readonly shard: number;
  readonly store: Store;
  readonly nowMs: number;
}

/** Returns the stored state of both machines of a shop; the initial states if nothing is stored. */
export async function readStoredMachines(shard: number, shopId: string, store: Store): Promise<ShopMachines> {
  const [actor] = await store.read([['HGET', shopKeys(shard, shopId).shop, 'actor']]);
  return restoreMachines(actor);
}

/** True if a number that was last used at `usedAtMs` is no longer remembered. */
export function isForgotten(usedAtMs: number, nowMs: number): boolean {
  return nowMs - usedAtMs > NUMBER_MEMORY_MS;
}

/**
 * Returns the past of a number at a shop of the tenant, or undefined if it is too old. `machines` is the state of that
 * shop.
 */
export async function readPast(
  use: NumberUse,
  machines: ShopMachines,
  reading: Reading,
): Promise<NumberPast | undefined> {
  const counts = await readCounts(use, machines, reading);
  if (counts === undefined) return undefined;
  const keys = shopKeys(reading.shard, use.shopId);
  // Each hash is read by one command. At an active shop a writer may move to another address between two.
  const [writers, aliases] = await reading.store.read([
    ['HGETALL', keys.writers],
    ['HGETALL', keys.aliases],
  ]);
  // The shop's later writers belong to another number; opt-outs apply to both.
  const lastMs = lastOf(use);
  const writersOfNumber = [...eachPerson(decodeWriters(writers))].filter(
    ([, { lastInboundAtMs, optedOut }]) => optedOut || lastInboundAtMs <= lastMs,
  );
  return { ...counts, writers: new Map(writersOfNumber), aliases: hashFields(aliases) };
}

/** Returns the counts and limits alone; undefined as above. */
export async function readCounts(
  use: NumberUse,
  { channel, pacing }: ShopMachines,
  { shard, store, nowMs }: Reading,
): Promise<NumberCounts | undefined> {
  const usedAtMs = use.left?.atMs ?? channel.context.downSinceMs ?? nowMs;
  if (isForgotten(usedAtMs, nowMs)) return undefined;
  const keys = shopKeys(shard, use.shopId);
  const [newestPart, limits] = await store.read([newestRead(keys.accepted), ['HGET', keys.shop, 'limits']]);
  const elements = await allThatCount(keys.accepted, newestPart, { store, nowMs });
  return {
    usedAtMs,
    warmupSinceMs: use.left === undefined ? warmupPairedAtMs(channel.context) : use.left.warmupSinceMs,
    entries: countedEntries(elements, nowMs).filter(({ atMs }) => atMs <= lastOf(use)),
    limits: use.left === undefined ? decodeLimits(limits) : (use.left.limits ?? NO_LIMITS),
    pausedUntilMs: pacing.value === 'paused' ? pacing.context.untilMs : null,
  };
}

/** The shop's sends and writers after this time belong to another number. */
function lastOf({ left }: NumberUse): number {
  return left?.atMs ?? Number.POSITIVE_INFINITY;
}

/** Returns the people who opted out of a shop that is being erased, in steps: no actor changes its writers any more. */
export async function readOptOuts(
  { shard, store }: Omit<Reading, 'nowMs'>,
  shopId: string,
): Promise<NumberPast['writers']> {
  const writers = decodeWriters(await readInSteps(store, shopKeys(shard, shopId).writers));
  return new Map([...eachPerson(writers)].filter(([, { optedOut }]) => optedOut));
}

/** Returns each writer once: if both forms of a number are stored, the later one counts. */
function eachPerson(writers: ReadonlyMap<string, Writer>): Iterable<readonly [string, Writer]> {
  const people = new Map<string | number, readonly [string, Writer]>();
  for (const [address, writer] of writers) {
    const person = isPhoneNumber(address) ? recipientKey(address) : address;
    const [knownAddress, earlierWriter] = people.get(person) ?? [address, undefined];
    people.set(person, [knownAddress, laterWriter(earlierWriter, writer) ?? writer]);
  }
  return people.values();
}
