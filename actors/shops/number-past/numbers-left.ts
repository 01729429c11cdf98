import { NewerState } from '../../../runtime/runtime-failure.ts';
import { hashFields, type Store, type Write } from '../../../runtime/store.ts';
import { tenantAddress, tenantKeys } from '../../tenants/tenant-keys.ts';
import { ownNumber } from '../machines/channel-context.ts';
import type { ShopMachines } from '../machines/shop-machines.ts';
import type { NumberVault } from '../records/number-vault.ts';
import { readInSteps } from '../records/scan-hash.ts';
import type { ShopReference } from '../shop-operations.ts';
import { archiveWrites, dropArchives, readArchive } from './number-archive.ts';
import { readCounts, readOptOuts, readStoredMachines } from './number-past.ts';
import { decodeNumberUse, type NumberUse, numberUseRead } from './number-use.ts';

/** The numbers that an erased shop leaves, and the writes for them. */
interface DepartureWrites {
  /** Digits only. */
  readonly phones: readonly string[];
  readonly writes: readonly Write[];
}

/**
 * Returns the numbers of a shop that is erased, and the writes to make before. The writes state that the shop no longer
 * has the numbers, and archive their data unless the tenant is erased as well. Returns no write that was made already.
 */
export async function numbersLeft(
  shop: ShopReference,
  { store, vault, nowMs }: { readonly store: Store; readonly vault: NumberVault; readonly nowMs: number },
): Promise<DepartureWrites> {
  const { tenantId, shopId } = shop;
  const { shard } = tenantAddress(tenantId);
  const keys = tenantKeys(tenantId);
  const [record] = await store.read([['GET', keys.record]]);
  const uses = hashFields(await readInSteps(store, keys.numbers));
  const ownUses: [phone: string, use: NumberUse][] = [];
  const writes: Write[] = [];
  for (const [phone, text] of uses) {
    const use = decodeNumberUse(text);
    if (use?.shopId !== shopId) continue;
    ownUses.push([phone, use]);
    // Another shop may connect the number before this is written. Then it has the number, and nothing is deleted.
    writes.push(['HDELIF', keys.numbers, phone, text]);
  }
  const isTenantGone = record === null || (JSON.parse(record) as { deleted: boolean }).deleted;
  const machines = isTenantGone ? undefined : await knownMachines(shard, shopId, store);
  if (machines === undefined) return { phones: ownUses.map(([phone]) => phone), writes };
  const ownPhone = ownNumber(machines.channel.context);
  if (ownPhone !== null && !uses.has(ownPhone)) {
    // Either a program that stored no use connected it last, or this erasure stopped half-way after this write.
    const archive = await readArchive({ tenantId, phone: ownPhone }, vault, { store, nowMs });
    if (archive === undefined) ownUses.push([ownPhone, { shopId }]);
  }
  const writers = ownUses.length === 0 ? new Map() : await readOptOuts({ shard, store }, shopId);
  for (const [phone, use] of ownUses) {
    const counts = await readCounts(use, machines, { shard, store, nowMs });
    if (counts !== undefined)
      writes.push(...archiveWrites({ tenantId, phone }, { ...counts, writers }, vault));
  }
  return { phones: ownUses.map(([phone]) => phone), writes };
}

/**
 * Returns the numbers that another shop of the tenant has connected meanwhile. Also returns the writes that drop their
 * archives, because that shop has counted the data.
 */
export async function readNumbersTaken(
  { tenantId }: Pick<ShopReference, 'tenantId'>,
  phones: readonly string[],
  { store, vault }: { readonly store: Pick<Store, 'read'>; readonly vault: NumberVault },
): Promise<DepartureWrites> {
  if (phones.length === 0) return { phones, writes: [] };
  const uses = await store.read(phones.map((phone) => numberUseRead(tenantId, phone)));
  const takenPhones = phones.filter((_, index) => decodeNumberUse(uses[index]) !== undefined);
  return {
    phones: takenPhones,
    writes: takenPhones.flatMap((phone) => dropArchives({ tenantId, phone }, vault)),
  };
}

/** Returns undefined if a newer program stored them: the shop is erased all the same. */
async function knownMachines(shard: number, shopId: string, store: Store): Promise<ShopMachines | undefined> {
  try {
    return await readStoredMachines(shard, shopId, store);
  } catch (error) {
    if (error instanceof NewerState) return undefined;
    throw error;
  }
}
