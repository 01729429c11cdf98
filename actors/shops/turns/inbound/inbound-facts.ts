import { createHash } from 'node:crypto';
import { isPhoneNumber } from '../../../../policy/recipient.ts';
import type { Read, Store } from '../../../../runtime/store.ts';
import type { SessionEventOf } from '../../../sessions/session-events.ts';
import type { NumberVault } from '../../records/number-vault.ts';
import { type KnownPerson, readPerson } from '../../records/person-ids.ts';
import { decodeSent, sentReads } from '../../records/sent-index.ts';
import type { ShopState } from '../../state/shop-state.ts';

type Inbound = SessionEventOf<'session.inbound'>;

/** The facts of an inbound message that must be published to the tenant. */
export interface EventFacts {
  readonly person: KnownPerson;
  /** The message was published to the tenant before. */
  readonly isReceived: boolean;
  /** The id of our message that it quotes or reacts to. */
  readonly quotedMessageId: string | null;
}

/**
 * Reads the facts, or returns undefined if the tenant receives no inbound events. `writtenBy` is the person, as the
 * shop knows them now.
 */
export async function readEventFacts(
  state: ShopState,
  { content, wireId }: Inbound,
  writtenBy: string,
  sources: { readonly store: Store; readonly vault: NumberVault; readonly nowMs: number },
): Promise<EventFacts | undefined> {
  if (content === undefined || state.inbound === 'none') return undefined;
  const { store, nowMs } = sources;
  const number = isPhoneNumber(writtenBy) ? writtenBy : undefined;
  const lid = content.lid ?? (number === undefined ? writtenBy : undefined);
  const person = await readPerson(state.shop.tenantId, { number, lid }, sources);
  const marks = person.ids.map((id) => receivedMark(id, wireId));
  const quoted = content.quotes === null ? [] : sentReads(state.keys, [content.quotes], nowMs);
  const answers = await store.read([
    ...marks.map((mark): Read => ['ZSCORE', state.keys.inboundReceived, mark]),
    ...quoted,
  ]);
  const stanzas = answers.slice(marks.length) as (string | null)[][];
  // A quote counts for as long as the stanza is found, longer than a receipt does.
  const sent = stanzas.map(([text]) => decodeSent(text, 0)).find((stanza) => stanza !== undefined);
  const isReceived = answers.slice(0, marks.length).some((score) => score !== null);
  return { person, isReceived, quotedMessageId: sent?.messageId ?? null };
}

/** Returns a mark for one stanza of one person, since each person's phone chooses its stanzas' ids. */
export function receivedMark(personId: string, wireId: string): string {
  return createHash('sha256').update(`${personId} ${wireId}`).digest().subarray(0, 16).toString('base64url');
}
