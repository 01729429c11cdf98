import {
  type BinaryNode,
  getBinaryNodeChild,
  jidNormalizedUser,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
} from '@whiskeysockets/baileys';
import { isLidAddress, isNumberAddress } from '../wire/chat-address.ts';

type Token = SignalDataTypeMap['tctoken'];
/** A token as the client sees it: `shown` replaces its `own` time. */
type ShownToken = Token & { readonly shownAs?: { readonly shown: string; readonly own: string } };

const WEEK_SECONDS = 7 * 86_400;
/**
 * A token is valid until the 26th week after its own has begun: the server's setting (oxidezap/whatsapp-rust pull
 * request 473).
 */
const KEPT_WEEKS = 26;
/** The client's own default, after which it erases a token. */
const CLIENT_WEEKS = 4;

/** The id under which the client keeps its list of the contacts that it has tokens of, to check them for expiry. */
export const TOKEN_INDEX = '__index';

export interface ContactTokensOptions {
  readonly keys: SignalKeyStore;
  readonly nowMs: () => number;
  /** Returns the network's own id of a number's owner, or null if unknown. */
  readonly lidOf: (address: string) => Promise<string | null>;
}

/**
 * Keeps the tokens that people gave the number when they wrote. While the number is restricted, the network takes only
 * messages with the recipient's token. The client keeps tokens of notifications for 28 days. This keeps them as long as
 * the server does, and also those that come within messages (WhiskeySockets/Baileys pull request 2752).
 */
export class ContactTokens {
  readonly #options: ContactTokensOptions;
  /** Tokens are stored one after the other, so that an older token never replaces a newer one. */
  #storing: Promise<void> = Promise.resolve();

  constructor(options: ContactTokensOptions) {
    this.#options = options;
  }

  /** True if the network accepts a message to this chat although the number is restricted. */
  async has(chat: string): Promise<boolean> {
    const token = await this.#read(chat);
    return token !== undefined && isKept(token, this.#nowSeconds());
  }

  /** Keeps the token that a message carries. A store that fails ends the session by itself. */
  keepToken(stanza: BinaryNode): void {
    const { from = '', sender_lid: senderLid = from, t } = stanza.attrs;
    const tokenNode = getBinaryNodeChild(stanza, 'tctoken');
    const isPerson = isLidAddress(from) || isNumberAddress(from);
    if (!isPerson || !(tokenNode?.content instanceof Uint8Array)) return;
    const token = { token: Buffer.from(tokenNode.content), timestamp: tokenNode.attrs.t ?? t ?? '' };
    this.#storing = this.#storing.then(() => this.#keep(senderLid, token)).catch(() => undefined);
  }

  /** The keys of the session as the client is to see them. */
  forClient(): SignalKeyStore {
    const { keys } = this.#options;
    return {
      get: async <Type extends keyof SignalDataTypeMap>(type: Type, ids: string[]) => {
        const tokensFound = await keys.get(type, ids);
        if (type !== 'tctoken') return tokensFound;
        const nowSeconds = this.#nowSeconds();
        const shownTokens = Object.entries(tokensFound as { [id: string]: Token }).map(
          ([id, token]) => [id, shownToClient(token, nowSeconds)] as const,
        );
        return Object.fromEntries(shownTokens) as { [id: string]: SignalDataTypeMap[Type] };
      },
      set: (data) => keys.set(asStored(data)),
    };
  }

  async #keep(sender: string, token: Token): Promise<void> {
    const { keys, lidOf } = this.#options;
    const address = jidNormalizedUser(sender);
    const lid = isLidAddress(address) ? address : await lidOf(address);
    const chat = lid === null ? address : jidNormalizedUser(lid);
    const knownTokens = await this.#read(chat);
    const isOlder = secondsOf(token) <= (knownTokens === undefined ? 0 : secondsOf(knownTokens));
    if (isOlder && knownTokens !== undefined && knownTokens.token.length > 0) return;
    if (secondsOf(token) > 0) await keys.set({ tctoken: { [chat]: { ...knownTokens, ...token } } });
  }

  async #read(chat: string): Promise<Token | undefined> {
    return (await this.#options.keys.get('tctoken', [chat]))[chat];
  }

