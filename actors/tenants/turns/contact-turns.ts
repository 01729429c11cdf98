import {
  DECLARATIONS_PER_DAY,
  encodeDeclarations,
  evaluateDeclarations,
} from '../../../policy/declaration-limits.ts';
import { numberForms, recipientKey } from '../../../policy/number-forms.ts';
import type { Write } from '../../../runtime/store.ts';
import { done, refusedBy } from '../../failure.ts';
import {
  type ContactRecord,
  contactOf,
  contactView,
  declarationFact,
  undeclaredView,
} from '../contact-record.ts';
import type { TenantFieldsOf } from '../tenant-commands.ts';
import type { TenantKeys } from '../tenant-keys.ts';
import type { TenantTurn, TurnInputs } from '../tenant-replies.ts';
import type { TenantState } from '../tenant-state.ts';

/**
 * Declares a batch, all or nothing. Declaring a number again, in either of its forms, updates its record and clears its
 * revocation. The record then has the form that was written last.
 */
export function declareContacts(
  state: TenantState,
  { contacts }: TenantFieldsOf<'declare'>,
  { nowMs, facts, makeId }: Pick<TurnInputs, 'nowMs' | 'facts' | 'makeId'>,
): TenantTurn<'declare'> {
  const storedRecords = facts.contacts;
  const items = contacts.map(({ phone }) => ({
    phone,
    current: declarationFact(contactOf(phone, storedRecords)),
  }));
  const evaluation = evaluateDeclarations(state.declared, { items, nowMs });
  if (!evaluation.isAdmitted) return { reply: refusedBy(evaluation) };
  const { keys, declared } = state;
  const writes: Write[] = [];
  const records = new Map(storedRecords);
  const acceptedContacts = new Map<number, ContactRecord>();
  for (const { phone, note, expiresAt } of contacts) {
    const [ownRecord, otherRecord] = numberForms(phone).map((form) => records.get(form));
    const { id, createdAtMs } = ownRecord ?? otherRecord ?? { id: makeId(nowMs), createdAtMs: nowMs };
    const expiresAtMs = expiresAt === undefined ? null : Date.parse(expiresAt);
    const declaredFields = { note: note ?? null, expiresAtMs, revokedAtMs: null };
    const record = { id, phone, createdAtMs, ...declaredFields };
    if (ownRecord === undefined) {
      if (otherRecord !== undefined) {
        records.delete(otherRecord.phone);
        writes.push(
          ['HDEL', keys.contacts, otherRecord.phone],
          ['ZREM', keys.contactOrder, indexEntry(otherRecord)],
        );
      }
      writes.push(['ZADD', keys.contactOrder, 0, indexEntry(record)]);
    } else if (otherRecord !== undefined) {
      records.set(otherRecord.phone, { ...otherRecord, ...declaredFields });
    }
    records.set(phone, record);
    acceptedContacts.set(recipientKey(phone), record);
  }
  for (const record of records.values()) writes.push(contactWrite(keys, record));
  const { entry } = evaluation;
  if (entry !== null) {
    writes.push(
      ['RPUSH', keys.declared, encodeDeclarations(entry)],
      ['LTRIM', keys.declared, -DECLARATIONS_PER_DAY, -1],
    );
  }
  const views = [...acceptedContacts.values()].map((record) => contactView(record, nowMs));
  return {
    writes,
    reply: done({ accepted: views.length, contacts: views }),
    ...(entry === null ? {} : { committed: () => declared.record(entry) }),
  };
}

/** Revokes the declaration of a number, named in either form, and keeps its record. Revoking twice changes nothing. */
export function revokeContact(
  state: TenantState,
  { phone }: TenantFieldsOf<'revoke_contact'>,
  { nowMs, facts }: Pick<TurnInputs, 'nowMs' | 'facts'>,
): TenantTurn<'revoke_contact'> {
  const storedRecords = facts.contacts;
  const contact = contactOf(phone, storedRecords);
  if (contact === undefined) return { reply: done(undeclaredView(phone)) };
  if (contact.revokedAtMs !== null) return { reply: done(contactView(contact, nowMs)) };
  const revocation = { revokedAtMs: nowMs };
  return {
    writes: [...storedRecords.values()].map((record) =>
      contactWrite(state.keys, { ...record, ...revocation }),
    ),
    reply: done(contactView({ ...contact, ...revocation }, nowMs)),
  };
}

function indexEntry({ id, phone }: ContactRecord): string {
  return `${id}:${phone}`;
}

function contactWrite({ contacts }: TenantKeys, record: ContactRecord): Write {
  return ['HSET', contacts, record.phone, JSON.stringify(record)];
}
