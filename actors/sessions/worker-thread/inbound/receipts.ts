import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from '@whiskeysockets/baileys';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import { partsOf } from '../../../../runtime/parts.ts';
import type { StanzaReceipt } from '../../session-events.ts';
import type { SessionContext } from '../shared/session-context.ts';
import { isGroupAddress, isLidAddress, isNumberAddress, userOf } from '../wire/chat-address.ts';
import { personOf } from '../wire/inbound-message.ts';

/** Receipts of one event to the actor. */
const MOST_AT_ONCE = 200;
/** Receipts that wait to be reported or committed. Any more are acknowledged and never reported. */
const MOST_WAITING = 5_000;
/**
 * How long a commit may take before a reported stanza is acknowledged anyway, in milliseconds. A stanza that is never
 * acknowledged ends the stream (docs/chat-client.md, Answers to stanzas).
 */
export const LONGEST_HOLD_MS = MINUTE_MS;

/** The meaning of a receipt's `type`. Other types come from our own devices, ask for a retry, or mean nothing. */
const KINDS: ReadonlyMap<string | undefined, StanzaReceipt['kind']> = new Map([
  [undefined, 'delivered'],
  ['delivery', 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
] as const);

/** A stanza `receipt` with reports that wait to be sent or committed. */
interface HeldStanza {
  /** Reports of it that are not committed. */
  reportsLeft: number;
  readonly onCommitted: () => void;
}

/** One report of a stanza that waits to be sent. */
interface WaitingReport {
  readonly receipt: StanzaReceipt;
  readonly stanza: HeldStanza;
}

/** A receipt of one person's device for some stanzas. */
interface DeviceReport {
  readonly sender: string;
  readonly wireIds: readonly string[];
  readonly type: string | undefined;
  readonly atMs: number;
}

export interface ReceiptsOptions {
  readonly ownAddresses: () => readonly string[];
  /** Returns the number for the network's own id of a person, or undefined if the network names none. */
  readonly numberOf: (lid: string) => Promise<string | undefined>;
  /** True if a person with these addresses is known not to be a member of that group. */
  readonly isOutside: (group: string, addresses: readonly string[]) => boolean;
  /** Returns the wire id of the order of a stanza. It differs if the message went to a new address. */
  readonly orderedAs: (wireId: string) => Promise<string>;
  /** True while the order of that stanza waits for its outcome, which must be reported first. */
  readonly isPending: (wireId: string) => boolean;
  /** Called when receipts wait to be reported, which may be the outcome of a pending order. */
  readonly onHeld: () => void;
}

/**
 * The reports of recipients' devices about one session's stanzas. They are read from the stanza `receipt` itself, since
 * the client reports only stanzas that its own history has. The stanza is acknowledged once its reports are committed.
 */
export class Receipts {
  readonly #context: SessionContext;
  readonly #options: ReceiptsOptions;
  #waiting: WaitingReport[] = [];
  /** Reports that were sent and are not committed, by their token. */
  readonly #reported = new Map<string, readonly HeldStanza[]>();
  #tokens = 0;
  /** Reports that wait to be sent or committed. */
  #held = 0;
  /** Receipts above the limit, which are acknowledged and not reported. */
  #dropped = 0;
  #isArmed = false;

  constructor(context: SessionContext, options: ReceiptsOptions) {
    this.#context = context;
    this.#options = options;
  }

  /**
   * Takes a `receipt` and reports it. A receipt of a stanza between the shop's own devices is ignored, and so is one
   * from a person outside the group. While the members are not known yet each receipt counts, because stanzas that
   * waited come before the groups.
   *
   * Resolves when the stanza may be acknowledged: with its commit, and at the latest a minute after it was reported. If
   * it has no effect, or too many wait, it resolves at once.
   */
  async onReceipt(node: BinaryNode): Promise<void> {
    const { from = '', recipient } = node.attrs;
    if (recipient !== undefined) return;
    const group = isGroupAddress(from) ? from : undefined;
    const receipts: StanzaReceipt[] = [];
    for (const { sender, wireIds, type, atMs } of reportsIn(node, group)) {
      const kind = KINDS.get(type);
      const person = kind && (await this.#personBehind(sender, group));
      if (kind === undefined || person === undefined) continue;
      const orders = await Promise.all(wireIds.map((wireId) => this.#options.orderedAs(wireId)));
      for (const wireId of new Set(orders)) receipts.push({ wireId, kind, ...person, group, atMs });
    }
    if (receipts.length === 0) return;
    if (this.#held + receipts.length > MOST_WAITING) {
      this.#dropped += receipts.length;
      this.#arm();
      return;
    }
    await new Promise<void>((resolve) => {
      const stanza = { reportsLeft: receipts.length, onCommitted: resolve };
      for (const receipt of receipts) this.#waiting.push({ receipt, stanza });
      this.#held += receipts.length;
      this.#options.onHeld();
      this.#arm();
    });
  }

  /** True if a receipt of that order, from its recipient or a member of its group, waits to be reported. */
  holds(wireId: string, { to, chat }: { readonly to: string; readonly chat: string }): boolean {
    return this.#waiting.some(({ receipt: { wireId: reportedId, from, lid, group } }) => {
      if (reportedId !== wireId) return false;
      return group === undefined ? from === to || from === chat || lid === chat : group === chat;
    });
  }

  /** The receipts that were reported under the token are committed, or were waited for long enough. */
  confirm(token: string): void {
    const stanzas = this.#reported.get(token) ?? [];
    this.#reported.delete(token);
    this.#held -= stanzas.length;
    for (const stanza of stanzas) {
      stanza.reportsLeft -= 1;
      if (stanza.reportsLeft === 0) stanza.onCommitted();
    }
  }

  /**
   * Reports all that waits, because the session ends. It leaves out receipts of orders that are kept for the next
   * connection. They are not acknowledged, so the network delivers them again.
   */
  close(): void {
    this.#reportReady();
  }

  /**
   * Reports what waits at the next moment that all sessions of the worker share, except receipts of pending orders. So
   * a group's receipts cost its shop a few turns instead of hundreds, and reports of many shops are committed together.
   */
  #arm(): void {
    if (this.#isArmed || (this.#waiting.length === 0 && this.#dropped === 0)) return;
    this.#isArmed = true;
    this.#context.environment.sharedDeadlines.add(() => {
      if (this.#context.hasEnded) return;
      this.#isArmed = false;
      if (this.#dropped > 0)
        this.#context.log({ count: this.#dropped }, 'too many receipts at once: some are not reported');
      this.#dropped = 0;
      this.#reportReady();
      this.#arm();
    }, 0);
  }

  #reportReady(): void {
    const { isPending } = this.#options;
    const readyReports = this.#waiting.filter(({ receipt }) => !isPending(receipt.wireId));
    this.#waiting = this.#waiting.filter(({ receipt }) => isPending(receipt.wireId));
    this.#report(readyReports);
  }

  #report(readyReports: readonly WaitingReport[]): void {
    for (const part of partsOf(readyReports, MOST_AT_ONCE)) {
      this.#tokens += 1;
      // The generation makes it differ from the tokens of the shop's other sessions.
      const token = `receipts ${this.#context.opening.generation}.${this.#tokens}`;
      const stanzas = part.map(({ stanza }) => stanza);
      this.#reported.set(token, stanzas);
      this.#context.later(LONGEST_HOLD_MS, () => this.confirm(token));
      const receipts = part.map(({ receipt }) => receipt);
      this.#context.emit({ type: 'session.receipts', token, receipts });
    }
  }

  /**
   * Returns the sender: E.164 if the number is known, as everywhere outside the session, else the network's own id. A
   * stanza may have gone to the id before the number was known, so a person comes with both.
   *
   * Undefined for devices of our own, for people who are not members of the group, and if the sender is not a person.
   */
  async #personBehind(
    sender: string,
    group: string | undefined,
  ): Promise<Pick<StanzaReceipt, 'from' | 'lid'> | undefined> {
    if (!isNumberAddress(sender) && !isLidAddress(sender)) return undefined;
    if (this.#options.ownAddresses().includes(sender)) return undefined;
    const byNumber = await this.#numberOf(sender);
    const addresses = byNumber === undefined || byNumber === sender ? [sender] : [sender, byNumber];
    if (group !== undefined && this.#options.isOutside(group, addresses)) return undefined;
    if (byNumber === undefined) return { from: sender };
    const fromNumber = `+${userOf(byNumber)}`;
    return group === undefined && isLidAddress(sender)
      ? { from: fromNumber, lid: sender }
      : { from: fromNumber };
  }

  /** Returns the address by number; undefined if the network names none or the lookup fails. */
  async #numberOf(address: string): Promise<string | undefined> {
    if (isNumberAddress(address)) return address;
    const byNumber = await this.#options.numberOf(address).catch(() => undefined);
    return byNumber && personOf(byNumber);
  }
}

