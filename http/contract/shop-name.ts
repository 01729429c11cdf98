import * as v from 'valibot';
import { hasText } from '../../policy/message-content.ts';
import { line } from './fields.ts';

/** What every client takes for "here" and "one up" in a path, so that a shop of that name could never be fetched. */
const DOTS = ['.', '..'];

/** The name of a new shop: 1 to 100 characters on one line, something of them visible, and neither `.` nor `..`. */
export const shopName = v.config(
  v.pipe(
    line({ min: 1, max: 100 }),
    v.check((name) => hasText(name), 'must show something'),
    v.check((name) => !DOTS.includes(name), 'must not be . or .., which no client can ask for'),
    v.description(
      'On one line, without control characters; white space and invisible characters alone are no name, and half of a surrogate pair is refused. Two names are the same when they agree in Unicode form NFKC and lower case.',
    ),
    v.metadata({ not: { enum: DOTS } }),
  ),
  // One word a field: an empty name shows nothing either.
  { abortPipeEarly: true },
);
