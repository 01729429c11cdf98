import { ERRORS, type ErrorCode, retryAfterSeconds } from '../contract/errors.ts';

/** Returns the schemas that every operation of a document refers to: the envelopes, the error and its codes. */
export function envelopeSchemas(codes: Iterable<ErrorCode>): Record<string, unknown> {
  return {
    Success: {
      type: 'object',
      required: ['success'],
      properties: { success: { type: 'boolean', const: true } },
    },
    Failure: {
      type: 'object',
      required: ['success', 'error'],
      properties: {
        success: { type: 'boolean', const: false },
        error: { $ref: '#/components/schemas/Error' },
      },
    },
    Throttled: {
      description: 'A failure that says when to retry.',
      allOf: [
        { $ref: '#/components/schemas/Failure' },
        {
          type: 'object',
          properties: {
            error: {
              type: 'object',
              required: ['retryAfter'],
              properties: { retryAfter: { type: 'integer', minimum: 1 } },
              additionalProperties: true,
            },
          },
          additionalProperties: true,
        },
      ],
    },
    Error: ERROR,
    ErrorCode: {
      type: 'string',
      description:
        'Decide by this code. More values may be added. If you do not know a value, decide by the HTTP status.',
      enum: [...new Set([...codes].map((code) => ERRORS[code].code))].sort(),
    },
    FieldProblem: {
      type: 'object',
      required: ['field', 'message'],
      properties: {
        field: { type: 'string', description: 'A dotted path, like `contacts.0.phone`.' },
        message: { type: 'string' },
      },
    },
  };
}

const ERROR = {
  type: 'object',
  required: ['code', 'message'],
  properties: {
    code: { $ref: '#/components/schemas/ErrorCode' },
    message: { type: 'string', description: 'For people. It may change.' },
    retryAfter: {
      type: 'integer',
      minimum: 1,
      description:
        'Seconds, equal to `Retry-After`. Every 429 has it, and a 503 if the time is known. It is 86400 if waiting does not help; `message` then says so. It is 1 if a call declares too many contacts, because a smaller call may follow at once.',
    },
    fields: {
      type: 'array',
      items: { $ref: '#/components/schemas/FieldProblem' },
      description: 'With `VALIDATION_ERROR`: the invalid fields, at most 50.',
    },
    candidates: {
      type: 'array',
      items: { type: 'string' },
      description: 'With `AMBIGUOUS_SHOP`: ids of the shops.',
    },
    nextCursor: {
      type: 'string',
      description:
        'With `VALIDATION_ERROR`, if events after the given `cursor` can no longer be read: the cursor to continue from.',
    },
  },
} as const;

/** Returns an example of the failure of each code, for the document. */
export function errorExamples(codes: Iterable<ErrorCode>): Record<string, unknown> {
  return Object.fromEntries([...codes].sort().map((code) => [code, { value: exampleOf(code) }]));
}

function exampleOf(code: ErrorCode): unknown {
  const { status, code: publicCode, message } = ERRORS[code];
  // A batch that is too large gets no wait time, so its example has the value that every such reply has.
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
