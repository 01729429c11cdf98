import { DAY_MS, HOUR_MS } from '../runtime/durations.ts';
import { decodeEntry, type EntryKind, type LedgerEntry } from './ledger-entry.ts';
import { SETTINGS_RANGES } from './tenant-settings.ts';
import type { Fingerprint } from './text-fingerprint.ts';
import { DAILY_ROOF } from './warm-up.ts';

/**
 * How many entries can count at a time: the highest daily caps of 1:1 messages, groups (shares, at least one each) and
 * statuses. A reader of this many newest entries misses none that counts.
 */
export const LEDGER_BOUND =
  DAILY_ROOF + SETTINGS_RANGES.groupsPerDay.roof + SETTINGS_RANGES.statusesPerDay.roof;

/** The counts of the newest 24 hours that decide on a message to a number. */
export interface MessageTally {
  readonly today: number;
  readonly lastHour: number;
  readonly coldToday: number;
  readonly declaredToday: number;
  /** Times of the messages to this recipient, newest first. */
  readonly toRecipientMs: readonly number[];
  /** Times of the latest message with the same content to each other recipient in the last hour, newest first. */
  readonly sameContentMs: readonly number[];
}

/** The sum of some entries. */
interface Survey {
  readonly weight: number;
  /** Time of the oldest entry that was added. */
  readonly oldestMs: number | undefined;
}

/** Kinds of entries as a set of bits, for counting several at a time. */
export type KindSet = number;

const CODES: Readonly<Record<EntryKind, number>> = { known: 0, cold: 1, declared: 2, group: 3, status: 4 };

/** Returns the set of the given kinds. */
export function kindSet(...members: readonly EntryKind[]): KindSet {
  return members.reduce((set, kind) => set | (1 << CODES[kind]), 0);
}

const NO_TIMES: readonly number[] = [];
/** Shared by all empty ledgers. */
const NO_WORDS = new Uint32Array();

const WORDS_PER_ENTRY = 5;
const SMALLEST_CAPACITY = 16;
const KIND_SHIFT = 24;
const SUBJECT_HIGH_MASK = 0xff_ffff;
const WORD_RANGE = 2 ** 32;

/**
 * All accepted sends of a shop in the last 24 hours. One scan counts all that the rules of a message to a number need.
 * Rules for groups and statuses scan them again, and so does the search for the end of a refusal.
 *
 * The entries are in a ring of 32-bit words, because a node keeps the ledgers of thousands of shops. An entry has five:
 * time since a base, kind and upper bits of the subject, its lower 32 bits, two halves of the fingerprint. The ring
 * grows and shrinks with its entries. It never holds more than `LEDGER_BOUND` if each entry was admitted before it was
 * recorded.
 *
 * Time never runs behind the newest entry. If the clock steps back, entries and queries count as of the newest entry,
 * so no window ever holds more than its cap. A ledger restored from its encoded entries decides like the original.
 */
export class SendLedger {
  #words = NO_WORDS;
  #head = 0;
  #size = 0;
  #baseMs = 0;

  /** The ledger that recorded these entries, oldest first. Entries that are too old to count are dropped. */
  static restore(encodedEntries: readonly string[]): SendLedger {
    const ledger = new SendLedger();
    for (const entry of encodedEntries) ledger.record(decodeEntry(entry));
    return ledger;
  }

  /** Returns a ledger with these sends in addition. This one stays as it is. */
  with(entries: readonly LedgerEntry[]): SendLedger {
    const ledger = new SendLedger();
    ledger.#words = this.#words.slice();
    ledger.#head = this.#head;
    ledger.#size = this.#size;
    ledger.#baseMs = this.#baseMs;
    for (const entry of entries) ledger.record(entry);
    return ledger;
  }

  /** Number of entries, including some that no longer count. */
  get size(): number {
    return this.#size;
  }

  /** Time of the newest entry, or `-Infinity` if there is none. */
  get newestMs(): number {
    return this.#size === 0 ? Number.NEGATIVE_INFINITY : this.#timeAt(this.#size - 1);
  }

  /** Memory of the ring in bytes. */
  get bytes(): number {
    return this.#words.byteLength;
  }

  /** The moment that counts as now: `nowMs`, but never before the newest entry. */
  effectiveNowMs(nowMs: number): number {
    return Math.max(nowMs, this.newestMs);
  }

