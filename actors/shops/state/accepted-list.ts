import { DAY_MS } from '../../../policy/durations.ts';
import { decodeEntry, encodeEntry, type LedgerEntry } from '../../../policy/ledger-entry.ts';
import { shardCount, shardOf } from '../../../runtime/address.ts';
import type { DueTimer } from '../../../runtime/behaviour.ts';
import { isObjectId } from '../../../runtime/object-id.ts';
import { dayEndsMs, dayOf, dayOfMessage } from './message-days.ts';

/*
 * The list of what a shop was let send, in order: a message's id and what the policy counts for it, in one element.
 * It is the index of the shop's messages, its queue (what has not ended among the last of them) and its ledger. An
 * element without an id counts a message that was carried for another shop. Lists that an earlier version of the
 * program began hold ids alone before they hold entries alone.
 */

const ID_CHARACTERS = 24;

/** The element for a message of the shop's own, or for one that it carries. */
export function encodeAccepted(messageId: string | undefined, entry: LedgerEntry): string {
  return (messageId ?? '') + encodeEntry(entry);
}

/** The id of an element's message; undefined when it is another shop's. An entry has a dot where an id has none. */
export function messageIdOf(element: string): string | undefined {
  const start = element.slice(0, ID_CHARACTERS);
  return isObjectId(start) ? start : undefined;
}

/** What the policy counts of an element, as `decodeEntry` reads it; empty where it holds an id alone. */
export function entryTextOf(element: string): string {
  return messageIdOf(element) === undefined ? element : element.slice(ID_CHARACTERS);
}

/** How many of the oldest elements have been kept long enough. */
export function overdueElements(
  oldest: readonly string[],
  { retentionMs, nowMs }: { readonly retentionMs: number; readonly nowMs: number },
): number {
  const kept = oldest.findIndex((element) => {
    return dayEndsMs(dayOfElement(element), retentionMs) > nowMs;
  });
  return kept === -1 ? oldest.length : kept;
}

/** When a shop's list is cut next: once a day, each shop at a time of its own. */
export function nextCutMs(shopId: string, nowMs: number): number {
  const ofDayMs = Math.floor((shardOf(shopId) / shardCount()) * DAY_MS);
  return (Math.floor((nowMs - ofDayMs) / DAY_MS) + 1) * DAY_MS + ofDayMs;
}

/** The timer of that; a list that is empty needs none. */
export function cutTimer({ next, cut, cutDueAtMs }: AcceptedList): DueTimer | undefined {
  return next > cut ? { id: 'cut', dueAtMs: cutDueAtMs } : undefined;
}

/** The day an element is of; none (NaN) where it cannot be read, so that it is not kept. */
function dayOfElement(element: string): number {
  const messageId = messageIdOf(element);
  if (messageId !== undefined) return dayOfMessage(messageId);
  try {
    return dayOf(decodeEntry(element).atMs);
  } catch {
    return Number.NaN;
  }
}

/**
 * How far a shop's list has come. Changed in place once a commit holds, as the ledger is. A place counts from the
 * head that the list had when the actor was loaded, so that it stays the same when the list is cut.
 */
export class AcceptedList {
  /** The place of the next element. */
  next: number;
  /** All messages before this place have ended, as is stored; some behind it may have. */
  settled: number;
  /** How many elements were cut from the head. */
  cut = 0;
  /** When what has been kept long enough is cut from the head. */
  cutDueAtMs: number;
  /** The newest day whose messages were given their expiry by this actor. */
  expiringDay: number | undefined;
  /** The newest day whose stanzas' index was given its expiry by this actor. */
  indexedDay: number | undefined;

  /** The newest day whose inbound messages were given their expiry by this actor. */
  inboundDay: number | undefined;

  constructor(next: number, settled: number, cutDueAtMs: number) {
    this.next = next;
    this.settled = settled;
    this.cutDueAtMs = cutDueAtMs;
  }
}
