import { jidNormalizedUser, type WASocket } from '@whiskeysockets/baileys';
import type { SessionTiming } from '../session-timing.ts';
import { chatAddress, isGroupId, isNumberAddress, userOf } from './chat-address.ts';
import type { ExpiringCache } from './expiring-cache.ts';
import { isRateSignal } from './session-end.ts';

/** What a question about a number came to. */
export interface RecipientAnswer {
  /** Undefined: the network did not answer, which is not a "no". */
  readonly exists: boolean | undefined;
  readonly rateLimited: boolean;
  /** What the network knows the number by, E.164 with plus; there when it exists. */
  readonly number?: string;
}

/** A kept answer: the number by which the network knows the person, or that nobody is there. */
type KnownAs = string | false;

/**
 * Whether a number is on the network, and by which number it is known there: older accounts of some countries have
 * another form than they are dialled with. Answers are kept, across sessions too: asking in bulk gets numbers banned
 * (docs/chat-client.md, Sending).
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
    const answer = await socket.onWhatsApp(to);
    if (answer === undefined) return { exists: undefined, rateLimited: false };
    const entry = answer.find(({ exists }) => exists);
    if (entry === undefined) {
      cache.set(to, false satisfies KnownAs, timing.missingNumberMs);
      return { exists: false, rateLimited: false };
    }
    const number = isNumberAddress(entry.jid) ? `+${userOf(entry.jid)}` : to;
    for (const form of new Set([to, number])) cache.set<KnownAs>(form, number, timing.knownNumberMs);
    return found(number);
  } catch (error) {
    return { exists: undefined, rateLimited: isRateSignal(error) };
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