  /** Adds an accepted send and removes entries that are too old to count. Call it only after the commit succeeded. */
  record(entry: LedgerEntry): void {
    const atMs = this.effectiveNowMs(entry.atMs);
    this.#forgetUntil(atMs - DAY_MS);
    const capacity = this.#words.length / WORDS_PER_ENTRY;
    if (this.#size === capacity) {
      const largerCapacity = capacity < LEDGER_BOUND ? Math.min(2 * capacity, LEDGER_BOUND) : 2 * capacity;
      this.#resize(Math.max(SMALLEST_CAPACITY, largerCapacity));
    } else if (capacity > SMALLEST_CAPACITY && this.#size < capacity / 4) {
      this.#resize(Math.max(SMALLEST_CAPACITY, Math.floor(capacity / 2)));
    }
    if (this.#size === 0) {
      this.#baseMs = atMs;
    } else if (atMs - this.#baseMs >= WORD_RANGE) {
      this.#rebase();
    }
    const words = this.#words;
    const word = this.#wordAt(this.#size);
    words[word] = atMs - this.#baseMs;
    this.#setSubject(word, CODES[entry.kind], entry.subject);
    words[word + 3] = entry.fingerprint.high;
    words[word + 4] = entry.fingerprint.low;
    this.#size += 1;
  }

  /**
   * Returns all counts for a 1:1 message, in one scan. It is the hot path of every send, hence the plain loop over
   * locals.
   */
  tallyMessages(query: {
    readonly recipient: number;
    readonly fingerprint: Fingerprint;
    readonly nowMs: number;
  }): MessageTally {
    const words = this.#words;
    const baseMs = this.#baseMs;
    const recipientHigh = Math.floor(query.recipient / WORD_RANGE);
    const recipientLow = query.recipient % WORD_RANGE;
    const { high, low } = query.fingerprint;
    const sinceDay = query.nowMs - DAY_MS - baseMs;
    const sinceHour = query.nowMs - HOUR_MS - baseMs;
    // Most sends find none of them, and make no arrays.
    let toRecipientMs: number[] | undefined;
    let sameContentMs: number[] | undefined;
    let otherSubjects: number[] | undefined;
    let today = 0;
    let coldToday = 0;
    let declaredToday = 0;
    let lastHour = 0;
    let word = this.#wordBehind();
    for (let entriesLeft = this.#size; entriesLeft > 0; entriesLeft -= 1) {
      word = (word === 0 ? words.length : word) - WORDS_PER_ENTRY;
      const time = words[word] as number;
      if (time <= sinceDay) break;
      const kindAndHigh = words[word + 1] as number;
      const kind = kindAndHigh >>> KIND_SHIFT;
      if (kind > CODES.declared) continue;
      const isInHour = time > sinceHour;
      today += 1;
      coldToday += Number(kind === CODES.cold);
      declaredToday += Number(kind === CODES.declared);
      lastHour += Number(isInHour);
      const subjectLow = words[word + 2] as number;
      if (subjectLow === recipientLow && (kindAndHigh & SUBJECT_HIGH_MASK) === recipientHigh) {
        toRecipientMs ??= [];
        toRecipientMs.push(baseMs + time);
      } else if (isInHour && words[word + 3] === high && words[word + 4] === low) {
        const otherSubject = (kindAndHigh & SUBJECT_HIGH_MASK) * WORD_RANGE + subjectLow;
        otherSubjects ??= [];
        if (addIfAbsent(otherSubjects, otherSubject)) {
          sameContentMs ??= [];
          sameContentMs.push(baseMs + time);
        }
      }
    }
    return {
      today,
      lastHour,
      coldToday,
      declaredToday,
      toRecipientMs: toRecipientMs ?? NO_TIMES,
      sameContentMs: sameContentMs ?? NO_TIMES,
    };
  }

  /** Times of the last 24 hours' 1:1 messages to a recipient, newest first. */
  messageTimesMs(query: { readonly recipient: number; readonly nowMs: number }): number[] {
    return this.#dayBefore(query.nowMs, (index) => this.#isTo(index, query.recipient));
  }

