import type * as v from 'valibot';
import type { FieldProblem } from '../../actors/failure.ts';
import { isObjectId } from '../../runtime/object-id.ts';
import type { Endpoint } from './endpoint.ts';
import type { BodyFault, CallIds } from './exchange.ts';
import { parseQuery } from './query-parameters.ts';
import { MOST_REPORTED_FIELDS, problem, type ValidationResult, validate } from './validation.ts';

/** The parts of a request that an endpoint's schemas check, and its ids. */
export interface RequestParts extends CallIds {
  /** Raw values of the path's parameters, in order. */
  readonly values: readonly string[];
  readonly query: string;
  readonly contentType: string;
  readonly body: string;
  readonly bodyFault?: BodyFault | undefined;
  /** The header unchanged, or an empty text if it is missing. */
  readonly idempotencyKey: string;
}

/** The checked parts, or all problems at once, at most `MOST_REPORTED_FIELDS`. */
export type CheckedParts =
  | {
      readonly ok: true;
      readonly params: Readonly<Record<string, string>>;
      readonly query: unknown;
      readonly body: unknown;
      /** Set only if the endpoint takes the header `Idempotency-Key`. */
      readonly idempotencyKey: string | undefined;
    }
  | { readonly ok: false; readonly fields: readonly FieldProblem[] };

/** Checks path, query and body of a request against its endpoint's declaration. */
export function checkRequest(
  endpoint: Pick<Endpoint<never>, 'method' | 'params' | 'query' | 'body' | 'takesIdempotencyKey'>,
  parts: Omit<RequestParts, keyof CallIds>,
): CheckedParts {
  const fields: FieldProblem[] = [];
  const params = checkParams(endpoint.params, parts.values, fields);
  const query = checkQuery(endpoint.query, parts.query, fields);
  const body = endpoint.method === 'GET' ? undefined : checkBody(endpoint.body, parts, fields);
  const idempotencyKey = endpoint.takesIdempotencyKey ? checkKey(parts.idempotencyKey, fields) : undefined;
  if (fields.length === 0) return { ok: true, params, query, body, idempotencyKey };
  return { ok: false, fields: fields.slice(0, MOST_REPORTED_FIELDS) };
}

/**
 * At most as long as a message's `idempotencyKey`. Only visible ASCII and blanks, because the encoding of other
 * characters in a header is not certain.
 */
const KEY = /^[ -~]{1,128}$/;

function checkKey(givenKey: string, fields: FieldProblem[]): string | undefined {
  if (givenKey === '') return undefined;
  if (!KEY.test(givenKey)) {
    const complaint = 'must be given once, 1 to 128 visible ASCII characters or blanks';
    fields.push(problem('idempotency-key', complaint));
  }
  return givenKey;
}

const NO_PARAMS: Readonly<Record<string, string>> = {};

/** Returns the decoded parts of the path. Callers may write ids in either case. */
function checkParams(
  names: readonly string[],
  values: readonly string[],
  fields: FieldProblem[],
): Readonly<Record<string, string>> {
  if (names.length === 0) return NO_PARAMS;
  const params: Record<string, string> = {};
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    const value = values[index] ?? '';
    try {
      const decoded = value.includes('%') ? decodeURIComponent(value) : value;
      params[name] = isObjectId(decoded) ? decoded.toLowerCase() : decoded;
    } catch {
      fields.push(problem(name, 'is not valid percent-encoding'));
    }
  }
  return params;
}

/** The result of an empty query for each schema: defaults or problems. Most calls have no query. */
const withoutQuery = new WeakMap<v.GenericSchema, ValidationResult<unknown>>();

function checkQuery(schema: v.GenericSchema, query: string, fields: FieldProblem[]): unknown {
  if (query === '') {
    let knownResult = withoutQuery.get(schema);
    if (knownResult === undefined) {
      knownResult = validate(schema, {}, 'query');
      withoutQuery.set(schema, knownResult);
    }
    if (knownResult.ok) return knownResult.value;
  }
  const parsedQuery = parseQuery(query);
  fields.push(...parsedQuery.fields);
  const result = validate(schema, parsedQuery.values, 'query');
  if (result.ok) return result.value;
  fields.push(...result.fields);
  return undefined;
}

function checkBody(
  schema: v.GenericSchema | undefined,
  parts: Pick<RequestParts, 'body' | 'bodyFault' | 'contentType'>,
  fields: FieldProblem[],
): unknown {
  if (schema === undefined) return undefined;
  // The listener dropped the bytes of such a body. So it is empty here, and must not be taken for no body.
  if (parts.bodyFault === 'not_utf8') {
    // Compressed bytes are no UTF-8, and no coding is decoded, whether `Content-Encoding` names it or not.
    fields.push(problem('body', 'must be UTF-8, and not compressed'));
    return undefined;
  }
  if (parts.body === '' && takesNothing(schema)) return undefined;
  if (!isJsonType(parts.contentType)) {
    fields.push(problem('content-type', 'must be application/json'));
    return undefined;
  }
  let input: unknown;
  try {
    input = JSON.parse(parts.body);
  } catch {
    fields.push(problem('body', 'must be valid JSON'));
    return undefined;
  }
  const result = validate(schema, input, 'body');
  if (result.ok) return result.value;
  fields.push(...result.fields);
  return undefined;
}

/** True if the body has no fields. An empty body is then accepted like `{}`. */
function takesNothing(schema: v.GenericSchema): boolean {
  return 'entries' in schema && Object.keys(schema.entries as object).length === 0;
}

function isJsonType(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  if (type.trim() !== 'application/json') return false;
  return parameters.every((parameter) => /^\s*(charset="?utf-8"?)?\s*$/.test(parameter));
}
