import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from '@whiskeysockets/baileys';
import type { StanzaReceipt } from '../../session-host.ts';
import { isGroupAddress, isLidAddress, isNumberAddress, userOf } from '../wire/chat-address.ts';
import { personOf } from '../wire/inbound-message.ts';

/** Receipts of one word to the actor. */
const MOST_AT_ONCE = 200;
/** Receipts that wait to be reported or committed. Any more are acknowledged and never reported. */
const MOST_WAITING = 5_000;
/**
 * How long a commit may take before a reported stanza is acknowledged anyway, in milliseconds: a stanza that is never
 * acknowledged ends the stream (docs/chat-client.md, Answers to stanzas).
 */
export const LONGEST_HOLD_MS = 60_000;

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

/** A receipt of one person's device for some stanzas. */
interface Said {
  readonly sender: string;
  readonly wireIds: readonly string[];
  readonly atMs: number;
}

/** The parts and callbacks of a session that receipts use. */
export interface ReceiptsOptions {
  readonly ownAddresses: () => readonly string[];
  /** The number behind the network's own id of a person; undefined where it tells none. */
  readonly numberOf: (lid: string) => Promise<string | undefined>;
  /** Whether somebody with these addresses is known to be no member of that group. */
  readonly isOutside: (group: string, addresses: readonly string[]) => boolean;
  /** The wire id that the order of a stanza was given with; another where it went to a new address. */
  readonly orderedAs: (wireId: string) => Promise<string>;
  /** Whether the order of that stanza still waits for its outcome, which is to be told first. */
  readonly isPending: (wireId: string) => boolean;
  /**
   * Acts at the next moment that all sessions of the worker share, unless the session has ended: what a group says costs
   * its shop a few turns and not hundreds, and what many shops are told is read and committed together.
   */
  readonly atSharedMoment: (act: () => void) => void;
  /** Acts after `LONGEST_HOLD_MS`, unless the session has ended. */
  readonly afterLongestHold: (act: () => void) => void;
  /** So many receipts were too many at once, and are acknowledged and dropped. */
  readonly dropped: (count: number) => void;
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
  #tokens = 0;
  /** Words that wait to be told or committed. */
  #held = 0;
  #dropped = 0;
  #isArmed = false;

  constructor(options: ReceiptsOptions) {
    this.#options = options;
  }

