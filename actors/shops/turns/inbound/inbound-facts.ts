import { createHash } from 'node:crypto';
import { isSameRecipient, numberForms } from '../../../../policy/number-forms.ts';
import { isOptOut } from '../../../../policy/opt-out.ts';
import { isNetworkId, isPhoneNumber } from '../../../../policy/recipient.ts';
import type { SessionEventOf } from '../../../sessions/session-events.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import { readWriter } from '../../reading/recipient-facts.ts';
import { carriedForRead, originsOf } from '../../records/carried-for.ts';
import { type KnownPerson, readPerson } from '../../records/person-ids.ts';
import { decodeSent, sentReads } from '../../records/sent-index.ts';
import type { Writer } from '../../records/writer.ts';
import type { ShopReference } from '../../shop-operations.ts';
import type { ShopState } from '../../state/shop-state.ts';
import type { FactSources } from '../builder/fact-sources.ts';
import { isSentTo } from '../people/recipient-alias.ts';

type Inbound = SessionEventOf<'session.inbound'>;

/** The facts about the person who sent an inbound message. */
export interface SenderFacts {
  /** The address under which the sender is stored: a number if one is known, else the network's own id. */
  readonly writtenBy: string;
  /** The stored writer, whichever form of their number it is under. */
  readonly writer?: Writer | undefined;
  /** The other form of that number, if data is stored under it. */
  readonly wroteAs?: string | undefined;
  /**
   * The network's own id (LID) that must be linked to `writtenBy` now. There are three cases. The message names the
   * number, and the shop has data under the id or the person opted out. Or the message names another number than the
   * one that the id is linked to. Or the person has no known number, and writes to the shop for the first time.
   */
  readonly lidToLink?: string | undefined;
}

/** The facts for the turn on an inbound message. */
export interface InboundFacts extends SenderFacts {
  /** True if its text is an opt-out keyword (docs/contract.md, Opt-out). */
  readonly optsOut: boolean;
  /** For an opt-out: the shops for which this shop of the pool lately wrote to the sender. */
  readonly carriedFor?: readonly ShopReference[];
  /** Set if it must be published to the tenant. */
  readonly event?: EventFacts | undefined;
}

/** The facts of an inbound message that must be published to the tenant. */
export interface EventFacts {
  readonly person: KnownPerson;
  /** The number of that person, and the network's own id of them, as far as the shop knows them now. */
  readonly number: string | undefined;
  readonly lid: string | undefined;
  /** The message was published to the tenant before. */
  readonly isReceived: boolean;
  /** The id of our message that it quotes or reacts to. */
  readonly quotedMessageId: string | null;
}

/**
 * Reads the sender of an inbound message, and the facts to publish it. A turn without them throws, because a STOP would
 * count for no one.
 */
export async function readInbound(
  state: ShopState,
  event: Inbound,
  sources: FactSources,
): Promise<{ readonly received: InboundFacts }> {
  const optsOut = isOptOut(event.text);
  const sender = optsOut
    ? await readOptOut(state, event, sources)
    : await readSender(state, { ...event, optsOut }, sources);
  const eventFacts = await readEventFacts(state, event, sender.writtenBy, sources);
  return { received: { ...sender, optsOut, event: eventFacts } };
}

/**
 * Reads the sender of a message. A person with a known number is stored under the number, also if the network names
 * only its own id of them. Their last message counts under each address: the forms of the number, the id, and another
 * number that the id had before.
 */
async function readSender(
  state: ShopState,
  { from, lid: senderAddress = from, optsOut }: Pick<Inbound, 'from' | 'lid'> & Pick<InboundFacts, 'optsOut'>,
  { store, nowMs }: FactSources,
): Promise<SenderFacts> {
  const lid = isNetworkId(senderAddress) ? senderAddress : undefined;
  const person = { to: lid ?? from, more: numberForms(from) };
  const { writer, alias, storedUnder } = await readWriter(state, person, store);
  const isHidden = !isPhoneNumber(from);
  const writtenBy = isHidden && alias !== undefined ? alias : from;
  const [, otherForm] = numberForms(writtenBy);
  const wroteAs = storedUnder.find((address) => address === otherForm);
  // An erasure may remove an id while a message from it stays. No reply to that message may leave after an opt-out.
  const hasOptedOut = optsOut || writer?.optedOut === true;
  const mustLink =
    lid !== undefined &&
    (alias === undefined
      ? isHidden || hasOptedOut || storedUnder.includes(lid) || isSentTo(state, lid, nowMs)
      : !isSameRecipient(alias, writtenBy));
  return { writtenBy, writer, wroteAs, lidToLink: mustLink ? lid : undefined };
}

/** Reads the person who opted out at the pool. */
export async function readOptOutAtPool(
  state: ShopState,
  command: CommandOf<'pool.opt_out'>,
  sources: FactSources,
): Promise<{ readonly sender: SenderFacts }> {
  return { sender: await readSender(state, { ...command, optsOut: true }, sources) };
}

/** Reads the person who opts out. Adds the shops for which this shop of the pool lately wrote to that person. */
async function readOptOut(
  state: ShopState,
  event: Inbound,
  sources: FactSources,
): Promise<SenderFacts & Pick<InboundFacts, 'carriedFor'>> {
  const [sender, [carriedFor]] = await Promise.all([
    readSender(state, { ...event, optsOut: true }, sources),
    sources.store.read([carriedForRead(state.keys, sources.nowMs)]),
  ]);
  return { ...sender, carriedFor: originsOf(carriedFor, sender.writtenBy) };
}

/**
 * Reads the facts, or returns undefined if the tenant receives no inbound events. `writtenBy` is the person, as the
 * shop knows them now.
 */
async function readEventFacts(
  state: ShopState,
  { content, wireId, lid: senderAddress }: Inbound,
  writtenBy: string,
  sources: FactSources,
): Promise<EventFacts | undefined> {
  if (content === undefined || state.inbound === 'none') return undefined;
  const { store, nowMs } = sources;
  const number = isPhoneNumber(writtenBy) ? writtenBy : undefined;
  const lid = senderAddress ?? (number === undefined ? writtenBy : undefined);
  const person = await readPerson(state.shop.tenantId, { number, lid }, sources);
  const marks = person.ids.map((id) => receivedMark(id, wireId));
  const quoteReads = content.quotes === null ? [] : sentReads(state.keys, [content.quotes], nowMs);
  const [scores, stanzas] = await Promise.all([
    store.read(marks.map((mark) => ['ZSCORE', state.keys.inboundReceived, mark])),
    store.read(quoteReads),
  ]);
  // A quote counts for as long as the stanza is found, longer than a receipt does.
  const quotedStanza = stanzas.map(([text]) => decodeSent(text, 0)).find((stanza) => stanza !== undefined);
  const isReceived = scores.some((score) => score !== null);
  return { person, number, lid, isReceived, quotedMessageId: quotedStanza?.messageId ?? null };
}

/** Returns a mark for one stanza of one person, since each person's phone chooses its stanzas' ids. */
export function receivedMark(personId: string, wireId: string): string {
  return createHash('sha256').update(`${personId} ${wireId}`).digest().subarray(0, 16).toString('base64url');
}
