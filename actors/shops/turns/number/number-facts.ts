/**
 * Reads a tenant's facts about the number that a shop has just connected. They say whether another shop has it
 * (docs/contract.md, A number and its shops). They also say what that shop or an erased one counted for it.
 */

import { encodeEntry, type LedgerEntry } from '../../../../policy/ledger-entry.ts';
import type { NetworkLimits } from '../../../../policy/network-limits.ts';
import { isNetworkId } from '../../../../policy/recipient.ts';
import type { SendLedger } from '../../../../policy/send-ledger.ts';
import { hashFields } from '../../../../runtime/store.ts';
import { tenantKeys } from '../../../tenants/tenant-keys.ts';
import { holdsNumber, ownNumber } from '../../machines/channel-context.ts';
import { countedOnly, readArchive } from '../../number-past/number-archive.ts';
import { isForgotten, type NumberPast, readPast, readStoredMachines } from '../../number-past/number-past.ts';
import { decodeNumberUse, type NumberUse, numberUseRead } from '../../number-past/number-use.ts';
import { decodeWriters, laterWriter, type Writer } from '../../records/writer.ts';
import { allThatCount, newestRead } from '../../state/newest-accepted.ts';
import type { ShopState } from '../../state/shop-state.ts';
import { countedEntries, ledgerOf, mergeKnownNumbers } from '../../state/stored-ledger.ts';
import type { FactSources } from '../builder/fact-sources.ts';

/** The facts about the connected number. */
export interface NumberFacts {
  /** The other shop of the tenant that has it connected. */
  readonly connectedAt?: string;
  /** True if the number is stored as this shop's present one. */
  readonly isOwn?: boolean;
  /** The start of the number's warm-up. Set if this shop had the number, then another number, and now has it again. */
  readonly warmupSinceMs?: number | null;
  /** The limits that the network had reported by then. */
  readonly limits?: NetworkLimits;
  /** The data that it brings from its last shop. */
  readonly inheritance?: Inheritance;
  /** The number that this shop had before, if no other shop took it. */
  readonly former?: string;
}

/** The data that a shop takes over with a number. */
export interface Inheritance extends Pick<NumberPast, 'warmupSinceMs' | 'limits' | 'pausedUntilMs'> {
  /** The sends that this shop must add to its list of accepted sends. */
  readonly entries: readonly LedgerEntry[];
  /** The key of the number's archive. Absent if its last shop was not erased. */
  readonly archivedAt?: string;
  /** The shop's ledger with these sends in addition. */
  readonly ledger: SendLedger;
  /** The writers that this shop must store, merged with its own. */
  readonly writers: ReadonlyMap<string, Writer>;
  /** The aliases that this shop must store, because it does not know the numbers of these addresses itself. */
  readonly aliases: ReadonlyMap<string, string>;
}

type Reading = Pick<FactSources, 'store' | 'vault' | 'nowMs'>;

/** Reads the facts about `phone` (digits only), the number that the shop's session reports. */
export async function readNumber(
  state: ShopState,
  event: { readonly phone: string },
  reading: Reading,
): Promise<NumberFacts> {
  const { phone } = event;
  const { tenantId, shopId } = state.shop;
  const { store } = reading;
  const phoneBefore = ownNumber(state.channel.context);
  const phones = [phone, ...(phoneBefore === null || phoneBefore === phone ? [] : [phoneBefore])];
  const [storedUse, formerUse] = await store.read(phones.map((number) => numberUseRead(tenantId, number)));
  const isStillOurs = phoneBefore !== null && decodeNumberUse(formerUse)?.shopId === shopId;
  const formerNumber = isStillOurs ? { former: phoneBefore } : {};
  const use = decodeNumberUse(storedUse);
  if (use === undefined) return { ...formerNumber, ...(await readErased(state, phone, reading)) };
  if (use.shopId === shopId) return { ...formerNumber, ...ownAgain(use, reading.nowMs) };
  const facts = await readOther(state, { phone, use }, reading);
  // If the shop was erased meanwhile, the data that was read may be incomplete.
  const [useNow] = await store.read([numberUseRead(tenantId, phone)]);
  return useNow === storedUse ? { ...formerNumber, ...facts } : readNumber(state, event, reading);
}

/**
 * The number was last this shop's. If the shop had another number meanwhile, the warm-up is stored with the number's
 * use.
 */
function ownAgain({ left }: NumberUse, nowMs: number): NumberFacts {
  if (left === undefined) return { isOwn: true };
  if (isForgotten(left.atMs, nowMs)) return {};
  const { warmupSinceMs, limits } = left;
  return limits === undefined ? { warmupSinceMs } : { warmupSinceMs, limits };
}

