import type { Store } from '../../../runtime/store.ts';
import type { CursorPage, PageQuery } from '../../reply-schemas/reply-fields.ts';
import { contactOf, contactView, readContacts } from '../contact-record.ts';
import type { TenantKeys } from '../tenant-keys.ts';
import type { ContactView } from '../tenant-operations.ts';

/** Contacts that are read at a time. */
const READ_AT_A_TIME = 200;

/** Most records that one page reads. Revoked ones stay, so a year of them may precede the next active one. */
const MOST_SCANNED = 2_000;

interface ContactSource {
  readonly keys: TenantKeys;
  readonly store: Store;
  readonly nowMs: number;
}

/**
 * Returns a page of declared contacts, oldest first. The order key contains `id:phone`, so a cursor stays valid while
 * contacts are added. A filter reads on until the page is full, the list ends or 2,000 records were read. In the last
 * case the page is short or empty, and its cursor continues after them.
 */
export async function listContacts(
  source: ContactSource,
  query: PageQuery & { readonly activeOnly: boolean },
): Promise<CursorPage<ContactView>> {
  const items: ContactView[] = [];
  // ';' follows ':' in byte order, so this begins right after every member of the cursor's id.
  let fromKey = query.cursor === undefined ? '-' : `(${query.cursor};`;
  for (let scanCount = READ_AT_A_TIME; ; scanCount += READ_AT_A_TIME) {
    const { members, views } = await readPart(source, fromKey);
    for (const view of views) {
      if (query.activeOnly && !view.active) continue;
      if (items.length === query.limit) return { items, nextCursor: items.at(-1)?.id ?? null };
      items.push(view);
    }
    const lastMember = members.at(-1);
    if (lastMember === undefined || members.length < READ_AT_A_TIME) return { items, nextCursor: null };
    if (scanCount >= MOST_SCANNED) return { items, nextCursor: lastMember.slice(0, lastMember.indexOf(':')) };
    fromKey = `(${lastMember}`;
  }
}

/** Returns the next members of the order, and the views of those that have a record. */
async function readPart({ keys, store, nowMs }: ContactSource, fromKey: string) {
  const [members] = await store.read([
    ['ZRANGEBYLEX', keys.contactOrder, fromKey, '+', 'LIMIT', 0, READ_AT_A_TIME],
  ]);
  if (members.length === 0) return { members, views: [] };
  const phones = members.map((member) => member.slice(member.indexOf(':') + 1));
  const records = await readContacts(keys, phones, store);
  const views = phones.flatMap((phone) => {
    const contact = contactOf(phone, records);
    return contact === undefined ? [] : [contactView(contact, nowMs)];
  });
  return { members, views };
}
