/**
 * The id by which a tenant knows a person who writes: the same in all its shops, from any of their addresses. It is a
 * digest of their first known address, under a key that is not in Redis (`NumberVault.digests`). A hash of the tenant
 * maps the digest of each address to the id. So a person keeps the id when the network sends their number later. If two
 * ids turn out to be one person's, the number's id stays, and the hash maps the other to it. Each entry has the day on
 * which it last counted, and goes once messages of that day are gone (`../effects/person-memory.ts`).
 */
import { recipientKey } from '../../../policy/number-forms.ts';
import { isPhoneNumber } from '../../../policy/recipient.ts';
import type { Store, Write } from '../../../runtime/store.ts';
import { mergedField, personEntry, personIdIn } from '../../tenants/person-entry.ts';
import { tenantKeys } from '../../tenants/tenant-keys.ts';
import { dayOf } from './message-days.ts';
import type { NumberVault } from './number-vault.ts';

/** The addresses of a person who wrote. At least one of the two is present. */
interface Addresses {
  /** E.164 with plus. */
  readonly number: string | undefined;
  /** The person's network id, ending in `@lid`. */
  readonly lid: string | undefined;
}

/** The person who wrote, by their tenant's id. */
export interface KnownPerson {
  readonly id: string;
  /** All ids that events may have used for them, including `id`. */
  readonly ids: readonly string[];
  /** The writes that make the tenant remember them. */
  readonly writes: readonly Write[];
}

/** Returns the digests of an address, a number in any form or the network's own id; the newest key's first. */
export function personDigests(
  tenantId: string,
  address: string,
  vault: Pick<NumberVault, 'digests'>,
): readonly string[] {
  const canonicalAddress = isPhoneNumber(address) ? String(recipientKey(address)) : address;
  return vault.digests(`person ${tenantId}`, canonicalAddress);
}

/** Finds who wrote. */
export async function readPerson(
  tenantId: string,
  { number, lid }: Addresses,
  sources: {
    readonly store: Pick<Store, 'read'>;
    readonly vault: Pick<NumberVault, 'digests'>;
    readonly nowMs: number;
  },
): Promise<KnownPerson> {
  const { store, vault, nowMs } = sources;
  const { personIds } = tenantKeys(tenantId);
  const digestsOf = (address: string | undefined): readonly string[] =>
    address === undefined ? [] : personDigests(tenantId, address, vault);
  const ofNumber = digestsOf(number);
  const ofLid = digestsOf(lid);
  const digests = [...ofNumber, ...ofLid];
  const [entries] = await store.read([['HMGET', personIds, ...digests]]);
  const findId = (start: number, end: number): string | undefined => {
    const storedId = entries.slice(start, end).find((entry) => entry !== null);
    return storedId == null ? undefined : personIdIn(storedId);
  };
  const byNumber = findId(0, ofNumber.length);
  const byLid = findId(ofNumber.length, digests.length);
  const id = byNumber ?? byLid ?? digests[0];
  if (id === undefined) throw new Error('somebody wrote from no address');
  const newestDigests = [ofNumber[0], ofLid[0]].filter((digest) => digest !== undefined);
  const entry = personEntry(id, dayOf(nowMs));
  const isOutdated = newestDigests.some((digest) => entries[digests.indexOf(digest)] !== entry);
  // The id has its own entry, by which an erasure finds the person.
  const fields = isOutdated ? new Set([...newestDigests, id]) : [];
  const writes: Write[] = [...fields].map((field) => ['HSET', personIds, field, entry]);
  if (byLid !== undefined && byLid !== id) writes.push(['HSET', personIds, mergedField(byLid), entry]);
  return { id, ids: [...new Set([id, ...(byLid === undefined ? [] : [byLid]), ...newestDigests])], writes };
}
