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
export function decodeContact(text: string | null): ContactRecord | undefined {
  return text === null ? undefined : (JSON.parse(text) as ContactRecord);
}

/** Reads the stored records of these numbers, in either form of each, by the number of the record. */
export async function readContacts(
  { contacts }: Pick<TenantKeys, 'contacts'>,
  phones: readonly string[],
  store: Store,
): Promise<Map<string, ContactRecord>> {
  const forms = new Set(phones.flatMap((phone) => numberForms(phone)));
  const [texts] = await store.read([['HMGET', contacts, ...forms]]);
  return byPhone(texts);
}

/** Returns the numbers with an active declaration, from all records of a tenant. */
export function activePhones(texts: readonly string[], nowMs: number): string[] {
  const records = byPhone(texts);
  const isActive = (phone: string): boolean =>
    isDeclarationActive(declarationFact(contactOf(phone, records)), nowMs);
  return [...records.keys()].filter(isActive);
}

function byPhone(texts: readonly (string | null)[]): Map<string, ContactRecord> {
  const records = texts.flatMap((text) => decodeContact(text) ?? []);
  return new Map(records.map((record) => [record.phone, record]));
}

/**
 * Returns the contact of a number: the record of this form, otherwise that of the other form. 0.1.0 kept a record
 * for each declared form; the later of the two counts for both.
 */
export function contactOf(
  phone: string,
  records: ReadonlyMap<string, ContactRecord>,
): ContactRecord | undefined {
  const [ownRecord, otherRecord] = numberForms(phone).map((form) => records.get(form));
  const record = ownRecord ?? otherRecord;
  const latestRecord = laterContact(ownRecord, otherRecord);
  if (record === undefined || latestRecord === undefined) return undefined;
  return { ...record, expiresAtMs: latestRecord.expiresAtMs, revokedAtMs: latestRecord.revokedAtMs };
}

/**
 * Returns the later of two records about one person, in either order. A record's time is its revocation, or else its
 * first declaration. At the same millisecond a revocation wins, then the newer record.
 */
export function laterContact(
  left: ContactRecord | undefined,
  right: ContactRecord | undefined,
): ContactRecord | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const order =
    saidAtMs(right) - saidAtMs(left) ||
    Number(right.revokedAtMs !== null) - Number(left.revokedAtMs !== null) ||
    (right.id > left.id ? 1 : -1);
  return order > 0 ? right : left;
}

function saidAtMs({ createdAtMs, revokedAtMs }: ContactRecord): number {
  return revokedAtMs ?? createdAtMs;
}

/** Returns the facts of a declaration that the policy needs. */
export function declarationFact(contact: ContactRecord | undefined): DeclarationFact | null {
  if (contact === undefined) return null;
  return { expiresAtMs: contact.expiresAtMs, isRevoked: contact.revokedAtMs !== null };
}

/** Returns the view of a number that was never declared: all fields, with no data in them. */
export function undeclaredView(phone: string): RevokedContactView {
  const emptyFields = {
    id: null,
    note: null,
    expiresAt: null,
    source: null,
    createdAt: null,
    revokedAt: null,
  };
  return { ...emptyFields, phone, active: false };
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
