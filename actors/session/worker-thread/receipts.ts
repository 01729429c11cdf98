import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from '@whiskeysockets/baileys';
import type { StanzaReceipt } from '../session-host.ts';
import { isGroupId, isLidAddress, isNumberAddress, userOf } from './chat-address.ts';
import { personOf } from './inbound-message.ts';

/** Receipts are told together after this long, so that a group costs its shop a few turns and not hundreds. */
const GATHER_MS = 250;
/** Receipts of one word to the actor. */
const MOST_AT_ONCE = 200;
/** Receipts that wait; what is more is given up, as a network that floods the shop deserves no memory. */
const MOST_WAITING = 5_000;

/** What a receipt's `type` says; others are of our own devices, ask for a retry, or say nothing. */
const KINDS: ReadonlyMap<string | undefined, StanzaReceipt['kind']> = new Map([
  [undefined, 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
] as const);

/** The parts and callbacks of a session that receipts use. */
export interface ReceiptsOptions {
  readonly ownAddresses: () => readonly string[];
  /** The number behind the network's own id of a person; undefined where it tells none. */
  readonly numberOf: (lid: string) => Promise<string | undefined>;
  /** Whether somebody with these addresses is known to be no member of that group. */
  readonly isOutside: (group: string, addresses: readonly string[]) => boolean;
  /** Whether the order of that stanza still waits for its outcome, which is to be told first. */
  readonly isPending: (wireId: string) => boolean;
  readonly later: (delayMs: number, act: () => void) => void;
  readonly report: (receipts: readonly StanzaReceipt[]) => void;
}

/**
 * What recipients' devices say of one session's stanzas: read from the stanza `receipt` itself, since the client tells
 * of those alone that it knows by its own history.
 */
export class Receipts {
  readonly #options: ReceiptsOptions;
  #waiting: StanzaReceipt[] = [];
  #isArmed = false;

  constructor(options: ReceiptsOptions) {
    this.#options = options;
  }

  /**
   * Takes a `receipt`; nothing comes of one that is not about what this shop sent to others, or that is about a group of
   * which its sender is no member. Where the members are not known it counts: what waited while the session was away
   * comes before the groups are told, and would be lost.
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
    for (const wireId of new Set([id, ...items.flatMap(({ attrs }) => attrs.id ?? [])])) {
      if (this.#waiting.length >= MOST_WAITING) return;
      this.#waiting.push({ wireId, kind, from: person, group, atMs });
    }
    this.#arm();
  }

  /** Tells what waits: the session ends, and with it all orders have their outcomes. */
  close(): void {
    this.#tell(this.#waiting.splice(0));
  }

  #arm(): void {
    if (this.#isArmed || this.#waiting.length === 0) return;
    this.#isArmed = true;
    this.#options.later(GATHER_MS, () => {
      this.#isArmed = false;
      const { isPending } = this.#options;
      const ready = this.#waiting.filter(({ wireId }) => !isPending(wireId));
      this.#waiting = this.#waiting.filter(({ wireId }) => isPending(wireId));
      this.#tell(ready);
      this.#arm();
    });
  }

  #tell(receipts: readonly StanzaReceipt[]): void {
    for (let from = 0; from < receipts.length; from += MOST_AT_ONCE) {
      this.#options.report(receipts.slice(from, from + MOST_AT_ONCE));
    }
  }

  /** The address by number; undefined where the network tells none, also where the lookup fails. */
  async #numberOf(address: string): Promise<string | undefined> {
    if (isNumberAddress(address)) return address;
    const byNumber = await this.#options.numberOf(address).catch(() => undefined);
    return byNumber && personOf(byNumber);
  }
}
