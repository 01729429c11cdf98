import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from '@whiskeysockets/baileys';
import type { StanzaReceipt } from '../session-host.ts';
import { isGroupId, isLidAddress, isNumberAddress, userOf } from './chat-address.ts';
import { personOf } from './inbound-message.ts';

/** Receipts of one word to the actor. */
const MOST_AT_ONCE = 200;
/** Receipts that wait to be told or committed. What is more takes no memory: it is not acknowledged, and comes at the next login. */
const MOST_WAITING = 5_000;
/** Receipts whose commit takes too long that are acknowledged all the same once it comes; of more the oldest wait for the next login. */
const MOST_LATE = 1_000;

/** What a receipt's `type` says; others are of our own devices, ask for a retry, or say nothing. */
const KINDS: ReadonlyMap<string | undefined, StanzaReceipt['kind']> = new Map([
  [undefined, 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
] as const);

/** A stanza `receipt` of which something waits to be told or committed. */
interface HeldStanza {
  /** Words of it that are not committed. */
  left: number;
  readonly committed: () => void;
}

/** One word of a stanza that waits to be told. */
interface Waiting {
  readonly receipt: StanzaReceipt;
  readonly stanza: HeldStanza;
}

/** The parts and callbacks of a session that receipts use. */
export interface ReceiptsOptions {
  readonly ownAddresses: () => readonly string[];
  /** The number behind the network's own id of a person; undefined where it tells none. */
  readonly numberOf: (lid: string) => Promise<string | undefined>;
  /** Whether somebody with these addresses is known to be no member of that group. */
  readonly isOutside: (group: string, addresses: readonly string[]) => boolean;
  /** The wire id that the order of a stanza was given with; another where it went to a new address. */
  readonly orderedAs: (wireId: string) => string;
  /** Whether the order of that stanza still waits for its outcome, which is to be told first. */
  readonly isPending: (wireId: string) => boolean;
  /**
   * Acts at the next moment that all sessions of the worker share, unless the session has ended: what a group says costs
   * its shop a few turns and not hundreds, and what many shops are told is read and committed together.
   */
  readonly atSharedMoment: (act: () => void) => void;
  /** Acts once a commit has taken longer than one may. */
  readonly onceLate: (act: () => void) => void;
  /** Makes tokens unlike those of the shop's other sessions. */
  readonly generation: number;
  readonly report: (token: string, receipts: readonly StanzaReceipt[]) => void;
}

/**
 * What recipients' devices say of one session's stanzas: read from the stanza `receipt` itself, since the client tells
 * of those alone that it knows by its own history. The network hears that a stanza was taken once what it says is committed.
 */
export class Receipts {
  readonly #options: ReceiptsOptions;
  #waiting: Waiting[] = [];
  /** What was told and is not committed, by its token. */
  readonly #told = new Map<string, readonly HeldStanza[]>();
  /** The same where the commit takes too long, the oldest first: they take no room of others. */
  readonly #late = new Map<string, readonly HeldStanza[]>();
  #lateWords = 0;
  #tokens = 0;
  /** Words that wait to be told or committed. */
  #held = 0;
  #isArmed = false;

  constructor(options: ReceiptsOptions) {
    this.#options = options;
  }

  /**
   * Takes a `receipt`; nothing comes of one that is not about what this shop sent to others, or that is about a group of
   * which its sender is no member. Where the members are not known it counts: what waited while the session was away
   * comes before the groups are told, and would be lost. Resolves when the stanza may be acknowledged: at once where nothing
   * comes of it, else with its commit, and never where that does not come or too many wait: the network then says it again at
   * the next login.
   */
  async received(node: BinaryNode): Promise<void> {
    const { id, from = '', participant, recipient, type, t } = node.attrs;
    const kind = KINDS.get(type);
    if (kind === undefined || id === undefined || recipient !== undefined) return;
    const group = isGroupId(from) ? from : undefined;
    const sender = personOf(group === undefined ? from : (participant ?? ''));
    if (!isNumberAddress(sender) && !isLidAddress(sender)) return;
    if (this.#options.ownAddresses().includes(sender)) return;
    const byNumber = await this.#numberOf(sender);
    const addresses = byNumber === undefined || byNumber === sender ? [sender] : [sender, byNumber];
    if (group !== undefined && this.#options.isOutside(group, addresses)) return;
    // E.164 where the number is known, as everywhere beyond the session; else the shop compares the network's own id.
    const person = byNumber === undefined ? sender : `+${userOf(byNumber)}`;
    const atMs = (Number(t) || 0) * 1_000;
    const items = getBinaryNodeChildren(getBinaryNodeChild(node, 'list'), 'item');
    const named = [id, ...items.flatMap(({ attrs }) => attrs.id ?? [])];
    const wireIds = new Set(named.map((wireId) => this.#options.orderedAs(wireId)));
    const isTooMuch = this.#held + wireIds.size > MOST_WAITING;
    await new Promise<void>((committed) => {
      if (isTooMuch) return;
      const stanza = { left: wireIds.size, committed };
      for (const wireId of wireIds) {
        this.#waiting.push({ receipt: { wireId, kind, from: person, group, atMs }, stanza });
      }
      this.#held += wireIds.size;
      this.#arm();
    });
  }

  /** What was told under the token is committed. */
  confirm(token: string): void {
    for (const stanza of [...this.#letGo(token), ...this.#forgetLate(token)]) {
      stanza.left -= 1;
      if (stanza.left === 0) stanza.committed();
    }
  }

  /** Tells what waits: the session ends, and with it all orders have their outcomes. */
  close(): void {
    this.#tell(this.#waiting.splice(0));
  }

  #arm(): void {
    if (this.#isArmed || this.#waiting.length === 0) return;
    this.#isArmed = true;
    this.#options.atSharedMoment(() => {
      this.#isArmed = false;
      const { isPending } = this.#options;
      const ready = this.#waiting.filter(({ receipt }) => !isPending(receipt.wireId));
      this.#waiting = this.#waiting.filter(({ receipt }) => isPending(receipt.wireId));
      this.#tell(ready);
      this.#arm();
    });
  }

  #tell(ready: readonly Waiting[]): void {
    const { generation, onceLate, report } = this.#options;
    for (let from = 0; from < ready.length; from += MOST_AT_ONCE) {
      const together = ready.slice(from, from + MOST_AT_ONCE);
      this.#tokens += 1;
      const token = `receipts ${generation}.${this.#tokens}`;
      this.#told.set(
        token,
        together.map(({ stanza }) => stanza),
      );
      onceLate(() => this.#keepLate(token));
      report(
        token,
        together.map(({ receipt }) => receipt),
      );
    }
  }

  /** The stanzas of what was told under the token, once. */
  #letGo(token: string): readonly HeldStanza[] {
    const stanzas = this.#told.get(token) ?? [];
    this.#told.delete(token);
    this.#held -= stanzas.length;
    return stanzas;
  }

  #keepLate(token: string): void {
    const stanzas = this.#letGo(token);
    if (stanzas.length === 0) return;
    this.#late.set(token, stanzas);
    this.#lateWords += stanzas.length;
    for (const oldest of this.#late.keys()) {
      if (this.#lateWords <= MOST_LATE) break;
      this.#forgetLate(oldest);
    }
  }

  #forgetLate(token: string): readonly HeldStanza[] {
    const stanzas = this.#late.get(token) ?? [];
    this.#late.delete(token);
    this.#lateWords -= stanzas.length;
    return stanzas;
  }

  /** The address by number; undefined where the network tells none, also where the lookup fails. */
  async #numberOf(address: string): Promise<string | undefined> {
    if (isNumberAddress(address)) return address;
    const byNumber = await this.#options.numberOf(address).catch(() => undefined);
    return byNumber && personOf(byNumber);
  }
}
