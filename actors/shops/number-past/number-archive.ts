/**
 * When a shop is erased, some data of its number is kept until 30 days after its last use. So an erasure lifts no cap
 * and no opt-out (docs/contract.md, A number and its shops). The data is the start of the warm-up, the use of the last
 * day's caps, and the addresses that opted out. The network's limits and the end of a pause are kept, too. Texts,
 * recipients and other writers are not kept.
 *
 * The data is sealed, under a name that does not reveal the number, and expires by itself. Digests of the opted-out
 * numbers would not protect them better: numbers are few, so the key's owner can try them all. Each send would also
 * need a lookup.
 */
import { fullLedger } from '../../../policy/full-ledger.ts';
import { decodeEntry, encodeEntry, type LedgerEntry } from '../../../policy/ledger-entry.ts';
import { NO_LIMITS } from '../../../policy/network-limits.ts';
import { shardKey } from '../../../runtime/address.ts';
import type { Store, Write } from '../../../runtime/store.ts';
import { tenantAddress, tenantKeys } from '../../tenants/tenant-keys.ts';
import type { NumberVault } from '../records/number-vault.ts';
import type { Writer } from '../records/writer.ts';
import { isForgotten, type NumberPast } from './number-past.ts';
import { NUMBER_MEMORY_MS } from './number-use.ts';

/** The owner of a number: its tenant, and the number's digits. */
interface TenantNumber {
  readonly tenantId: string;
  readonly phone: string;
}

interface ArchivedText extends Pick<NumberPast, 'usedAtMs' | 'warmupSinceMs' | 'limits' | 'pausedUntilMs'> {
  readonly entries: readonly string[];
  /** The people who opted out, each with the network's timestamp. */
  readonly optOuts: readonly (readonly [address: string, stampMs: number])[];
}

/** The archived past of an erased shop's number, and its key. */
export interface ArchivedPast {
  readonly key: string;
  readonly past: NumberPast;
}

/** Stores the data that outlives the shop. */
export function archiveWrites(
  number: TenantNumber,
  past: Omit<NumberPast, 'aliases'>,
  vault: NumberVault,
): Write[] {
  const [key = ''] = archiveKeys(number, vault);
  const archived: ArchivedText = {
    usedAtMs: past.usedAtMs,
    warmupSinceMs: past.warmupSinceMs,
    limits: past.limits,
    pausedUntilMs: past.pausedUntilMs,
    entries: past.entries.map((entry) => encodeEntry(countedOnly(entry))),
    optOuts: [...past.writers].flatMap(([address, { optedOut, stampMs }]) =>
      optedOut ? [[address, stampMs] as const] : [],
    ),
  };
  const sealedText = vault.seal(key, JSON.stringify(archived));
  return [
    ['SET', key, sealedText, 'PXAT', past.usedAtMs + NUMBER_MEMORY_MS],
    ['SADD', tenantKeys(number.tenantId).numbersLeft, key],
  ];
}

/**
 * Returns the archived past of a number, or undefined if there is none or it is too old. Unreadable data counts as a
 * full ledger.
 */
export async function readArchive(
  number: TenantNumber,
  vault: NumberVault,
  { store, nowMs }: { readonly store: Store; readonly nowMs: number },
): Promise<ArchivedPast | undefined> {
  const keys = archiveKeys(number, vault);
  const sealedTexts = await store.read(keys.map((key) => ['GET', key]));
  const index = sealedTexts.findIndex((text) => text !== null);
  const key = keys[index];
  const sealedText = sealedTexts[index];
  if (key === undefined || sealedText == null) return undefined;
  const past = open(key, sealedText, { vault, nowMs });
  return isForgotten(past.usedAtMs, nowMs) ? undefined : { key, past };
}

/** Returns the writes that drop a number's archive, because a shop now has its data. */
export function dropArchiveKey(tenantId: string, key: string): Write[] {
  return [
    ['DEL', key],
    ['SREM', tenantKeys(tenantId).numbersLeft, key],
  ];
}

/** Drops the archive of a number: a shop has it now, and has counted its past. */
export function dropArchives(number: TenantNumber, vault: NumberVault): Write[] {
  return archiveKeys(number, vault).flatMap((key) => dropArchiveKey(number.tenantId, key));
}

function archiveKeys({ tenantId, phone }: TenantNumber, vault: NumberVault): string[] {
  const { shard } = tenantAddress(tenantId);
  return vault
    .digests(tenantId, phone)
    .map((digest) => shardKey(shard, 'tenant', tenantId, 'number-left', digest));
}

/**
 * Returns only the fields that caps count: class and time, and for a group its shares. Leaves out the recipient and the
 * content.
 */
export function countedOnly({ kind, atMs, subject }: LedgerEntry): LedgerEntry {
  return { kind, atMs, subject: kind === 'group' ? subject : 0, fingerprint: { high: 0, low: 0 } };
}

function open(
  key: string,
  sealedText: string,
  { vault, nowMs }: { readonly vault: NumberVault; readonly nowMs: number },
): NumberPast {
  const aliases = new Map<string, string>();
  try {
    const { entries, optOuts, ...times } = JSON.parse(vault.open(key, sealedText)) as ArchivedText;
    const writers = optOuts.map(([address, stampMs]): [string, Writer] => [
      address,
      { lastInboundAtMs: stampMs, stampMs, optedOut: true, wireIds: [] },
    ]);
    return { ...times, aliases, entries: entries.map(decodeEntry), writers: new Map(writers) };
  } catch {
    const fullPast = { usedAtMs: nowMs, warmupSinceMs: null, limits: NO_LIMITS, pausedUntilMs: null };
    return { ...fullPast, aliases, entries: fullLedger(nowMs), writers: new Map() };
  }
}
