import * as v from 'valibot';
import type { FieldProblem } from '../../actors/failure.ts';
import { objectId } from './fields.ts';
import { problem } from './validation.ts';

/**
 * Returns the schema of a whole number in a query, within its bounds. Without `max` any number of digits is accepted. A
 * number that a double cannot represent exactly is read as the largest whole number that it can.
 */
export function integerParameter({ min, max }: { readonly min: number; readonly max?: number }) {
  const message =
    max === undefined ? `must be a whole number from ${min}` : `must be a whole number from ${min} to ${max}`;
  return v.pipe(
    v.string(),
    v.check(
      (value) =>
        /^\d+$/.test(value) && Number(value) >= min && Number(value) <= (max ?? Number.POSITIVE_INFINITY),
      message,
    ),
    v.metadata({ type: 'integer', minimum: min, ...(max === undefined ? {} : { maximum: max }) }),
    v.transform((value) => Math.min(Number(value), Number.MAX_SAFE_INTEGER)),
  );
}

/** `true` or `false` in a query. */
export const booleanParameter = v.pipe(
  v.string(),
  v.check((value) => value === 'true' || value === 'false', 'must be true or false'),
  v.metadata({ type: 'boolean' }),
  v.transform((value) => value === 'true'),
);

/**
 * The values `true` and `false` of a query parameter. The contract declares them as text, so that clients send them
 * unchanged.
 */
export const trueOrFalse = v.pipe(
  v.picklist(['true', 'false'], 'must be true or false'),
  v.transform((value) => value === 'true'),
);

/** Most items of a list: 1 to 100, default 20 (docs/contract.md, Input bounds). */
export const limitParameter = v.optional(integerParameter({ min: 1, max: 100 }), '20');

/** The cursor of a list: the id of the last item seen, in lower case. */
export const cursorParameter = v.optional(
  v.pipe(
    objectId,
    v.description('The nextCursor of the page before.'),
    v.transform((value) => value.toLowerCase()),
  ),
);

/** Returns a query string as an object, and its problems: repeated names, and percent signs that encode nothing. */
export function parseQuery(query: string): {
  readonly values: Record<string, string>;
  readonly fields: FieldProblem[];
} {
  const values: Record<string, string> = Object.create(null) as Record<string, string>;
  const fields: FieldProblem[] = [];
  if (query === '') return { values, fields };
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = parameterName(pair);
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined) {
      fields.push(problem(name ?? 'query', 'is not valid percent-encoding'));
    } else if (name in values) {
      fields.push(problem(name, 'is given more than once'));
    } else {
      values[name] = value;
    }
  }
  return { values, fields };
}

/**
 * Returns the name of one `name=value` of a query string, decoded; undefined where percent signs in it encode nothing.
 */
export function parameterName(pair: string): string | undefined {
  const equals = pair.indexOf('=');
  return decode(equals === -1 ? pair : pair.slice(0, equals));
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