async function readErased(state: ShopState, phone: string, reading: Reading): Promise<NumberFacts> {
  const { tenantId } = state.shop;
  const archive = await readArchive({ tenantId, phone }, reading.vault, reading);
  if (archive === undefined) return {};
  const inheritance = await inheritanceOf(state, archive.past, { ...reading, keptOf: countedOnly });
  return { inheritance: { ...inheritance, archivedAt: archive.key } };
}

async function readOther(
  state: ShopState,
  { phone, use }: { readonly phone: string; readonly use: NumberUse },
  { store, nowMs }: Reading,
): Promise<NumberFacts> {
  const { shard, shop } = state;
  const [shopText] = await store.read([['HGET', tenantKeys(shop.tenantId).shops, use.shopId]]);
  const machines = await readStoredMachines(shard, use.shopId, store);
  // A shop with a decided erasure no longer belongs to the tenant.
  if (shopText !== null && holdsNumber(machines.channel, phone)) return { connectedAt: use.shopId };
  const past = await readPast(use, machines, { shard, store, nowMs });
  return past === undefined ? {} : { inheritance: await inheritanceOf(state, past, { store, nowMs }) };
}

/**
 * Returns a number's history without the entries that the shop has already. `keptOf` returns the part of an entry that
 * the history has. By default, all of it.
 */
async function inheritanceOf(
  { keys }: ShopState,
  past: NumberPast,
  {
    store,
    nowMs,
    keptOf = (entry) => entry,
  }: Pick<Reading, 'store' | 'nowMs'> & { readonly keptOf?: (entry: LedgerEntry) => LedgerEntry },
): Promise<Inheritance> {
  const [newestPart, writers, aliases] = await store.read([
    newestRead(keys.accepted),
    ['HGETALL', keys.writers],
    ['HGETALL', keys.aliases],
  ]);
  const elements = await allThatCount(keys.accepted, newestPart, { store, nowMs });
  const ownEntries = countedEntries(elements, nowMs);
  const entries = withoutThose(past.entries, ownEntries.map(keptOf));
  // An id of the network that is its own alias only says that no number is known.
  const ownAliases = new Map([...hashFields(aliases)].filter(([address, number]) => number !== address));
  const knownAs = new Map([...past.aliases, ...ownAliases]);
  const ledger = ledgerOf([...ownEntries, ...entries]);
  mergeKnownNumbers(ledger, (field) => knownAs.get(field));
  const { warmupSinceMs, limits, pausedUntilMs } = past;
  return {
    warmupSinceMs,
    limits,
    pausedUntilMs,
    entries,
    ledger,
    writers: mergeWriters(decodeWriters(writers), past.writers, knownAs),
    aliases: new Map([...past.aliases].filter(([address]) => !ownAliases.has(address))),
  };
}

/**
 * Returns the writers to store with a number's history, also those that it does not change. A person who wrote under
 * the network's own id counts under their number, if one of the two shops knows it.
 */
function mergeWriters(
  ownWriters: ReadonlyMap<string, Writer>,
  pastWriters: ReadonlyMap<string, Writer>,
  knownAs: ReadonlyMap<string, string>,
): Map<string, Writer> {
  const numberOf = (address: string): string =>
    isNetworkId(address) ? (knownAs.get(address) ?? address) : address;
  const mergedWriters = new Map<string, Writer>();
  const hiddenWriters = [...ownWriters].filter(([address]) => numberOf(address) !== address);
  for (const [address, writer] of [...pastWriters, ...hiddenWriters]) {
    const knownNumber = numberOf(address);
    mergedWriters.set(
      knownNumber,
      laterWriter(mergedWriters.get(knownNumber) ?? ownWriters.get(knownNumber), writer) ?? writer,
    );
  }
  return mergedWriters;
}

/**
 * Each of `ownEntries` removes one equal entry from `entries`. A number that returns brings the entries that it left
 * with.
 */
function withoutThose(entries: readonly LedgerEntry[], ownEntries: readonly LedgerEntry[]): LedgerEntry[] {
  const countOfText = new Map<string, number>();
  for (const entry of ownEntries) {
    const text = encodeEntry(entry);
    countOfText.set(text, (countOfText.get(text) ?? 0) + 1);
  }
  return entries.filter((entry) => {
    const text = encodeEntry(entry);
    const countLeft = countOfText.get(text) ?? 0;
    if (countLeft > 0) countOfText.set(text, countLeft - 1);
    return countLeft === 0;
  });
}
