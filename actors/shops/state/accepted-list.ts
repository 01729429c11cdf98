/**
 * The list of a shop's accepted sends, in order. An element has a message's id and its policy entry. Once the message
 * was cancelled, it has the id alone. The list is the index of the shop's messages, its queue (the ones that have not
 * ended) and its ledger. An element without an id is no message of this shop. It counts one carried for another shop,
 * or sent through the number by its last shop. Or it fills a ledger that was unreadable. It is empty once a carried
 * message was cancelled. A list that 0.1.0 began has elements with an id alone at its head, too.
 */
import { decodeEntry, encodeEntry, type LedgerEntry } from '../../../policy/ledger-entry.ts';
import { shardCount, shardOf } from '../../../runtime/address.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import { isObjectId, madeAtMs } from '../../../runtime/object-id.ts';
import { dayEndsMs, dayOf, type Retention } from '../records/message-days.ts';

const ID_CHARACTERS = 24;

/** Returns the element for a message of the shop's own, or for one that it carries. */
export function encodeAccepted(messageId: string | undefined, entry: LedgerEntry): string {
  return (messageId ?? '') + encodeEntry(entry);
}

/**
 * Returns the id of an element's message, or undefined if it is no message of the shop. An entry has a dot, and an id
 * has none.
 */
export function messageIdOf(element: string): string | undefined {
  const start = element.slice(0, ID_CHARACTERS);
  return isObjectId(start) ? start : undefined;
}

/** Returns the policy entry of an element, as `decodeEntry` reads it; empty if it has an id alone. */
export function entryTextOf(element: string): string {
  return messageIdOf(element) === undefined ? element : element.slice(ID_CHARACTERS);
}

/** Counts the oldest elements whose retention is over. */
export function overdueElements(elements: readonly string[], { retentionMs, nowMs }: Retention): number {
  // An element that contains no time is not kept.
  const firstKept = elements.findIndex((element) => {
    const atMs = addedAtMs(element);
    return atMs !== undefined && dayEndsMs(dayOf(atMs), retentionMs) > nowMs;
  });
  return firstKept === -1 ? elements.length : firstKept;
}

/** Returns when a shop's list is cut next: once a day, at a time that depends on its id. */
export function nextCutMs(shopId: string, nowMs: number): number {
  const ofDayMs = Math.floor((shardOf(shopId) / shardCount()) * DAY_MS);
  return (Math.floor((nowMs - ofDayMs) / DAY_MS) + 1) * DAY_MS + ofDayMs;
}

/** Returns when a list is cut next. An empty list is not. */
export function listCutDueAtMs({ next, cut, cutDueAtMs }: AcceptedList): number | undefined {
  return next > cut ? cutDueAtMs : undefined;
}

/** Returns when an element was added, in milliseconds since the Unix epoch. Undefined if it contains no time. */
export function addedAtMs(element: string): number | undefined {
  const messageId = messageIdOf(element);
  if (messageId !== undefined) return madeAtMs(messageId);
  try {
    return decodeEntry(element).atMs;
  } catch {
    return undefined;
  }
}

/**
 * The positions in a shop's list, and the days whose expiry was set. Changed in place once a commit succeeds, like the
 * ledger. A position counts from the head at the time the actor was loaded, so that it stays valid when the list is
 * cut.
 */
export class AcceptedList {
  /** The position of the next element. */
  next: number;
  /** All messages before this position have ended, as is stored. Some after it may have. */
  ended: number;
  /** How many elements were cut from the head. */
  cut = 0;
  /** The time of the next cut of old elements from the head. */
  cutDueAtMs: number;
  /** The newest day for which this actor set the expiry of messages. */
  expiringDay: number | undefined;
  /** The newest day for which this actor set the expiry of the stanzas' index. */
  indexedDay: number | undefined;
  /** The newest day for which this actor set the expiry of inbound messages. */
  inboundDay: number | undefined;

  constructor(next: number, ended: number, cutDueAtMs: number) {
    this.next = next;
    this.ended = ended;
    this.cutDueAtMs = cutDueAtMs;
  }
}
