import {
  assertNodeErrorFree,
  type BinaryNode,
  jidNormalizedUser,
  USyncQuery,
  USyncUser,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { SessionTiming } from '../../session-timing.ts';
import type { ExpiringCache } from '../session/expiring-cache.ts';
import { isRateSignal, queryErrorCode } from '../session/session-end.ts';
import { chatAddress, isGroupId, isNumberAddress, userOf } from '../wire/chat-address.ts';
import { backoffOf } from '../wire/usync-errors.ts';

/** What a question about a number came to. */
export interface RecipientAnswer {
  /** Undefined: the network said neither yes nor no. */
  readonly exists: boolean | undefined;
  readonly rateLimited: boolean;
  /** There where the network did answer, and said neither. */
  readonly answered?: true;
  /** The wait that a rate signal asks for, in milliseconds, if any. */
  readonly backoffMs?: number;
  /** What the network knows the number by, E.164 with plus; there when it exists. */
  readonly number?: string;
}

/** A kept answer: the number by which the network knows the person, or that nobody is there. */
type KnownAs = string | false;

/**
 * Whether a number is on the network, and by which number it is known there: older accounts of some countries have
 * another form than they are dialled with. Yes and no are kept, across sessions too: asking in bulk gets numbers banned
 * (docs/chat-client.md, Sending). Only a row that says `out` is a no.
 */
export async function checkRecipient(options: {
  readonly socket: WASocket;
  readonly to: string;
  readonly cache: ExpiringCache;
  readonly timing: SessionTiming;
}): Promise<RecipientAnswer> {
  const { socket, to, cache, timing } = options;
  const known = cache.get<KnownAs>(to);
  if (known === false) return { exists: false, rateLimited: false };
  // A number that turned out to be gone is forgotten under the form it was written to.
  if (known !== undefined && cache.get<KnownAs>(known) !== undefined) return found(known);
  try {
    const answer = await socket.executeUSyncQuery(questionAbout(to));
    if (answer === undefined) return { exists: undefined, rateLimited: false };
    const row = answer.list.find(({ contact }) => contact === 'in' || contact === 'out');
    if (row === undefined) return { exists: undefined, rateLimited: false, answered: true };
    if (row.contact === 'out') {
      cache.set(to, false satisfies KnownAs, timing.missingNumberMs);
      return { exists: false, rateLimited: false };
    }
    const number = isNumberAddress(row.id) ? `+${userOf(row.id)}` : to;
    for (const form of new Set([to, number])) cache.set<KnownAs>(form, number, timing.knownNumberMs);
    return found(number);
  } catch (error) {
    const answer = throttled(error);
    if (answer !== undefined) return answer;
    const refused: Partial<RecipientAnswer> = queryErrorCode(error) === undefined ? {} : { answered: true };
    return { exists: undefined, rateLimited: false, ...refused };
  }
}

/** Returns the rate signal in the failure of a question; undefined: it failed for another reason. */
export function throttled(error: unknown): RecipientAnswer | undefined {
  return isRateSignal(error) ? { exists: undefined, rateLimited: true, ...backoffOf(error) } : undefined;
}

/**
 * The client's own question (`onWhatsApp`), whose answer keeps what the network says of the number: `in` or `out`. The client
 * makes a flag of it, and leaves out every row that is not `in`.
 */
function questionAbout(to: string): USyncQuery {
  const query = new USyncQuery().withUser(new USyncUser().withPhone(to));
  query.protocols.push(new ContactType());
  return query;
}

class ContactType {
  readonly name = 'contact';

  getQueryElement(): BinaryNode {
    return { tag: 'contact', attrs: {} };
  }

  getUserElement({ phone }: USyncUser): BinaryNode {
    return { tag: 'contact', attrs: {}, ...(phone === undefined ? {} : { content: phone }) };
  }

  /** @throws Boom when the row is an error. */
  parser(row: BinaryNode): string | null {
    assertNodeErrorFree(row);
    return row.attrs.type ?? null;
  }
}

function found(number: string): RecipientAnswer {
  return { exists: true, rateLimited: false, number };
}

/**
 * The address a chat is written to: a group's own, a person's id on the network when it is known, else the
 * number.
 */
export async function chatOf(socket: WASocket, to: string): Promise<string> {
  const byNumber = chatAddress(to);
  if (isGroupId(to)) return byNumber;
  const lid = await socket.signalRepository.lidMapping.getLIDForPN(byNumber);
  return lid === null ? byNumber : jidNormalizedUser(lid);
}
