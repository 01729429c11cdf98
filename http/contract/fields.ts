import * as v from 'valibot';
import { hasText } from '../../policy/content-rules.ts';
import { GROUP_ID, PHONE_NUMBER } from '../../policy/recipient.ts';

/**
 * Half of a surrogate pair. UTF-8 cannot write it: it would be stored as U+FFFD, and different keys would become one.
 */
const HALF_CHARACTER = /\p{Surrogate}/u;

/** Text of whole characters. Its length is counted in code points, as JSON Schema does. */
export function text(bounds: { readonly min?: number; readonly max: number }) {
  const { min = 0, max } = bounds;
  const message = min > 0 ? `must have ${min} to ${max} characters` : `must have at most ${max} characters`;
  return v.pipe(
    v.string(),
    v.check((value) => {
      if (value.length < min || value.length > max * 2) return false;
      if (value.length <= max && min <= 1) return true;
      const length = codePoints(value);
      return length >= min && length <= max;
    }, message),
    v.check((value) => !HALF_CHARACTER.test(value), 'must not contain half of a surrogate pair'),
    v.description('Whole characters: half of a surrogate pair is refused.'),
    v.metadata(min > 0 ? { minLength: min, maxLength: max } : { maxLength: max }),
  );
}

/** Excludes control characters and line breaks: a name is shown on one line of a list, a log and a message. */
const ONE_LINE = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$';
const isOneLine = new RegExp(ONE_LINE);

/**
 * Returns the schema of a name of 1 to `max` characters, of which something shows. It has one line, without control
 * characters.
 */
export function name({ max }: { readonly max: number }) {
  return v.config(
    v.pipe(
      text({ min: 1, max }),
      v.check((value) => isOneLine.test(value), 'must be one line without control characters'),
      v.check((value) => hasText(value), 'must have a visible character'),
      v.description(
        'One line without control characters. A name needs a visible character. Half of a surrogate pair is refused.',
      ),
      v.metadata({ pattern: ONE_LINE }),
    ),
    // Report one problem per field: an empty name also has no visible character.
    { abortPipeEarly: true },
  );
}

/** A phone number in E.164 shape (docs/contract.md, Numbers). */
export const phoneNumber = v.pipe(
  v.string(),
  v.regex(PHONE_NUMBER, 'must be a phone number like +41791234567'),
  v.metadata({ examples: ['+41791234567'] }),
);

/** A phone number, or the id of a chat group (docs/contract.md, Numbers). */
export const recipient = v.pipe(
  v.string(),
  v.regex(
    new RegExp(`${PHONE_NUMBER.source}|${GROUP_ID.source}`),
    'must be a phone number like +41791234567 or a group id ending in @g.us',
  ),
  v.metadata({ examples: ['+41791234567', '120363041234567890@g.us'] }),
);

const DATE_TIME =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z$/;

/** An instant in UTC as ISO 8601 with a final Z; only days that the calendar has, and no leap second. */
export const utcDateTime = v.pipe(
  v.string(),
  v.check(isUtcDateTime, 'must be an ISO 8601 date-time in UTC like 2027-01-31T12:00:00Z'),
  v.description('In UTC. The day must exist in the calendar. Leap seconds are refused.'),
  v.metadata({
    format: 'date-time',
    pattern: DATE_TIME.source,
    examples: ['2027-01-31T12:00:00Z'],
  }),
);

/** The shape of ids and cursors: 24 hexadecimal characters. */
export const objectId = v.pipe(
  v.string(),
  v.regex(/^[0-9a-fA-F]{24}$/, 'must be 24 hexadecimal characters'),
  v.metadata({ examples: ['66b1f0a2c3d4e5f60718293a'] }),
);

/** An id in either case, read as lower case. */
export const idInEitherCase = v.pipe(
  objectId,
  v.transform((value) => value.toLowerCase()),
);

/** True for a calendar-valid UTC date-time; `Date` alone would turn 30 February into 2 March. */
function isUtcDateTime(value: string): boolean {
  const parts = DATE_TIME.exec(value);
  if (parts === null) return false;
  const [, year = 0, month = 0, day = 0] = parts.map(Number);
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  return day <= days;
}

function codePoints(value: string): number {
  let count = 0;
  for (let index = 0; index < value.length; index += 1) {
    const unit = value.charCodeAt(index);
    const next = value.charCodeAt(index + 1);
    if (unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000) index += 1;
    count += 1;
  }
  return count;
}
