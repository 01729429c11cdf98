import type { AuthenticationCreds, SignalDataTypeMap, SignalKeyStore } from '@whiskeysockets/baileys';
import type { ArmedTimer } from '../../../../runtime/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../../../runtime/durations.ts';
import type { SessionContext } from '../shared/session-context.ts';
import { KnownFields } from '../store/known-fields.ts';
import type { SealedStore } from '../store/sealed-store.ts';
import { userOf } from '../wire/chat-address.ts';
import { isOver, TOKEN_INDEX } from './contact-tokens.ts';

const HASH = 'credentials';
const PERIOD_MS = 30 * DAY_MS;
/** The number of whole periods without use after which a key is removed: after 60 to 90 days. */
const PERIODS = 2;
/** Keys of each kind that one run checks or removes. */
const MOST_A_RUN = 500;
/**
 * How long it may take until the use of a key is stored, in milliseconds. A process that is killed meanwhile forgets
 * it.
 */
const SAVED_IN_MS = 10 * MINUTE_MS;
/** Bytes for some 4,000 keys. Beyond that a few unused keys count as used. */
const BYTES = 8 * 1024;

/**
 * The kinds of keys that are removed. One-time keys stay, because they wait for the people who use them. The network's
 * own ids of people stay, because they are needed to recognise a number whose owner opts out.
 */
const PRUNED = [
  ...['session/', 'sender-key/', 'sender-key-memory/', 'device-list/', 'wire-alias/'],
  'chat-timer/',
] as const;
const TOKEN = 'tctoken/';
const USED = 'used/';

/** A shop's own addresses, and its keys. */
interface OwnKeys {
  readonly creds: Pick<AuthenticationCreds, 'me'>;
  readonly keys: Pick<SignalKeyStore, 'get'>;
}

/**
 * Knows which keys of a shop are used, and removes the others, which would grow with the number of customers. In
 * periods of 30 days it notes which keys were read or written, and stores that beside the keys. The note is a filter,
 * so a few unused keys may count as used.
 */
export class KeyUse {
  readonly #context: SessionContext;
  readonly #sealed: Pick<SealedStore, 'read' | 'write' | 'writeLater'>;
  #period: number;
  #used = new KnownFields(new Uint8Array(BYTES));
  /** `#used` includes all that is stored of this period. */
  #isWhole = false;
  #saving: ArmedTimer | undefined;

  constructor(context: SessionContext, sealedStore: Pick<SealedStore, 'read' | 'write' | 'writeLater'>) {
    this.#context = context;
    this.#sealed = sealedStore;
    this.#period = this.#periodNow();
  }

  /** A key was read or written. */
  mark(field: string): void {
    if (!PRUNED.some((kind) => field.startsWith(kind))) return;
    this.#turn();
    if (this.#used.mayHold(field)) return;
    this.#used.add(field);
    this.#saving ??= this.#saveLater();
  }

  #saveLater(): ArmedTimer {
    return this.#context.later(SAVED_IN_MS, () => this.save());
  }

  /** Stores new uses together with the next write. Tries later if `prune` has not read the stored ones yet. */
  save(): void {
    if (this.#saving === undefined) return;
    this.#saving.cancel();
    this.#saving = this.#isWhole ? undefined : this.#saveLater();
    if (!this.#isWhole) return;
    const fields = new Map([[USED + this.#period, Buffer.from(this.#used.bits)]]);
    this.#sealed.writeLater({ hash: HASH, fields });
  }

  /**
   * Removes some hundreds of unused keys, and tokens that the network no longer takes. A key is unused if it was not
   * used in the present period and in the two before. No key is removed if the shop's session was not open in both
   * earlier periods. `names` has all fields. Resolves with the number of removed keys and tokens.
   */
  async prune(names: readonly string[], { creds: { me }, keys }: OwnKeys): Promise<number> {
    const ownUsers = [me?.id ?? '', me?.lid ?? ''].map(userOf);
    this.#turn();
    const periods = Array.from(
      { length: PERIODS + 1 },
      (_, periodsAgo) => USED + (this.#period - periodsAgo),
    );
    const [presentFilter, ...formerFilters] = await this.#sealed.read(HASH, periods);
    if (presentFilter !== undefined) this.#used.addAll(presentFilter);
    this.#isWhole = true;
    const staleNames = names.filter((name) => name.startsWith(USED) && !periods.includes(name));
    const filters = formerFilters.flatMap((bits) => (bits === undefined ? [] : [new KnownFields(bits)]));
    const unusedNames = filters.length < PERIODS ? [] : unusedIn(names, [this.#used, ...filters]);
    const withCompanions = unusedNames.flatMap((name) => [name, ...companionsOf(name, ownUsers)]);
    const goneNames = [...new Set(withCompanions), ...(await this.#tokensOver(names, keys))];
    if (goneNames.length + staleNames.length > 0) {
      await this.#sealed.write({
        hash: HASH,
        fields: new Map([...goneNames, ...staleNames].map((name) => [name, undefined])),
      });
    }
    return goneNames.length;
  }

  /** Each day checks other tokens, so that all are checked in time. */
  async #tokensOver(names: readonly string[], keys: Pick<SignalKeyStore, 'get'>): Promise<string[]> {
    const tokens = names.filter((name) => name.startsWith(TOKEN) && name !== TOKEN + TOKEN_INDEX);
    if (tokens.length === 0) return [];
    const nowMs = this.#context.clock.wallMs();
    const parts = Math.ceil(tokens.length / MOST_A_RUN);
    const start = (Math.floor(nowMs / DAY_MS) % parts) * MOST_A_RUN;
    const ids = tokens.slice(start, start + MOST_A_RUN).map((name) => name.slice(TOKEN.length));
    const tokensFound: { [id: string]: SignalDataTypeMap['tctoken'] } = await keys.get('tctoken', ids);
    return ids
      .filter((id) => tokensFound[id] !== undefined && isOver(tokensFound[id], nowMs))
      .map((id) => TOKEN + id);
  }

  /** Begins a new period if the one before is over. */
  #turn(): void {
    const periodNow = this.#periodNow();
    if (periodNow === this.#period) return;
    this.save();
    this.#period = periodNow;
    // Uses that could not be stored yet count for the new period.
    if (this.#isWhole) this.#used = new KnownFields(new Uint8Array(BYTES));
    this.#isWhole = true;
  }

  #periodNow(): number {
    return Math.floor(this.#context.clock.wallMs() / PERIOD_MS);
  }
}

/** Returns some hundreds of keys that none of the filters has. */
function unusedIn(names: readonly string[], filters: readonly KnownFields[]): string[] {
  const isUnused = (name: string): boolean =>
    PRUNED.some((kind) => name.startsWith(kind)) && !filters.some((filter) => filter.mayHold(name));
  return names.filter(isUnused).slice(0, MOST_A_RUN);
}

/**
 * Returns the fields that must go with this one. A session takes its identity along. The shop's own key of a group
 * takes the list of those who have it. Otherwise the next post would leave the new key out.
 */
function companionsOf(name: string, ownUsers: readonly string[]): string[] {
  const id = name.slice(name.indexOf('/') + 1);
  if (name.startsWith('session/')) return [`identity-key/${id}`];
  const [group, sender = ''] = id.split('::');
  const isOwn = ownUsers.includes(sender.split('_')[0] ?? '');
  return name.startsWith('sender-key/') && isOwn ? [`sender-key-memory/${group}`] : [];
}
