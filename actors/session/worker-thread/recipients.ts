import { jidNormalizedUser, type WASocket } from '@whiskeysockets/baileys';
import type { SessionTiming } from '../session-timing.ts';
import { chatAddress, isGroupId } from './chat-address.ts';
import type { ExpiringCache } from './expiring-cache.ts';
import { isRateSignal } from './session-end.ts';

/** What a question about a number came to. */
export interface RecipientAnswer {
  /** Undefined: the network did not answer, which is not a "no". */
  readonly exists: boolean | undefined;
  readonly rateLimited: boolean;
}

/**
 * Whether a number is on the network. Answers are kept, across sessions too: asking in bulk gets numbers banned
 * (BAILEYS.md: Sending).
 */
export async function checkRecipient(options: {
  readonly socket: WASocket;
  readonly to: string;
  readonly cache: ExpiringCache;
  readonly timing: SessionTiming;
}): Promise<RecipientAnswer> {
  const { socket, to, cache, timing } = options;
  const known = cache.get<boolean>(to);
  if (known !== undefined) return { exists: known, rateLimited: false };
  try {
    const answer = await socket.onWhatsApp(to);
    if (answer === undefined) return { exists: undefined, rateLimited: false };
    const exists = answer.some((entry) => entry.exists);
    cache.set(to, exists, exists ? timing.knownNumberMs : timing.missingNumberMs);
    return { exists, rateLimited: false };
  } catch (error) {
    return { exists: undefined, rateLimited: isRateSignal(error) };
  }
}

/** The address a chat is written to: a group's own, a person's id on the network when it is known, else the number. */
export async function chatOf(socket: WASocket, to: string): Promise<string> {
  const byNumber = chatAddress(to);
  if (isGroupId(to)) return byNumber;
  const lid = await socket.signalRepository.lidMapping.getLIDForPN(byNumber);
  return lid === null ? byNumber : jidNormalizedUser(lid);
}
