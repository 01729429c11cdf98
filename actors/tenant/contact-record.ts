import type { DeclarationFact } from '../../policy/recipient-class.ts';
import { isDeclarationActive } from '../../policy/recipient-class.ts';
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

/** What the policy needs of a declaration. */
export function declarationFact(contact: ContactRecord | undefined): DeclarationFact | null {
  if (contact === undefined) return null;
  return { expiresAtMs: contact.expiresAtMs, revoked: contact.revokedAtMs !== null };
}

/** What the API shows of a number that was never declared: every field of a record, and nothing in it. */
export function neverDeclared(phone: string): RevokedContactView {
  const nothing = { id: null, note: null, expiresAt: null, source: null, createdAt: null, revokedAt: null };
  return { ...nothing, phone, active: false };
}

/** As the API shows it at a moment: an expiry takes effect by itself. */
export function contactView(contact: ContactRecord, nowMs: number): ContactView {
  const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
  return {
    id: contact.id,
    phone: contact.phone,
    note: contact.note,
    expiresAt: iso(contact.expiresAtMs),
    source: 'api',
    createdAt: new Date(contact.createdAtMs).toISOString(),
    revokedAt: iso(contact.revokedAtMs),
    active: isDeclarationActive(declarationFact(contact), nowMs),
  };
}
