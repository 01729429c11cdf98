import type { Store } from '../../runtime/store.ts';
import { contactView, decodeContact } from './contact-record.ts';
import type { TenantKeys } from './tenant-keys.ts';
import type { ContactView, CursorPage } from './tenant-operations.ts';

const BATCH = 200;

/**
 * A page of declared contacts, oldest first. The order key holds `id:phone`, so a cursor names a place that stays
 * where it is while contacts are added. Filtering reads on until the page is full or the list ends.
 */
export async function listContacts(
  source: { readonly keys: TenantKeys; readonly store: Store; readonly nowMs: number },
  query: { readonly activeOnly: boolean; readonly limit: number; readonly cursor: string | undefined },
): Promise<CursorPage<ContactView>> {
  const { keys, store, nowMs } = source;
  const items: ContactView[] = [];
  // ';' follows ':' in byte order, so this begins right after every member of the cursor's id.
  let from = query.cursor === undefined ? '-' : `(${query.cursor.toLowerCase()};`;
  for (;;) {
    const [members] = (await store.read([
      ['ZRANGEBYLEX', keys.contactOrder, from, '+', 'LIMIT', 0, BATCH],
    ])) as [string[]];
    if (members.length === 0) return { items, nextCursor: null };
    const phones = members.map((member) => member.slice(member.indexOf(':') + 1));
    const [stored] = (await store.read([['HMGET', keys.contacts, ...phones]])) as [(string | null)[]];
    for (const text of stored) {
      const contact = decodeContact(text);
      if (contact === undefined) continue;
      const view = contactView(contact, nowMs);
      if (query.activeOnly && !view.active) continue;
      if (items.length === query.limit) return { items, nextCursor: items.at(-1)?.id ?? null };
      items.push(view);
    }
    from = `(${members.at(-1)}`;
    if (members.length < BATCH) return { items, nextCursor: null };
  }
}
