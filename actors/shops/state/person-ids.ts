/*
 * The id under which a tenant knows somebody who writes: the same in all its shops, and for whichever address they write
 * from. It is a digest of the first address they were known by, under a key that is not in Redis (`NumberVault.digests`).
 * A hash of the tenant's leads from the digest of each address to the id, so that somebody whose number the network tells
 * later stays the same person. Where two addresses turn out to be one person's who had an id each, that of the number stays,
 * and the hash says what became of the other one.
 */
import { recipientKey } from '../../../policy/number-forms.ts';
import type { Store, Write } from '../../../runtime/store.ts';
import { tenantKeys } from '../../tenants/tenant-keys.ts';
import type { NumberVault } from './number-vault.ts';

/** The addresses of somebody who wrote; one of the two is there. */
interface Addresses {
  /** E.164 with plus. */
  readonly number: string | undefined;
  /** The network's own id of them, ending in `@lid`. */
  readonly lid: string | undefined;
}

/** Who wrote, by an id of their tenant's. */
export interface KnownPerson {
  readonly id: string;
  /** All ids that they may have been told of under, `id` among them. */
  readonly ids: readonly string[];
  /** What the tenant is to remember of them from now on. */
  readonly writes: readonly Write[];
}

/** Finds who wrote. */
export async function readPerson(
  tenantId: string,
  { number, lid }: Addresses,
  { store, vault }: { readonly store: Pick<Store, 'read'>; readonly vault: Pick<NumberVault, 'digests'> },
): Promise<KnownPerson> {
  const { personIds } = tenantKeys(tenantId);
  const digestsOf = (address: string | undefined): readonly string[] =>
    address === undefined ? [] : vault.digests(`person ${tenantId}`, address);
  const ofNumber = digestsOf(number && String(recipientKey(number)));
  const ofLid = digestsOf(lid);
  const digests = [...ofNumber, ...ofLid];
  const [found] = (await store.read([['HMGET', personIds, ...digests]])) as [(string | null)[]];
  const known = (from: number, to: number): string | undefined =>
    found.slice(from, to).find((id) => id !== null) ?? undefined;
  const byNumber = known(0, ofNumber.length);
  const byLid = known(ofNumber.length, digests.length);
  const id = byNumber ?? byLid ?? digests[0];
  if (id === undefined) throw new Error('somebody wrote from no address');
  const newest = [ofNumber[0], ofLid[0]].filter((digest) => digest !== undefined);
  const unknown = newest.filter((digest) => found[digests.indexOf(digest)] !== id);
  const writes: Write[] = unknown.map((digest) => ['HSET', personIds, digest, id]);
  if (byLid !== undefined && byLid !== id) writes.push(['HSET', personIds, mergedField(byLid), id]);
  return { id, ids: [...new Set([id, ...(byLid === undefined ? [] : [byLid]), ...newest])], writes };
}

/** The field that says which id took the place of another. */
function mergedField(id: string): string {
  return `merged ${id}`;
}