/**
 * Returns the senders of the reports and their stanzas. One stanza may have the reports of many members of a group
 * about one message. With `message_id` each report has its own type, with `key` all have the stanza's (tulir/whatsmeow,
 * receipt.go; oxidezap/whatsapp-rust, src/receipt.rs).
 */
function reportsIn(node: BinaryNode, group: string | undefined): DeviceReport[] {
  const { id, from = '', participant, type, t } = node.attrs;
  if (group !== undefined && participant === undefined) {
    return getBinaryNodeChildren(node, 'participants').flatMap((message) => {
      const wireId = message.attrs.message_id ?? message.attrs.key;
      return getBinaryNodeChildren(message, 'user').map(({ attrs }) => ({
        sender: personOf(attrs.jid ?? ''),
        wireIds: wireId === undefined ? [] : [wireId],
        type: attrs.type ?? type,
        atMs: timeOf(attrs.t ?? t),
      }));
    });
  }
  if (id === undefined) return [];
  const items = getBinaryNodeChildren(getBinaryNodeChild(node, 'list'), 'item');
  const wireIds = new Set([id, ...items.flatMap(({ attrs }) => attrs.id ?? [])]);
  const sender = personOf(group === undefined ? from : (participant ?? ''));
  return [{ sender, wireIds: [...wireIds], type, atMs: timeOf(t) }];
}

const timeOf = (seconds: string | undefined): number => (Number(seconds) || 0) * 1_000;
