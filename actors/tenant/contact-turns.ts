import {
  DECLARATIONS_PER_DAY,
  encodeDeclarations,
  evaluateDeclarations,
} from '../../policy/declaration-limits.ts';
import type { Turn } from '../../runtime/behaviour.ts';
import type { Write } from '../../runtime/store.ts';
import { done, failed } from '../failure.ts';
import { type ContactRecord, contactView, declarationFact, neverDeclared } from './contact-record.ts';
import type { DeclaredContact, TenantEffect } from './tenant-commands.ts';
import type { TenantState } from './tenant-state.ts';

/** What a contact turn knows: the moment, the stored contacts by phone, and how to make ids. */
export interface ContactFacts {
  readonly nowMs: number;
  readonly stored: ReadonlyMap<string, ContactRecord>;
  readonly makeId: (nowMs: number) => string;
}

/** Declares a batch, all or nothing. Declaring a number again updates it and clears its revocation. */
export function declareContacts(
  state: TenantState,
  contacts: readonly DeclaredContact[],
  { nowMs, stored, makeId }: ContactFacts,
): Turn<TenantState, TenantEffect> {
  const items = contacts.map(({ phone }) => ({ phone, current: declarationFact(stored.get(phone)) }));
  const evaluation = evaluateDeclarations(state.declared, { items, nowMs });
  if (!evaluation.admitted) {
    const { code, message, retryAfterSeconds } = evaluation;
    return {
      reply: failed(code, { message, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) }),
    };
  }
  const { keys, declared } = state;
  const writes: Write[] = [];
  const records = new Map<string, ContactRecord>();
  for (const contact of contacts) {
    const known = records.get(contact.phone) ?? stored.get(contact.phone);
    const record: ContactRecord = {
      id: known?.id ?? makeId(nowMs),
      phone: contact.phone,
      note: contact.note ?? null,
      expiresAtMs: contact.expiresAt === undefined ? null : Date.parse(contact.expiresAt),
      createdAtMs: known?.createdAtMs ?? nowMs,
      revokedAtMs: null,
    };
    if (known === undefined) writes.push(['ZADD', keys.contactOrder, 0, `${record.id}:${record.phone}`]);
    records.set(contact.phone, record);
  }
  for (const record of records.values())
    writes.push(['HSET', keys.contacts, record.phone, JSON.stringify(record)]);
  const { entry } = evaluation;
  if (entry !== null) {
    writes.push(
      ['RPUSH', keys.declared, encodeDeclarations(entry)],
      ['LTRIM', keys.declared, -DECLARATIONS_PER_DAY, -1],
    );
  }
  const views = [...records.values()].map((record) => contactView(record, nowMs));
  return {
    writes,
    reply: done({ accepted: views.length, contacts: views }),
    ...(entry === null ? {} : { committed: () => declared.record(entry) }),
  };
}

/** Revokes a declaration and keeps its record. Revoking twice changes nothing. */
export function revokeContact(
  state: TenantState,
  phone: string,
  { nowMs, stored }: ContactFacts,
): Turn<TenantState, TenantEffect> {
  const contact = stored.get(phone);
  if (contact === undefined) return { reply: done(neverDeclared(phone)) };
  if (contact.revokedAtMs !== null) return { reply: done(contactView(contact, nowMs)) };
  const revoked = { ...contact, revokedAtMs: nowMs };
  return {
    writes: [['HSET', state.keys.contacts, phone, JSON.stringify(revoked)]],
    reply: done(contactView(revoked, nowMs)),
  };
}
