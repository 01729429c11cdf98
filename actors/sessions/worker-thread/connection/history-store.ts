import type { SignalDataSet, SignalKeyStore } from '@whiskeysockets/baileys';
import { TOKEN_INDEX, withMovedTokens } from '../keys/contact-tokens.ts';
import type { Credentials } from '../keys/credentials.ts';
import { isLidAddress, userOf } from '../wire/chat-address.ts';
import type { ContactToken } from './history-facts.ts';

/** The keys of a session, into which a history's facts go. */
type StoredKeys = Pick<Credentials, 'keys' | 'storeNow'>;

/**
 * Stores the ids of numbers from a part of a phone's history. A part may be taken a week late, so the session's own
 * facts are newer. Neither a known number nor a known id changes. The entries bypass the client's own cache, which
 * keeps every reported entry.
 */
export async function storeMappings(
  { keys, storeNow }: StoredKeys,
  mappings: readonly (readonly [number: string, lid: string])[],
): Promise<void> {
  const known = await keys.get(
    'lid-mapping',
    mappings.flatMap(([number, lid]) => [number, reverse(lid)]),
  );
  const fresh: Record<string, string> = {};
  for (const [number, lid] of mappings) {
    if (known[number] !== undefined || known[reverse(lid)] !== undefined) continue;
    fresh[number] = lid;
    fresh[reverse(lid)] = number;
  }
  if (Object.keys(fresh).length > 0) await storeNow(await withMovedTokens(keys, { 'lid-mapping': fresh }));
}

/** The field under which the client keeps whose id it is. */
function reverse(lid: string): string {
  return `${lid}_reverse`;
}

/**
 * Stores the tokens of contacts under the contacts' own ids if these are known, as the client keeps them. The newest of
 * several tokens of one contact counts: a history may have a chat by number and by id.
 */
export async function storeTokens(
  { keys, storeNow }: StoredKeys,
  tokens: readonly ContactToken[],
): Promise<void> {
  const newest = await newestByChat(keys, tokens);
  const known = await keys.get('tctoken', [...newest.keys(), TOKEN_INDEX]);
  const stored: NonNullable<SignalDataSet['tctoken']> = {};
  for (const [chat, { token, issuedAt, ownIssuedAt }] of newest) {
    if (Number(known[chat]?.timestamp ?? 0) >= issuedAt) continue;
    const senderTimestamp = ownIssuedAt ?? known[chat]?.senderTimestamp;
    stored[chat] = {
      token,
      timestamp: String(issuedAt),
      ...(senderTimestamp === undefined ? {} : { senderTimestamp }),
    };
  }
  if (Object.keys(stored).length === 0) return;
  const index = new Set([...chatsIn(known[TOKEN_INDEX]?.token), ...Object.keys(stored)]);
  const token = Buffer.from(JSON.stringify([...index]));
  await storeNow({ tctoken: { ...stored, [TOKEN_INDEX]: { token } } });
}

async function newestByChat(
  keys: Pick<SignalKeyStore, 'get'>,
  tokens: readonly ContactToken[],
): Promise<Map<string, ContactToken>> {
  const numbers = tokens.flatMap(({ chat }) => (isLidAddress(chat) ? [] : [userOf(chat)]));
  // The ids of this part of the history, and of earlier parts, are stored there already.
  const lids = numbers.length === 0 ? {} : await keys.get('lid-mapping', numbers);
  const newest = new Map<string, ContactToken>();
  for (const token of tokens) {
    const lid = isLidAddress(token.chat) ? userOf(token.chat) : lids[userOf(token.chat)];
    const chat = lid === undefined ? token.chat : `${lid}@lid`;
    if ((newest.get(chat)?.issuedAt ?? 0) <= token.issuedAt) newest.set(chat, token);
  }
  return newest;
}

function chatsIn(list: Uint8Array | undefined): unknown[] {
  if (list === undefined || list.length === 0) return [];
  const chats: unknown = JSON.parse(Buffer.from(list).toString());
  return Array.isArray(chats) ? chats : [];
}
