import type { Store } from '../../runtime/store.ts';
import type { CursorPage, PageQuery } from '../reply-schemas/reply-fields.ts';

/** Members that one command reads. Reading a whole set at once would delay all other callers of that Redis. */
const READ_AT_A_TIME = 5_000;

/** One of the numbers in a tenant's customer records. */
export interface CustomerView {
  readonly phone: string;
}

/**
 * Returns a page of the stored customers in the order of their numbers, after `cursor`; `q` matches a part of a number.
 * The set has no order in Redis, so each page reads all of it, and keeps no more than a page in memory.
 */
export async function listCustomers(
  { store, key }: { readonly store: Pick<Store, 'read'>; readonly key: string },
  query: PageQuery & { readonly q: string | undefined },
): Promise<CursorPage<CustomerView>> {
  const { limit, cursor: after = '', q: part = '' } = query;
  let first: string[] = [];
  let scanCursor = '0';
  do {
    const [[next, members]] = await store.read([['SSCAN', key, scanCursor, 'COUNT', READ_AT_A_TIME]]);
    const wantedPhones = members.filter((phone) => phone > after && phone.includes(part));
    // Redis may give a member twice.
    first = [...new Set([...first, ...wantedPhones])].sort().slice(0, limit + 1);
    scanCursor = next;
  } while (scanCursor !== '0');
  const items = first.slice(0, limit).map((phone) => ({ phone }));
  return { items, nextCursor: first.length > limit ? (items.at(-1)?.phone ?? null) : null };
}