  #nowSeconds(): number {
    return Math.floor(this.#options.nowMs() / 1_000);
  }
}

/** The field under which the client keeps which number a LID has. */
const REVERSE = /_reverse$/;

/** Returns the keys of a session. A write of mappings also moves tokens (`withMovedTokens`). */
export function keysMovingTokens(keys: SignalKeyStore): SignalKeyStore {
  return {
    get: (type, ids) => keys.get(type, ids),
    set: async (data) => keys.set(await withMovedTokens(keys, data)),
  };
}

/**
 * Returns new mappings of numbers to LIDs together with the tokens that move. Tokens are looked up under the LID, and a
 * token that came before its giver's LID was known is stored under the number. It moves with the first LID of a number
 * only: a later one is another account (docs/chat-client.md, Limits and tokens).
 */
export async function withMovedTokens(
  keys: Pick<SignalKeyStore, 'get'>,
  data: SignalDataSet,
): Promise<SignalDataSet> {
  const mappings = Object.entries(data['lid-mapping'] ?? {}).filter(([number]) => !REVERSE.test(number));
  if (mappings.length === 0) return data;
  const chats = mappings.map(([number]) => `${number}@s.whatsapp.net`);
  const givenTokens: { [chat: string]: Token } = await keys.get('tctoken', chats);
  if (Object.keys(givenTokens).length === 0) return data;
  const knownLids = await keys.get(
    'lid-mapping',
    mappings.map(([number]) => number),
  );
  const tctoken: NonNullable<SignalDataSet['tctoken']> = {};
  for (const [number, lid] of mappings) {
    const token = givenTokens[`${number}@s.whatsapp.net`];
    if (token === undefined || typeof lid !== 'string' || knownLids[number] !== undefined) continue;
    const chat = `${lid}@lid`;
    const { [chat]: ownToken } = await keys.get('tctoken', [chat]);
    tctoken[`${number}@s.whatsapp.net`] = null;
    if (ownToken === undefined || secondsOf(ownToken) < secondsOf(token))
      tctoken[chat] = { ...ownToken, ...token };
  }
  // A token of the same write is the newest.
  return { ...data, tctoken: { ...tctoken, ...data.tctoken } };
}

function secondsOf({ timestamp }: Token): number {
  return Number(timestamp ?? 0) || 0;
}

/** Returns the first second of a window of whole weeks that ends with the present one. */
function windowStart(weeks: number, nowSeconds: number): number {
  return (Math.floor(nowSeconds / WEEK_SECONDS) - (weeks - 1)) * WEEK_SECONDS;
}

function isKept(token: Token, nowSeconds: number): boolean {
  return token.token.length > 0 && secondsOf(token) >= windowStart(KEPT_WEEKS, nowSeconds);
}

/** True if both the contact's token and the shop's own, issued to the contact, have expired. */
export function isOver(token: Token, nowMs: number): boolean {
  const newestSeconds = Math.max(secondsOf(token), Number(token.senderTimestamp ?? 0) || 0);
  return newestSeconds < windowStart(KEPT_WEEKS, Math.floor(nowMs / 1_000));
}

/** A token that the server keeps and the client would erase is shown as some weeks younger. */
function shownToClient(token: Token, nowSeconds: number): ShownToken {
  const { timestamp: ownTimestamp } = token;
  const isOld = secondsOf(token) < windowStart(CLIENT_WEEKS - 1, nowSeconds);
  if (ownTimestamp === undefined || !isOld || !isKept(token, nowSeconds)) return token;
  const windowStartText = String(windowStart(CLIENT_WEEKS - 1, nowSeconds));
  return { ...token, timestamp: windowStartText, shownAs: { shown: windowStartText, own: ownTimestamp } };
}

/** Restores the original time if the client writes back what it was shown. */
function asStored(data: SignalDataSet): SignalDataSet {
  if (data.tctoken === undefined) return data;
  const tctoken = Object.entries(data.tctoken).map(([id, token]) => [id, token && ownTime(token)] as const);
  return { ...data, tctoken: Object.fromEntries(tctoken) };
}

function ownTime({ shownAs, ...token }: ShownToken): Token {
  return shownAs !== undefined && token.timestamp === shownAs.shown
    ? { ...token, timestamp: shownAs.own }
    : token;
}
