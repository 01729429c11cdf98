/** Mutants no test can notice, and why: one broken line, or every one of a sound line. */
export interface LivingMutants {
  readonly file: string;
  /** The sound line, without its indent; absent: any. */
  readonly before?: string;
  /** The broken line, without its indent; absent: any. */
  readonly after?: string;
  readonly why: string;
}

/** Every mutant that survives `mutants.ts`, explained. */
export const livingMutants: readonly LivingMutants[] = [
  {
    file: 'declaration-limits.ts',
    before: "const [atMs = 0, count = 0] = encodedText.split('.').map((part) => Number.parseInt(part, 36));",
    why: 'A text with a part missing is refused by the comparison that follows, whatever the default.',
  },
  {
    file: 'ledger-entry.ts',
    before: 'const [atMs = 0, subject = 0, high = 0, low = 0] = encodedText',
    why: 'A text with a part missing is refused by the comparison that follows, whatever the default.',
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
    file: 'opt-out.ts',
    after: 'while (end >= 0 && isIgnoredAtEnds(text, end - 1)) {',
    why: 'It differs only for texts of ignored characters alone, which have no keyword either way.',
  },
  {
    file: 'opt-out.ts',
    after: 'while (end > (0 + 1) && isIgnoredAtEnds(text, end - 1)) {',
    why: 'It differs only for texts of ignored characters alone, which have no keyword either way.',
  },
  {
    file: 'opt-out.ts',
    after: 'while (start <= end && isIgnoredAtEnds(text, start)) {',
    why: 'The last character of what is left is never ignored; where nothing is left there is no keyword either way.',
  },
  {
    file: 'opt-out.ts',
    before: 'if (word.length > 4 * LONGEST_KEYWORD_UNITS) return false;',
    why: 'A short cut: a long text is no keyword by the comparison either.',
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
  {
    file: 'recipient.ts',
    before: "throw new TypeError('a 1:1 recipient must be in E.164 shape before the policy sees it');",
    why: 'The text of a mistake.',
  },
  {
    file: 'text-fingerprint.ts',
    after: 'if (unit >= LAST_ASCII && !isFolded) return hashCollapsed(fold(text), true);',
    why: 'It folds one more character, which folding leaves as it is.',
  },
  {
    file: 'text-fingerprint.ts',
    before: 'low = Math.imul(((low << 7) | (low >>> 25)) ^ SPACE, LOW_MULTIPLIER);',
    why: 'Another hash, as good for what can be tested: how often it collides.',
  },
  {
    file: 'text-fingerprint.ts',
    before: 'low = Math.imul(((low << 7) | (low >>> 25)) ^ unit, LOW_MULTIPLIER);',
    why: 'Another hash, as good for what can be tested: how often it collides.',
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
  {
    file: 'text-fingerprint.ts',
    before: 'let second = avalanche((low + first) | 0);',
    why: 'Another hash, as good for what can be tested: how often it collides.',
  },
  {
    file: 'text-fingerprint.ts',
    before: 'first = (first + second) | 0;',
    why: 'Another hash, as good for what can be tested: how often it collides.',
  },
  {
    file: 'text-fingerprint.ts',
    before: 'second = (second + first) | 0;',
    why: 'Another hash, as good for what can be tested: how often it collides.',
  },
  {
    file: 'text-fingerprint.ts',
    before: 'let mixed = value ^ (value >>> 16);',
    why: 'Another hash, as good for what can be tested: how often it collides.',
  },
  {
    file: 'text-fingerprint.ts',
    before: 'mixed ^= mixed >>> 13;',
    why: 'Another hash, as good for what can be tested: how often it collides.',
  },
  {
    file: 'text-fingerprint.ts',
    before: 'return mixed ^ (mixed >>> 16);',
    why: 'Another hash, as good for what can be tested: how often it collides.',
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
];
