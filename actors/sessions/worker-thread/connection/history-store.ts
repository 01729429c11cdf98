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
  const knownEntries = await keys.get(
    'lid-mapping',
    mappings.flatMap(([number, lid]) => [number, reverse(lid)]),
  );
  const newEntries: Record<string, string> = {};
  for (const [number, lid] of mappings) {
    if (knownEntries[number] !== undefined || knownEntries[reverse(lid)] !== undefined) continue;
    newEntries[number] = lid;
    newEntries[reverse(lid)] = number;
  }
  if (Object.keys(newEntries).length > 0)
    await storeNow(await withMovedTokens(keys, { 'lid-mapping': newEntries }));
}

/** Returns the field under which the client keeps whose id it is. */
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
  const newestTokens = await newestByChat(keys, tokens);
  const knownEntries = await keys.get('tctoken', [...newestTokens.keys(), TOKEN_INDEX]);
  const storedTokens: NonNullable<SignalDataSet['tctoken']> = {};
  for (const [chat, { token, issuedAt, ownIssuedAt }] of newestTokens) {
    if (Number(knownEntries[chat]?.timestamp ?? 0) >= issuedAt) continue;
    const senderTimestamp = ownIssuedAt ?? knownEntries[chat]?.senderTimestamp;
    storedTokens[chat] = {
      token,
      timestamp: String(issuedAt),
      ...(senderTimestamp === undefined ? {} : { senderTimestamp }),
    };
  }
  if (Object.keys(storedTokens).length === 0) return;
  const index = new Set([...chatsIn(knownEntries[TOKEN_INDEX]?.token), ...Object.keys(storedTokens)]);
  const token = Buffer.from(JSON.stringify([...index]));
  await storeNow({ tctoken: { ...storedTokens, [TOKEN_INDEX]: { token } } });
}

async function newestByChat(
  keys: Pick<SignalKeyStore, 'get'>,
  tokens: readonly ContactToken[],
): Promise<Map<string, ContactToken>> {
  const numbers = tokens.flatMap(({ chat }) => (isLidAddress(chat) ? [] : [userOf(chat)]));
  // The ids of this part of the history, and of earlier parts, are stored there already.
  const lids = numbers.length === 0 ? {} : await keys.get('lid-mapping', numbers);
  const newestTokens = new Map<string, ContactToken>();
  for (const token of tokens) {
    const lid = isLidAddress(token.chat) ? userOf(token.chat) : lids[userOf(token.chat)];
    const chat = lid === undefined ? token.chat : `${lid}@lid`;
    if ((newestTokens.get(chat)?.issuedAt ?? 0) <= token.issuedAt) newestTokens.set(chat, token);
  }
  return newestTokens;
}

function chatsIn(list: Uint8Array | undefined): unknown[] {
  if (list === undefined || list.length === 0) return [];
  const chats: unknown = JSON.parse(Buffer.from(list).toString());
  return Array.isArray(chats) ? chats : [];
}
