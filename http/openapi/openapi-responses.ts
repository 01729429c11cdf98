import type { Endpoint, NamedSchemas, ReplyDeclaration } from '../contract/endpoint.ts';
import { ERRORS, type ErrorCode } from '../contract/errors.ts';
import { statusLine } from '../contract/status-line.ts';
import { outputSchema } from './openapi-schemas.ts';

/** Headers of every reply to a key that may call: how much of its narrowest window is left. */
export const RATE_HEADER_NAMES = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Scope',
] as const;

export interface ResponseOptions {
  /** Headers of every reply, in addition to its own. */
  readonly headers: readonly string[];
  readonly namedSchemas: NamedSchemas;
}

export function successResponses(
  endpoint: Endpoint<never>,
  { headers, namedSchemas }: ResponseOptions,
): Record<string, unknown> {
  const entries = Object.entries(endpoint.replies as Record<string, ReplyDeclaration>);
  return Object.fromEntries(
    entries.map(([status, reply]) => [
      status,
      {
        description: reply.description,
        headers: { ...referredHeaders(headers), ...ownHeaders(reply) },
        content: reply.fileTypes
          ? Object.fromEntries(reply.fileTypes.map((type) => [type, FILE]))
          : {
              'application/json': {
                schema: withPart('Success', { data: outputSchema(reply.data, namedSchemas) }, ['data']),
                example: { success: true, data: reply.example },
              },
              ...(endpoint.streamed ? { 'text/event-stream': { schema: { type: 'string' } } } : {}),
            },
      },
    ]),
  );
}

const FILE = { schema: { type: 'string', format: 'binary' } } as const;

/**
 * Returns the failures of an endpoint. Each status has one response, which names the codes that the status has at this
 * endpoint.
 */
export function errorResponses(
  codes: readonly ErrorCode[],
  options: ResponseOptions,
): readonly ErrorResponse[] {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const sortedEntries = [...byStatus].sort(([left], [right]) => left - right);
  return sortedEntries.map(([status, responses]) => ({
    status,
    codes: responses,
    body: errorResponse(status, responses, options),
  }));
}

export interface ErrorResponse {
  readonly status: number;
  readonly codes: readonly ErrorCode[];
  readonly body: unknown;
}

function errorResponse(status: number, codes: readonly ErrorCode[], { headers }: ResponseOptions): unknown {
  const throttles = status === 429 || status === 503;
  const publicCodes = [...new Set(codes.map((code) => ERRORS[code].code))];
  return {
    description: `${statusLine(status).slice(4)}: ${publicCodes.join(', ')}`,
    headers: referredHeaders([
      ...headers,
      ...(throttles ? ['Retry-After'] : []),
      ...(status === 401 ? ['WWW-Authenticate'] : []),
    ]),
    content: {
      'application/json': {
        schema: withPart(status === 429 ? 'Throttled' : 'Failure', {
          error: { type: 'object', properties: { code: { type: 'string', enum: publicCodes } } },
        }),
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

/** Returns a shared envelope with one of its parts narrowed. */
function withPart(
  envelope: 'Success' | 'Failure' | 'Throttled',
  properties: Record<string, unknown>,
  required?: readonly string[],
): unknown {
  return {
    allOf: [
      { $ref: `#/components/schemas/${envelope}` },
      {
        type: 'object',
        ...(required === undefined ? {} : { required }),
        properties,
        additionalProperties: true,
      },
    ],
  };
}

function referredHeaders(names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function ownHeaders(reply: ReplyDeclaration): Record<string, unknown> {
  const ownHeaders = Object.entries(reply.headers ?? {});
  return Object.fromEntries(
    ownHeaders.map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );
}
