import { numberForms } from '../../policy/number-forms.ts';
import type { DeclarationFact } from '../../policy/recipient-class.ts';
import { isDeclarationActive } from '../../policy/recipient-class.ts';
import type { Store } from '../../runtime/store.ts';
import { isoOrNull } from '../iso-time.ts';
import type { TenantKeys } from './tenant-keys.ts';
import type { ContactView, RevokedContactView } from './tenant-operations.ts';

/** A declared contact as it is stored. Times in milliseconds since the Unix epoch. */
export interface ContactRecord {
  readonly id: string;
  readonly phone: string;
  readonly note: string | null;
  readonly expiresAtMs: number | null;
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
}

/** Reads a contact back; undefined when the number was never declared. */
export function decodeContact(stored: string | null): ContactRecord | undefined {
  return stored === null ? undefined : (JSON.parse(stored) as ContactRecord);
}

/** Reads the stored records of these numbers, in either form of each, by the number of the record. */
export async function readContacts(
  { contacts }: Pick<TenantKeys, 'contacts'>,
  phones: readonly string[],
  store: Store,
): Promise<Map<string, ContactRecord>> {
  const forms = new Set(phones.flatMap((phone) => numberForms(phone)));
  const [stored] = (await store.read([['HMGET', contacts, ...forms]])) as [(string | null)[]];
  return byPhone(stored);
}

/** Returns the numbers with an active declaration, from all records of a tenant. */
export function activePhones(stored: readonly string[], nowMs: number): string[] {
  const records = byPhone(stored);
  const isActive = (phone: string): boolean =>
    isDeclarationActive(declarationFact(contactOf(phone, records)), nowMs);
  return [...records.keys()].filter(isActive);
}

function byPhone(stored: readonly (string | null)[]): Map<string, ContactRecord> {
  const records = stored.flatMap((text) => decodeContact(text) ?? []);
  return new Map(records.map((record) => [record.phone, record]));
}

/**
 * Returns the contact of a number: the record of this form, otherwise that of the other form. 0.1.0 kept a record
 * for each declared form; the later of the two counts for both.
 */
export function contactOf(
  phone: string,
  stored: ReadonlyMap<string, ContactRecord>,
): ContactRecord | undefined {
  const [own, other] = numberForms(phone).map((form) => stored.get(form));
  const record = own ?? other;
  const last = laterContact(own, other);
  if (record === undefined || last === undefined) return undefined;
  return { ...record, expiresAtMs: last.expiresAtMs, revokedAtMs: last.revokedAtMs };
}

/**
 * Returns the later of two records about one person, in either order. A record's time is its revocation, or else its
 * first declaration. At the same millisecond a revocation wins, then the newer record.
 */
export function laterContact(
  one: ContactRecord | undefined,
  other: ContactRecord | undefined,
): ContactRecord | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const order =
    saidAtMs(other) - saidAtMs(one) ||
    Number(other.revokedAtMs !== null) - Number(one.revokedAtMs !== null) ||
    (other.id > one.id ? 1 : -1);
  return order > 0 ? other : one;
}

function saidAtMs({ createdAtMs, revokedAtMs }: ContactRecord): number {
  return revokedAtMs ?? createdAtMs;
}

/** Returns the facts of a declaration that the policy needs. */
export function declarationFact(contact: ContactRecord | undefined): DeclarationFact | null {
  if (contact === undefined) return null;
  return { expiresAtMs: contact.expiresAtMs, revoked: contact.revokedAtMs !== null };
}

/** Returns the view of a number that was never declared: all fields, with no data in them. */
export function undeclaredView(phone: string): RevokedContactView {
  const nothing = { id: null, note: null, expiresAt: null, source: null, createdAt: null, revokedAt: null };
  return { ...nothing, phone, active: false };
}

/** Returns the contact as the API shows it at `nowMs`: an expired declaration is shown as such without a write. */
export function contactView(contact: ContactRecord, nowMs: number): ContactView {
  return {
    id: contact.id,
    phone: contact.phone,
    note: contact.note,
    expiresAt: isoOrNull(contact.expiresAtMs),
    source: 'api',
    createdAt: new Date(contact.createdAtMs).toISOString(),
    revokedAt: isoOrNull(contact.revokedAtMs),
    active: isDeclarationActive(declarationFact(contact), nowMs),
  };
}
