/**
 * Maps stanzas to messages, so that receipts find the message's record. There is one hash for each UTC day and shop. It
 * is written with the commit before the stanza leaves, and expires as a whole: 80 bytes a message for three days.
 */
import { isSameRecipient } from '../../../policy/number-forms.ts';
import { isGroupId } from '../../../policy/recipient.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import type { Read, Write } from '../../../runtime/store.ts';
import { dayOf } from './message-days.ts';
import type { ShopKeys } from './shop-keys.ts';

/** How long after a message left a receipt still counts. */
const RECEIPTS_COUNT_MS = 2 * DAY_MS;
/** Days that may contain stanzas from that time, including today. */
const LIVE_DAYS = 3;
/** The number of names in rotation: a name is used again a day after its hash has expired. */
const NAMES = LIVE_DAYS + 1;

type Keys = Pick<ShopKeys, 'shop'>;

/** A stanza that left. */
export interface SentStanza {
  readonly messageId: string;
  /** When it left, milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** The number that the network knows in E.164 with plus, the network's own id of a person, or a group id. */
  readonly to: string;
  /** The network's own id of a person if it was known, else an empty text. */
  readonly lid: string;
}

/** Returns all keys that the index may have. */
export function sentIndexKeys({ shop }: Keys): string[] {
  return Array.from({ length: NAMES }, (_, name) => `${shop}:on-wire:${name}`);
}

function keyOfDay(keys: Keys, day: number): string {
  return `${keys.shop}:on-wire:${day % NAMES}`;
}

/** Stores the message of a stanza under its wire id. */
export function sentWrite(keys: Keys, wireId: string, { messageId, atMs, to, lid }: SentStanza): Write {
  return ['HSET', keyOfDay(keys, dayOf(atMs)), wireId, `${messageId} ${atMs} ${to} ${lid}`];
}

/** Returns the write that expires a day's part when receipts for it no longer count. */
export function sentExpiry(keys: Keys, day: number): Write {
  return ['PEXPIREAT', keyOfDay(keys, day), (day + LIVE_DAYS) * DAY_MS];
}

/** Stores that a member of a group has the message, or read it. */
export function memberWrite(keys: Keys, member: string, { atMs }: Pick<SentStanza, 'atMs'>): Write {
  return ['HSET', keyOfDay(keys, dayOf(atMs)), member, ''];
}

/** Returns the reads of these fields, which are wire ids and members, from each day's part. */
export function sentReads(keys: Keys, fields: readonly string[], nowMs: number): Read<'HMGET'>[] {
  const today = dayOf(nowMs);
  return Array.from(
    { length: LIVE_DAYS },
    (_, daysAgo): Read<'HMGET'> => ['HMGET', keyOfDay(keys, today - daysAgo), ...fields],
  );
}

/** Reads a stanza back, or undefined if it is not ours or too old. */
export function decodeSent(text: string | null | undefined, nowMs: number): SentStanza | undefined {
  if (!text) return undefined;
  const [messageId = '', atMs = '', to = '', lid = ''] = text.split(' ');
  const sent = { messageId, atMs: Number(atMs), to, lid };
  return nowMs - sent.atMs > RECEIPTS_COUNT_MS ? undefined : sent;
}

/** True if a receipt for this stanza may come from this sender: its recipient, or a member of its group. */
export function isFromRecipient(
  { to, lid }: SentStanza,
  sender: { readonly from: string; readonly lid?: string; readonly group: string | undefined },
): boolean {
  const { from, group } = sender;
  if (isGroupId(to)) return group === to && from !== '';
  if (group !== undefined) return false;
  const isTheirs = (address: string): boolean =>
    address !== '' && (address === lid || isSameRecipient(address, to));
  return isTheirs(from) || isTheirs(sender.lid ?? '');
}
