import type { ErrorCode } from '../contract/errors.ts';
import { statusLine } from '../contract/status-line.ts';
import type { ErrorResponse } from './openapi-responses.ts';

/** The failures that several operations have in common, by name. */
export interface SharedResponses {
  readonly components: Record<string, unknown>;
  /** Returns the failure itself, or a reference to it if it has a name. */
  referenceTo(response: ErrorResponse): unknown;
}

/**
 * Names each failure that occurs more than once. A failure with only the codes of every operation is named by its
 * status, like `Unauthorized`. Any other is named by its further codes, like `ShopNotFound` or
 * `ConflictOrAmbiguousShop`.
 */
export function sharedResponses(
  allResponses: readonly ErrorResponse[],
  commonCodes: ReadonlySet<ErrorCode>,
): SharedResponses {
  const counts = new Map<string, number>();
  for (const response of allResponses) counts.set(keyOf(response), (counts.get(keyOf(response)) ?? 0) + 1);
  const isShared = (response: ErrorResponse): boolean => (counts.get(keyOf(response)) ?? 0) > 1;
  const components: Record<string, unknown> = {};
  const namesByText = new Map<string, string>();
  for (const response of allResponses.filter(isShared)) {
    const name = nameOf(response, commonCodes);
    components[name] = response.body;
    const key = keyOf(response);
    if ((namesByText.get(name) ?? key) !== key) throw new Error(`two failures would be called ${name}`);
    namesByText.set(name, key);
  }
  return {
    components: Object.fromEntries(
      Object.entries(components).sort(([left], [right]) => (left < right ? -1 : 1)),
    ),
    referenceTo: (response) =>
      isShared(response)
        ? { $ref: `#/components/responses/${nameOf(response, commonCodes)}` }
        : response.body,
  };
}

function keyOf({ status, codes }: ErrorResponse): string {
  return `${status} ${[...codes].sort().join()}`;
}

function nameOf({ status, codes }: ErrorResponse, commonCodes: ReadonlySet<ErrorCode>): string {
  const ownCodes = [...codes].sort().filter((code) => !commonCodes.has(code));
  const statusParts =
    ownCodes.length === codes.length ? [] : [statusLine(status).slice(4).replaceAll(' ', '')];
  return [...statusParts, ...ownCodes.map(pascal)].join('Or');
}

function pascal(code: string): string {
  return code
    .split('_')
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join('');
}
