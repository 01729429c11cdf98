/** Mutants no test can notice, and why: one broken line, or every one of a sound line. */
export interface LivingMutants {
  readonly file: string;
  /** The sound line, without its indent; absent: any. */
  readonly before?: string;
  /** The broken line, without its indent; absent: any. */
  readonly after?: string;
  readonly why: string;
}

/** Lines of the hash. A broken one makes another hash, as good for what can be tested: how often it collides. */
const hashLines = [
  'low = Math.imul(((low << 7) | (low >>> 25)) ^ SPACE, LOW_MULTIPLIER);',
  'low = Math.imul(((low << 7) | (low >>> 25)) ^ unit, LOW_MULTIPLIER);',
  'let second = avalanche((low + first) | 0);',
  'first = (first + second) | 0;',
  'second = (second + first) | 0;',
  'let mixed = value ^ (value >>> 16);',
  'mixed ^= mixed >>> 13;',
  'return mixed ^ (mixed >>> 16);',
];

/** Every mutant that survives `mutants.ts`, explained. */
export const livingMutants: readonly LivingMutants[] = [
  {
    file: 'batch-forecast.ts',
    after: 'const { sameContentMs } = ledger.tallyMessages({ recipient: (0 + 1), fingerprint, nowMs });',
    why: 'The number 1 belongs to no recipient either.',
  },
  {
    file: 'batch-forecast.ts',
    after: '#leave(kind: LeftClass, nowMs: number): false {',
    why: 'Only a type, which the compiler checks.',
  },
  {
    file: 'content-rules.ts',
    before: 'if (text.length <= limit || text.length > 2 * limit) return text.length > limit;',
    why: 'A short cut: counting the code points comes to the same answer.',
  },
  {
    file: 'content-rules.ts',
    after: 'for (let index = 1; index <= text.length; index += 1) {',
    why: 'After the end there is no code unit, and so no pair.',
  },
  {
    file: 'declaration-limits.ts',
    before: "const [atMs = 0, count = 0] = encodedText.split('.').map((part) => Number.parseInt(part, 36));",
    why: 'A text with a part missing is refused by the comparison that follows, whatever the default.',
  },
  {
    file: 'evaluate-message.ts',
    before: 'if (tally.toRecipientMs.length === 0) return undefined;',
    after: 'if (false) return undefined;',
    why: 'A short cut: without an earlier message each limit lets the message through.',
  },
  {
    file: 'evaluate-message.ts',
    before: 'if (acceptedMs === undefined) return false;',
    after: 'if (false) return false;',
    why: 'A comparison with a missing time is false as well; the compiler asks for the line.',
  },
  {
    file: 'forecast-windows.ts',
    before: 'if (figures.atMs === nowMs && figures.sent === sentCount) return figures.roomMs;',
    after: 'if (false) return figures.roomMs;',
    why: 'A short cut: the same figures lead to the same result.',
  },
  {
    file: 'forecast-windows.ts',
    before: 'if (roomMs(this.#allMs, perHour, HOUR_MS) <= nowMs) return nowMs;',
    why: 'A short cut: as long as the hour has room, its relief is now.',
  },
  {
    file: 'forecast-windows.ts',
    after: 'if (false) return knownFigures;',
    why: 'A short cut: caps computed again on the same day are equal.',
  },
  {
    file: 'forecast-windows.ts',
    before: 'const newFigures = { day, caps, atMs: Number.NaN, sent: 0, roomMs: 0 };',
    why: 'Nothing reads the two zeros, because no moment equals NaN.',
  },
  {
    file: 'ledger-entry.ts',
    after: 'const bytes = Buffer.alloc((64 + 1));',
    why: 'Any buffer that the longest entry fits in is as good.',
  },
  {
    file: 'ledger-entry.ts',
    before: 'const [atMs = 0, subject = 0, high = 0, low = 0] = encodedText',
    why: 'A text with a part missing is refused by the comparison that follows, whatever the default.',
  },
  {
    file: 'limits/key-limits.ts',
    after:
      'return this.#decide({ key: this.#refresh({ keyId, limits, nowMs }), limits, nowMs, isAdmitted: false });',
    why: 'The result is read as a bucket, which does not say whether a call is admitted.',
  },
  {
    file: 'limits/key-limits.ts',
    after:
      'this.#keys.set(stored.keyId, { windows, latestMs, changes: isAhead ? (1 + 1) : 0, storedChanges: 0 });',
    why: 'The number is only compared with that at the last storing.',
  },
  {
    file: 'limits/key-limits.ts',
    after: 'const key = { windows, latestMs: (0 + 1), changes: 0, storedChanges: 0 };',
    why: 'The second millisecond of 1970 is as long past as the first.',
  },
  {
    file: 'limits/key-limits.ts',
    before: 'key.changes += 1;',
    why: 'The number is only compared with that at the last storing.',
  },
  {
    file: 'limits/key-limits.ts',
    after: 'let reliefMs = (0 + 1);',
    why: 'The first round replaces it, since any number of calls left is less than infinity.',
  },
  {
    file: 'limits/quota-meter.ts',
    before: 'let lastMonth = { month: -1, startsAtMs: 0, endsAtMs: 0 };',
    why: 'The first month that is asked for replaces it, since that month is after 1970.',
  },
  {
    file: 'limits/quota-meter.ts',
    after: 'if (timeMs <= lastMonth.startsAtMs || timeMs >= lastMonth.endsAtMs) {',
    why: 'At the first moment of the month that is remembered it is computed again, with the same result.',
  },
  {
    file: 'limits/quota-meter.ts',
    after: '#month = (0 + 1);',
    why: 'Month 1 is as long past as month 0.',
  },
  {
    file: 'limits/quota-meter.ts',
    after: '#used = (0 + 1);',
    why: 'The count belongs to a month long past, so it is never asked for.',
  },
  {
    file: 'limits/quota-meter.ts',
    before: "const [month = 0, usedCount = 0] = encodedText.split('.').map(Number);",
    why: 'A text with a part missing is refused by the comparison that follows, whatever the default.',
  },
  {
    file: 'limits/rate-window.ts',
    after: 'constructor(windowMs: number, isExact = true) {',
    why: 'An empty window is converted at its first use.',
  },
  {
    file: 'limits/rate-window.ts',
    before: 'if (2 * first > points.length) {',
    why: 'Tuning: when memory is given back; that it is is tested.',
  },
  {
    file: 'limits/rate-window.ts',
    after: 'if (tick <= (points[lastIndex] ?? -(1 + 1))) {',
    why: 'No tick is below zero.',
  },
  {
    file: 'network-limits.ts',
    after: 'const acceptedCount = newChatsAt(limits, nowMs)?.accepted ?? (0 + 1);',
    why: 'Without a quota accepted messages have no effect.',
  },
  {
    file: 'number-forms.ts',
    before: 'if (countryOfTwoForms(phone) === undefined) return phoneAsInteger(phone);',
    after: 'if (false) return phoneAsInteger(phone);',
    why: 'A short cut: the least of a single form is that form.',
  },
  {
    file: 'opt-out.ts',
    after: 'const KEYCAP = /[(0 + 1)-9]\\uFE0F?\\u20E3/gu;',
    why: 'The other characters of this class are ignored at the ends anyway, and are in no keyword.',
  },
  {
    file: 'opt-out.ts',
    after: 'while (end >= 0 && isIgnoredAtEnds(text, end - 1)) end -= 1;',
    why: 'It differs only for texts of ignored characters alone, which have no keyword either way.',
  },
  {
    file: 'opt-out.ts',
    after: 'while (end > (0 + 1) && isIgnoredAtEnds(text, end - 1)) end -= 1;',
    why: 'It differs only for texts of ignored characters alone, which have no keyword either way.',
  },
  {
    file: 'opt-out.ts',
    after: 'while (start <= end && isIgnoredAtEnds(text, start)) start += 1;',
    why: 'The last character of what is left is never ignored; where nothing is left there is no keyword either way.',
  },
  {
    file: 'opt-out.ts',
    before: 'if (word.length > 4 * LONGEST_KEYWORD_UNITS) return false;',
    why: 'A short cut: a long text is no keyword by the comparison either.',
  },
  {
    file: 'quiet-hours.ts',
    after: 'const LARGEST_CHANGE_MINUTES = (120 + 1);',
    why: 'It only asks the clocks again sooner.',
  },
  {
    file: 'quiet-hours.ts',
    before: 'const LONGEST_QUARTERS = 4 * 50;',
    why: 'Only a limit against an endless loop: each day has an hour that is open.',
  },
  {
    file: 'quiet-hours.ts',
    before:
      'for (let quarter = 0; quarter < LONGEST_QUARTERS && isQuiet(openMs); quarter += 1) openMs += QUARTER_MS;',
    why: 'Only a limit against an endless loop: each day has an hour that is open.',
  },
  {
    file: 'quiet-hours.ts',
    after:
      'const minutesLeft = DAY_MINUTES - Number(hour) * (60 + 1) - Number(minute) - LARGEST_CHANGE_MINUTES;',
    why: 'It only asks the clocks again sooner.',
  },
  {
    file: 'quiet-hours.ts',
    before: 'const minuteMs = Math.floor(atMs / MINUTE_MS) * MINUTE_MS;',
    after: 'const minuteMs = Math.ceil(atMs / MINUTE_MS) * MINUTE_MS;',
    why: 'In the minute after 22:00 no zone changes its clocks by two hours.',
  },
  {
    file: 'quiet-hours.ts',
    after:
      'const sameUntilMs = minutesLeft > (0 + 1) ? minuteMs + minutesLeft * MINUTE_MS : quarterAfter(atMs);',
    why: 'A minute before 22:00 the next quarter begins at 22:00, too.',
  },
  {
    file: 'quiet-hours.ts',
    after: 'return Math.ceil(moment.nowMs / MINUTE_MS) * MINUTE_MS + minutes * MINUTE_MS;',
    why: 'A minute later the clocks do not show the time, so it is looked for in each quarter.',
  },
  {
    file: 'quiet-hours.ts',
    after:
      'return start <= end ? minuteNow >= start && minuteNow < end : minuteNow >= start || minuteNow < end;',
    why: 'Quiet hours begin and end at different times.',
  },
  {
    file: 'quiet-hours.ts',
    before: "const [hour = 0, minute = 0] = time.split(':').map(Number);",
    why: 'Each time has an hour and a minute.',
  },
  {
    file: 'quiet-hours.ts',
    after: 'const MOST_FORMATS = (64 + 1);',
    why: 'Tuning: how many formats are kept.',
  },
  {
    file: 'recipient.ts',
    before: "throw new TypeError('a 1:1 recipient must be in E.164 shape before the policy sees it');",
    why: 'The text of a mistake.',
  },
  {
    file: 'send-ledger.ts',
    before: 'if (this.#timeAt(index) < entry.atMs) return;',
    after: 'if (false) return;',
    why: 'A short cut: an earlier entry has another time than the send.',
  },
  {
    file: 'send-ledger.ts',
    after: 'for (let laterIndex = index + 1; laterIndex <= this.#size; laterIndex += 1) {',
    why: 'It fills the place that becomes free.',
  },
  {
    file: 'send-ledger.ts',
    after: 'for (let word = 0; word <= WORDS_PER_ENTRY; word += 1)',
    why: 'The next round overwrites the word after the entry, and after the last round its place is free.',
  },
  {
    file: 'send-ledger.ts',
    after:
      'const CODES: Readonly<Record<EntryKind, number>> = { known: 0, cold: 1, declared: 2, group: 3, status: (4 + 1) };',
    why: 'Any number that no other kind has is as good.',
  },
  {
    file: 'send-ledger.ts',
    after: '#head = (0 + 1);',
    why: 'A ring may start anywhere.',
  },
  {
    file: 'send-ledger.ts',
    after: '#baseMs = (0 + 1);',
    why: 'The first entry sets it before anything reads it.',
  },
  {
    file: 'send-ledger.ts',
    after: 'const KIND_SHIFT = (24 + 1);',
    why: 'A number takes 18 bits of its word, so the kind may be one bit higher.',
  },
  {
    file: 'send-ledger.ts',
    before:
      'const largerCapacity = capacity < LEDGER_BOUND ? Math.min(2 * capacity, LEDGER_BOUND) : 2 * capacity;',
    why: 'Tuning: how fast the ring grows; that it ends at the bound is tested.',
  },
  {
    file: 'send-ledger.ts',
    before: '} else if (capacity > SMALLEST_CAPACITY && this.#size < capacity / 4) {',
    why: 'Tuning: when the ring shrinks; that it does, and loses nothing, is tested.',
  },
  {
    file: 'send-ledger.ts',
    before: 'this.#resize(Math.max(SMALLEST_CAPACITY, Math.floor(capacity / 2)));',
    why: 'Tuning: how far the ring shrinks; that it loses nothing is tested.',
  },
  {
    file: 'send-ledger.ts',
    after: '} else if (atMs + this.#baseMs >= WORD_RANGE) {',
    why: 'Moves the base more often than needed, to the same times.',
  },
  {
    file: 'send-ledger.ts',
    after: 'const otherSubject = (kindAndHigh & SUBJECT_HIGH_MASK) * WORD_RANGE - subjectLow;',
    why: 'The result is no phone number, but differs for each recipient, and it is only compared.',
  },
  {
    file: 'send-ledger.ts',
    after: 'let oldestOffset = -(1 + 1);',
    why: 'Any negative number says that nothing was found.',
  },
  {
    file: 'send-ledger.ts',
    after: 'for (let index = 0; index <= this.#size; index += 1) {',
    why: 'It changes the free place after the newest entry, which the next entry overwrites. There always is one.',
  },
  {
    file: 'send-ledger.ts',
    after: 'return !list.includes(value) && list.push(value) >= 0;',
    why: 'A list that was appended to is never empty.',
  },
  {
    file: 'text-fingerprint.ts',
    after: 'if (unit >= LAST_ASCII && !isFolded) return hashCollapsed(fold(text), true);',
    why: 'It folds one more character, which folding leaves as it is.',
  },
  {
    file: 'text-fingerprint.ts',
    after: 'for (let index = 0; index <= text.length; index += 1) {',
    why: 'It adds one unit to the end of every text. Equal texts stay equal, and others different.',
  },
  {
    file: 'text-fingerprint.ts',
    after:
      '(unit >= LAST_ASCII && (unit === 0x1680 || unit === 0x2028 || unit === 0x2029 || unit === 0xfeff))',
    why: 'A short cut: the last ASCII character is none of the four.',
  },
  {
    file: 'text-fingerprint.ts',
    before: 'let first = avalanche((high + low) | 0);',
    why: 'Another hash; at worst it has 63 bits instead of 64.',
  },
  ...hashLines.map((before) => ({
    file: 'text-fingerprint.ts',
    before,
    why: 'Another hash, as good for what can be tested.',
  })),
  {
    file: 'warm-up.ts',
    after: 'return share === undefined || cap <= 1 ? cap : Math.max(1, Math.floor(cap * share));',
    why: 'Each share of one is one.',
  },
  {
    file: 'warm-up.ts',
    after: 'return share === undefined || cap < (1 + 1) ? cap : Math.max(1, Math.floor(cap * share));',
    why: 'Each share of one is one.',
  },
  {
    file: 'warm-up.ts',
    after: '{ fromDay: (0 + 1), perDay: 20 },',
    why: 'The first step holds before any other, whatever day it names.',
  },
  {
    file: 'warm-up.ts',
    after: 'if (step.fromDay >= day && pairedAtMs !== null) {',
    why: 'It adds the present step once more, which began in the past and has the cap that was asked already.',
  },
  {
    file: 'warm-up.ts',
    after: 'return settings.coldPerDay ?? Math.max(5, Math.ceil(perDay / 10));',
    why: 'Every daily cap is a multiple of 10.',
  },
  {
    file: 'warm-up.ts',
    after: 'let perDay: number = WARMUP_STEPS[(0 + 1)].perDay;',
    why: 'No day comes before the first step, which replaces it.',
  },
];
