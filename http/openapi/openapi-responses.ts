import type { Endpoint, ReplyDeclaration } from '../contract/endpoint.ts';
import { ERRORS, type ErrorCode, retryAfterSeconds } from '../contract/errors.ts';
import { statusLine } from '../pipeline/status-line.ts';
import { outputSchema } from './openapi-schemas.ts';

const RATE_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-RateLimit-Scope'];

/** The declared successes of an endpoint. */
export function successResponses(endpoint: Endpoint<never>): Record<string, unknown> {
  const isApi = endpoint.permission !== 'operator';
  const entries = Object.entries(endpoint.replies as Record<string, ReplyDeclaration>);
  return Object.fromEntries(
    entries.map(([status, reply]) => [
      status,
      {
        description: reply.description,
        headers: { ...referred(['X-Request-Id', ...(isApi ? RATE_HEADERS : [])]), ...ownHeaders(reply) },
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['success', 'data'],
              additionalProperties: false,
              properties: { success: { const: true }, data: outputSchema(reply.data, isApi) },
            },
            example: { success: true, data: reply.example },
          },
        },
      },
    ]),
  );
}

/** The failures of an endpoint, one response a status, each with its codes and an example of each. */
export function errorResponses(codes: readonly ErrorCode[], isApi: boolean): Record<string, unknown> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const sorted = [...byStatus].sort(([one], [other]) => one - other);
  return Object.fromEntries(
    sorted.map(([status, found]) => [String(status), errorResponse(status, found, isApi)]),
  );
}

function errorResponse(status: number, codes: readonly ErrorCode[], isApi: boolean): unknown {
  const throttle = status === 429 ? 'always' : status === 503 ? 'sometimes' : 'never';
  const names = [
    'X-Request-Id',
    ...(isApi ? RATE_HEADERS : []),
    ...(throttle === 'never' ? [] : ['Retry-After']),
  ];
  const publicCodes = [...new Set(codes.map((code) => ERRORS[code].code))];
  return {
    description: `${statusLine(status).slice(4)}: ${publicCodes.join(', ')}`,
    headers: referred(names),
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['success', 'error'],
          additionalProperties: false,
          properties: { success: { const: false }, error: errorSchema(codes, publicCodes, throttle) },
        },
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
      },
    },
  };
}

const RETRY_AFTER = {
  always: {
    retryAfter: {
      type: 'integer',
      minimum: 1,
      description:
        'Seconds. 86400 where no wait lifts the refusal, as `message` then says; 1 for a batch that is too large, since a smaller one may come at once.',
    },
  },
  sometimes: {
    retryAfter: { type: 'integer', minimum: 1, description: 'Seconds; absent where nobody knows.' },
  },
  never: {},
} as const;

function errorSchema(
  codes: readonly ErrorCode[],
  publicCodes: readonly string[],
  throttle: keyof typeof RETRY_AFTER,
): unknown {
  const field = {
    type: 'object',
    required: ['field', 'message'],
    additionalProperties: false,
    properties: {
      field: { type: 'string', description: 'A dotted path, like `contacts.0.phone`.' },
      message: { type: 'string' },
    },
  };
  return {
    type: 'object',
    required: ['code', 'message', ...(throttle === 'always' ? ['retryAfter'] : [])],
    additionalProperties: false,
    properties: {
      code: { type: 'string', enum: publicCodes },
      message: { type: 'string' },
      ...RETRY_AFTER[throttle],
      ...(codes.includes('VALIDATION_ERROR') ? { fields: { type: 'array', items: field } } : {}),
      ...(codes.includes('AMBIGUOUS_SHOP')
        ? { candidates: { type: 'array', items: { type: 'string' }, description: 'Ids of the shops.' } }
        : {}),
    },
  };
}

function exampleOf(code: ErrorCode): unknown {
  const { status, code: publicCode, message } = ERRORS[code];
  // A batch that is too large is never told how long to wait, so its example has what every such reply has.
  const waits = status === 429 && code !== 'DECLARE_BATCH_TOO_LARGE';
  const retryAfter = retryAfterSeconds({ code, ...(waits ? { retryAfterSeconds: 12 } : {}) });
  return {
    success: false,
    error: {
      code: publicCode,
      message,
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...(code === 'VALIDATION_ERROR' ? { fields: [{ field: 'name', message: 'is required' }] } : {}),
      ...(code === 'AMBIGUOUS_SHOP'
        ? { candidates: ['66b1f0a2c3d4e5f607182901', '66b1f0a2c3d4e5f607182911'] }
        : {}),
    },
  };
}

function referred(names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function ownHeaders(reply: ReplyDeclaration): Record<string, unknown> {
  const own = Object.entries(reply.headers ?? {});
  return Object.fromEntries(
    own.map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );
}