  /**
   * Takes a `receipt`; nothing comes of one that is not about what this shop sent to others, or that is about a group of
   * which its sender is no member. Where the members are not known it counts: what waited while the session was away
   * comes before the groups are told, and would be lost. Resolves when the stanza may be acknowledged: at once where nothing
   * comes of it or too many wait, else with its commit, and at the latest a minute after it was reported.
   */
  async received(node: BinaryNode): Promise<void> {
    const { from = '', recipient, type } = node.attrs;
    const kind = KINDS.get(type);
    if (kind === undefined || recipient !== undefined) return;
    const group = isGroupAddress(from) ? from : undefined;
    const receipts: StanzaReceipt[] = [];
    for (const { sender, wireIds, atMs } of saidIn(node, group)) {
      const person = await this.#personBehind(sender, group);
      if (person === undefined) continue;
      const orders = await Promise.all(wireIds.map((named) => this.#options.orderedAs(named)));
      for (const wireId of new Set(orders)) receipts.push({ wireId, kind, from: person, group, atMs });
    }
    if (receipts.length === 0) return;
    if (this.#held + receipts.length > MOST_WAITING) {
      this.#dropped += receipts.length;
      this.#arm();
      return;
    }
    await new Promise<void>((committed) => {
      const stanza = { left: receipts.length, committed };
      for (const receipt of receipts) this.#waiting.push({ receipt, stanza });
      this.#held += receipts.length;
      this.#arm();
    });
  }

  /** The receipts that were reported under the token are committed, or were waited for long enough. */
  confirm(token: string): void {
    const stanzas = this.#told.get(token) ?? [];
    this.#told.delete(token);
    this.#held -= stanzas.length;
    for (const stanza of stanzas) {
      stanza.left -= 1;
      if (stanza.left === 0) stanza.committed();
    }
  }

  /** Tells what waits: the session ends, and with it all orders have their outcomes. */
  close(): void {
    this.#tell(this.#waiting.splice(0));
  }

  #arm(): void {
    if (this.#isArmed || (this.#waiting.length === 0 && this.#dropped === 0)) return;
    this.#isArmed = true;
    this.#options.atSharedMoment(() => {
      this.#isArmed = false;
      const { isPending, dropped } = this.#options;
      const ready = this.#waiting.filter(({ receipt }) => !isPending(receipt.wireId));
      this.#waiting = this.#waiting.filter(({ receipt }) => isPending(receipt.wireId));
      if (this.#dropped > 0) dropped(this.#dropped);
      this.#dropped = 0;
      this.#tell(ready);
      this.#arm();
    });
  }

  #tell(ready: readonly Waiting[]): void {
    const { generation, afterLongestHold, report } = this.#options;
    for (let from = 0; from < ready.length; from += MOST_AT_ONCE) {
      const together = ready.slice(from, from + MOST_AT_ONCE);
      this.#tokens += 1;
      const token = `receipts ${generation}.${this.#tokens}`;
      this.#told.set(
        token,
        together.map(({ stanza }) => stanza),
      );
      afterLongestHold(() => this.confirm(token));
      report(
        token,
        together.map(({ receipt }) => receipt),
      );
    }
  }

  /**
   * Returns the person who said it: E.164 where the number is known, as everywhere beyond the session, else the
   * network's own id. Undefined for devices of our own, for anyone who is no member of the group, and where the sender
   * is no person.
   */
  async #personBehind(sender: string, group: string | undefined): Promise<string | undefined> {
    if (!isNumberAddress(sender) && !isLidAddress(sender)) return undefined;
    if (this.#options.ownAddresses().includes(sender)) return undefined;
    const byNumber = await this.#numberOf(sender);
    const addresses = byNumber === undefined || byNumber === sender ? [sender] : [sender, byNumber];
    if (group !== undefined && this.#options.isOutside(group, addresses)) return undefined;
    return byNumber === undefined ? sender : `+${userOf(byNumber)}`;
  }

  /** The address by number; undefined where the network tells none, also where the lookup fails. */
  async #numberOf(address: string): Promise<string | undefined> {
    if (isNumberAddress(address)) return address;
    const byNumber = await this.#options.numberOf(address).catch(() => undefined);
    return byNumber && personOf(byNumber);
  }
}

/**
 * Returns who says it of which stanzas. One stanza may have what many members of a group say (tulir/whatsmeow,
 * receipt.go).
 */
function saidIn(node: BinaryNode, group: string | undefined): Said[] {
  const { id, from = '', participant, t } = node.attrs;
  if (group !== undefined && participant === undefined) {
    return getBinaryNodeChildren(node, 'participants').flatMap((said) =>
      getBinaryNodeChildren(said, 'user').map(({ attrs }) => ({
        sender: personOf(attrs.jid ?? ''),
        wireIds: said.attrs.key === undefined ? [] : [said.attrs.key],
        atMs: timeOf(attrs.t),
      })),
    );
  }
  if (id === undefined) return [];
  const items = getBinaryNodeChildren(getBinaryNodeChild(node, 'list'), 'item');
  const wireIds = new Set([id, ...items.flatMap(({ attrs }) => attrs.id ?? [])]);
  return [
    {
      sender: personOf(group === undefined ? from : (participant ?? '')),
      wireIds: [...wireIds],
      atMs: timeOf(t),
    },
  ];
}

const timeOf = (seconds: string | undefined): number => (Number(seconds) || 0) * 1_000;