  /**
   * Removes an accepted send that never left. Call it only after its commit. The send may count under one of
   * `otherSubjects`, if the network has since given another number. Does nothing if the entry no longer counts.
   */
  takeBack(entry: LedgerEntry, otherSubjects: readonly number[] = []): void {
    for (let index = this.#size - 1; index >= 0; index -= 1) {
      if (this.#timeAt(index) < entry.atMs) return;
      if (this.#isSend(index, entry, otherSubjects)) {
        this.#remove(index);
        return;
      }
    }
  }

  /** Returns the recipients of all 1:1 messages in the ledger, each once. */
  recipients(): number[] {
    const recipients = new Set<number>();
    for (let index = 0; index < this.#size; index += 1) {
      if (this.#kindAt(index) <= CODES.declared) recipients.add(this.#subjectAt(index));
    }
    return [...recipients];
  }

  /** Counts messages to one number under the other from now on, because both belong to one person. */
  mergeRecipient(recipient: number, keptRecipient: number): void {
    for (let index = 0; index < this.#size; index += 1) {
      if (this.#isTo(index, recipient))
        this.#setSubject(this.#wordAt(index), this.#kindAt(index), keptRecipient);
    }
  }

  /** Times of the last 24 hours' messages to a group, newest first. */
  groupTimesMs(query: { readonly fingerprint: Fingerprint; readonly nowMs: number }): number[] {
    return this.#dayBefore(
      query.nowMs,
      (index) => this.#kindAt(index) === CODES.group && this.#hasFingerprint(index, query.fingerprint),
    );
  }

  /** Returns the times of all entries of these kinds, oldest first. */
  timesMs(kinds: KindSet): number[] {
    const times: number[] = [];
    for (let index = 0; index < this.#size; index += 1) {
      if (((kinds >>> this.#kindAt(index)) & 1) === 1) times.push(this.#timeAt(index));
    }
    return times;
  }

  /**
   * Returns the weight of the entries of these kinds that are younger than `sinceMs`: shares for groups, 1 for all
   * others.
   */
  weightSince(query: { readonly kinds: KindSet; readonly sinceMs: number }): number {
    return this.usageSince(query).weight;
  }

  /** Returns that weight, and the time of the oldest of these entries. The time is undefined if there is none. */
  usageSince(query: { readonly kinds: KindSet; readonly sinceMs: number }): Survey {
    return this.#survey({ ...query, room: Number.POSITIVE_INFINITY });
  }

  /**
   * Returns the first moment at which the entries of these kinds in a window of `windowMs` weigh no more than `room`.
   * The moment is in the past if they already do, and `Infinity` for a negative `room`.
   */
  roomAtMs(query: { readonly kinds: KindSet; readonly windowMs: number; readonly room: number }): number {
    const { kinds, windowMs, room } = query;
    if (room < 0) return Number.POSITIVE_INFINITY;
    const { weight, oldestMs } = this.#survey({ kinds, room, sinceMs: Number.NEGATIVE_INFINITY });
    return weight > room && oldestMs !== undefined ? oldestMs + windowMs : Number.NEGATIVE_INFINITY;
  }

  /** Adds up the weight of entries of these kinds younger than `sinceMs`, newest first, until it exceeds `room`. */
  #survey(query: { readonly kinds: KindSet; readonly sinceMs: number; readonly room: number }): Survey {
    const words = this.#words;
    const { kinds, room } = query;
    const sinceOffset = query.sinceMs - this.#baseMs;
    let weight = 0;
    let oldestOffset = -1;
    let word = this.#wordBehind();
    for (let entriesLeft = this.#size; entriesLeft > 0 && weight <= room; entriesLeft -= 1) {
      word = (word === 0 ? words.length : word) - WORDS_PER_ENTRY;
      const time = words[word] as number;
      if (time <= sinceOffset) break;
      const kind = (words[word + 1] as number) >>> KIND_SHIFT;
      if (((kinds >>> kind) & 1) === 1) {
        weight += kind === CODES.group ? (words[word + 2] as number) : 1;
        oldestOffset = time;
      }
    }
    return { weight, oldestMs: oldestOffset < 0 ? undefined : this.#baseMs + oldestOffset };
  }

  /** The index of the word after the newest entry, from which scans step back. */
  #wordBehind(): number {
    return this.#wordAt(this.#size);
  }

  /** Returns the index in the words at which an entry starts; `index` counts from the oldest. */
  #wordAt(index: number): number {
    const word = (this.#head + index) * WORDS_PER_ENTRY;
    return word < this.#words.length ? word : word - this.#words.length;
  }

  #timeAt(index: number): number {
    return this.#baseMs + (this.#words[this.#wordAt(index)] as number);
  }

  #kindAt(index: number): number {
    return (this.#words[this.#wordAt(index) + 1] as number) >>> KIND_SHIFT;
  }

  #subjectAt(index: number): number {
    const word = this.#wordAt(index);
    const high = (this.#words[word + 1] as number) & SUBJECT_HIGH_MASK;
    return high * WORD_RANGE + (this.#words[word + 2] as number);
  }

  #setSubject(word: number, kind: number, subject: number): void {
    this.#words[word + 1] = (kind << KIND_SHIFT) | Math.floor(subject / WORD_RANGE);
    this.#words[word + 2] = subject % WORD_RANGE;
  }

  #hasFingerprint(index: number, { high, low }: Fingerprint): boolean {
    const word = this.#wordAt(index);
    return this.#words[word + 3] === high && this.#words[word + 4] === low;
  }

  /** Returns the times of the entries that are younger than a day at `nowMs` and pass a test, newest first. */
  #dayBefore(nowMs: number, test: (index: number) => boolean): number[] {
    const times: number[] = [];
    for (let index = this.#size - 1; index >= 0 && this.#timeAt(index) > nowMs - DAY_MS; index -= 1) {
      if (test(index)) times.push(this.#timeAt(index));
    }
    return times;
  }

  #forgetUntil(timeMs: number): void {
    while (this.#size > 0 && this.#timeAt(0) <= timeMs) {
      this.#head = (this.#head + 1) % (this.#words.length / WORDS_PER_ENTRY);
      this.#size -= 1;
    }
  }

  #resize(capacity: number): void {
    const words = new Uint32Array(capacity * WORDS_PER_ENTRY);
    const sourceWord = this.#wordAt(0);
    const usedWords = this.#size * WORDS_PER_ENTRY;
    const untilEnd = Math.min(usedWords, this.#words.length - sourceWord);
    words.set(this.#words.subarray(sourceWord, sourceWord + untilEnd));
    words.set(this.#words.subarray(0, usedWords - untilEnd), untilEnd);
    this.#words = words;
    this.#head = 0;
  }

  /** True if the entry with this index is this send. Its subject is that of the send, or one of `otherSubjects`. */
  #isSend(index: number, entry: LedgerEntry, otherSubjects: readonly number[]): boolean {
    const subject = this.#subjectAt(index);
    return (
      this.#timeAt(index) === entry.atMs &&
      this.#kindAt(index) === CODES[entry.kind] &&
      this.#hasFingerprint(index, entry.fingerprint) &&
      (subject === entry.subject || otherSubjects.includes(subject))
    );
  }

  /** Closes the gap that an entry leaves: the newer ones move up. */
  #remove(index: number): void {
    for (let laterIndex = index + 1; laterIndex < this.#size; laterIndex += 1) {
      const targetWord = this.#wordAt(laterIndex - 1);
      const sourceWord = this.#wordAt(laterIndex);
      for (let word = 0; word < WORDS_PER_ENTRY; word += 1)
        this.#words[targetWord + word] = this.#words[sourceWord + word] as number;
    }
    this.#size -= 1;
  }

  /** True if the entry with this index is a 1:1 message to the recipient. */
  #isTo(index: number, recipient: number): boolean {
    return this.#kindAt(index) <= CODES.declared && this.#subjectAt(index) === recipient;
  }

  /** Moves the base to the oldest entry: times are kept in 32 bits, which last 49 days from the base. */
  #rebase(): void {
    const shift = this.#words[this.#wordAt(0)] as number;
    for (let index = 0; index < this.#size; index += 1) {
      const word = this.#wordAt(index);
      this.#words[word] = (this.#words[word] as number) - shift;
    }
    this.#baseMs += shift;
  }
}

/** Appends a value unless the list has it already. Returns false if it has. */
function addIfAbsent(list: number[], value: number): boolean {
  return !list.includes(value) && list.push(value) > 0;
}
