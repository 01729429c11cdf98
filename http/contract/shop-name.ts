import * as v from 'valibot';
import { hasText } from '../../policy/message-content.ts';
import { line } from './fields.ts';

/** Clients read these path segments as "here" and "one up", so a shop with such a name could never be fetched. */
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
  // Report one problem per field: an empty name also has no visible character.
  { abortPipeEarly: true },
);
