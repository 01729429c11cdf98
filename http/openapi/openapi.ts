import type { Endpoint, Tag } from '../contract/endpoint.ts';
import { COMMON_ERRORS, COMMON_OPERATOR_ERRORS, type ErrorCode } from '../contract/errors.ts';
import type { NamedSchemas } from '../contract/named-schemas.ts';
import { envelopeSchemas, errorExamples } from './openapi-errors.ts';
import {
  errorResponses,
  RATE_HEADER_NAMES,
  type ResponseOptions,
  successResponses,
} from './openapi-responses.ts';
import { inputSchema, type JsonSchema, outputDefinitions } from './openapi-schemas.ts';
import { type SharedResponses, sharedResponses } from './shared-responses.ts';

/** Describes the API as a whole. */
export interface DocumentOptions {
  readonly title: string;
  readonly description: string;
  /** Address of the base path. */
  readonly serverUrl: string;
  /** Where callers can ask questions. Each document adds a name. */
  readonly contact?: { readonly url: string };
  /** How callers authenticate. */
  readonly security: 'api-key' | 'operator';
  readonly endpoints: readonly Endpoint<never>[];
  /** Operations that no endpoint declares, by path: replies that stay open. */
  readonly streams?: Readonly<Record<string, object>>;
  /** Schemas of replies that get a name. Generated clients use these names. */
  readonly named: NamedSchemas;
}

/** All replies of one operation. */
function errorsOf({ permission, tenant, mayExceedQuota, errors }: Endpoint<never>): readonly ErrorCode[] {
  if (permission !== 'operator') {
    return [
      ...COMMON_ERRORS,
      ...(mayExceedQuota ? [] : (['QUOTA_EXCEEDED'] as const)),
      ...(permission === 'none' ? [] : (['FORBIDDEN_PERMISSION'] as const)),
      ...errors,
    ];
  }
  // Only a path with a tenant reaches an actor, which may be suspended, and names an id, which may not exist.
  const ofTenant: readonly ErrorCode[] =
    tenant === 'param'
      ? ['NOT_FOUND', 'BOT_SERVICE_UNREACHABLE']
      : tenant === 'created'
        ? ['BOT_SERVICE_UNREACHABLE']
        : [];
  return [...COMMON_OPERATOR_ERRORS, ...ofTenant, ...errors];
}

const SECURITY_SCHEMES = {
  'api-key': {
    bearer: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API_KEY>' },
    apiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'x-api-key',
      description: 'An alias of the bearer header.',
    },
  },
  operator: {
    operator: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <ADMIN_TOKEN>' },
  },
} as const;

const TAGS: { readonly [tag in Tag]: string } = {
  Identity: 'The calling key and its tenant.',
  Shops: "The tenant's shops.",
  Channel: "The connection of a shop's number to the chat network.",
  Messages: 'Outbound messages and their delivery state.',
  Batches: 'One text to many people, over hours and days.',
  Inbound: 'Messages that people write to the shops, if the account receives them.',
  Events: 'Events of the account, oldest first.',
  Statuses: "Statuses of a shop's number.",
  Groups: "Chat groups of a shop's number.",
  Contacts: 'Contacts that consented to be written to.',
  Documentation: 'Articles, as Markdown.',
  Tenants: 'Accounts, their shops and their customer records.',
  Keys: 'API keys of a tenant.',
  Webhooks: "The endpoints that receive a tenant's events.",
  Requests: 'The request log.',
  Fleet: 'Nodes.',
  Actors: 'The live actors of shops.',
  'Dead letters': 'Commands that made an actor throw.',
  Operators: 'The operators of the service, and their changes.',
};

/** Returns the OpenAPI 3.1 description of endpoints. It is made only from their declarations. */
export function openApiDocument(options: DocumentOptions): Record<string, unknown> {
  const { endpoints, named, security } = options;
  const isApi = security === 'api-key';
  const replies: ResponseOptions = {
    headers: ['X-Request-Id', ...(isApi ? RATE_HEADER_NAMES : [])],
    named,
  };
  const codes = new Set(endpoints.flatMap(errorsOf));
  const shared = sharedResponses(
    endpoints.flatMap((endpoint) =>
      errorResponses(errorsOf(endpoint), replies).map(([, response]) => response),
    ),
    new Set<ErrorCode>(isApi ? [...COMMON_ERRORS, 'QUOTA_EXCEEDED'] : COMMON_OPERATOR_ERRORS),
  );
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpoints) {
    const path = paths[endpoint.path] ?? {};
    path[endpoint.method.toLowerCase()] = operation(endpoint, replies, shared);
    paths[endpoint.path] = path;
  }
  for (const [path, get] of Object.entries(options.streams ?? {})) paths[path] = { get };
  const schemes = SECURITY_SCHEMES[security];
  return {
    openapi: '3.1.0',
    info: {
      title: options.title,
      version: '1',
      description: options.description,
      contact: { name: 'The operator of this installation', ...options.contact },
    },
    servers: [{ url: options.serverUrl }],
    security: Object.keys(schemes).map((name) => ({ [name]: [] })),
    tags: [...new Set(endpoints.map(({ tag }) => tag))].map((name) => ({ name, description: TAGS[name] })),
    paths,
    components: {
      securitySchemes: schemes,
      headers: isApi ? { ...HEADERS, ...RATE_HEADERS } : HEADERS,
      schemas: { ...envelopeSchemas(codes), ...outputDefinitions(named) },
      responses: shared.components,
      examples: errorExamples(codes),
    },
  };
}

const HEADERS = {
  'X-Request-Id': {
    description: "The caller's own id if it sent a well-formed one, else one of ours.",
    required: true,
    schema: { type: 'string' },
  },
  'WWW-Authenticate': {
    description:
      '`Bearer realm="api"`, with `error="invalid_token"` if the request had a token that is not valid.',
    required: true,
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds, equal to `error.retryAfter`. Every 429 has it.',
    schema: { type: 'integer', minimum: 1 },
  },
} as const;

const RATE_HEADERS = {
  'X-RateLimit-Limit': { description: 'Calls that the window allows.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Calls left in the window.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description: 'When the window allows one more call, in Unix seconds.',
    schema: { type: 'integer' },
  },
  'X-RateLimit-Scope': {
    description: 'The window with the fewest calls left.',
    schema: { type: 'string', enum: ['minute', 'hour', 'day'] },
  },
} as const;

function operation(
  endpoint: Endpoint<never>,
  replies: ResponseOptions,
  shared: SharedResponses,
): Record<string, unknown> {
  const { permission, role, body } = endpoint;
  const description = [
    endpoint.description,
    role === undefined ? `Permission: \`${permission}\`.` : `Role: \`${role}\`.`,
  ];
  return {
    operationId: endpoint.name,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: description.filter((part) => part !== undefined).join('\n\n'),
    ...(role === undefined ? { 'x-permission': permission } : { 'x-role': role }),
    parameters: [...pathParameters(endpoint), ...queryParameters(endpoint), ...headerParameters(endpoint)],
    ...(body === undefined ? {} : { requestBody: requestBody(endpoint) }),
    responses: {
      ...successResponses(endpoint, replies),
      ...Object.fromEntries(
        errorResponses(errorsOf(endpoint), replies).map(([status, response]) => [
          status,
          shared.of(response),
        ]),
      ),
    },
  };
}

function pathParameters({ params }: Endpoint<never>): readonly unknown[] {
  return params.map((name) => ({
    name,
    in: 'path',
    required: true,
    description: name === 'idOrName' ? "The shop's id or exact name, case-insensitive." : `The ${name}.`,
    schema: { type: 'string', minLength: 1 },
  }));
}

function queryParameters({ query }: Endpoint<never>): readonly unknown[] {
  const { properties = {}, required = [] } = inputSchema(query);
  return Object.entries(properties).map(([name, found]) => {
    const { description, ...schema } = found;
    // A default is declared as the text that a caller would send.
    const value = schema.default;
    const typed = schema.type === 'integer' ? Number(value) : value === 'true';
    const isText = schema.type !== 'integer' && schema.type !== 'boolean';
    return {
      name,
      in: 'query',
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: value === undefined || isText ? schema : { ...schema, default: typed },
    };
  });
}

function headerParameters({ takesIdempotencyKey }: Endpoint<never>): readonly unknown[] {
  if (!takesIdempotencyKey) return [];
  return [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description:
        'A repeated call with the same key gets `200` with the result of the first call. Use ASCII only. The HTTP server may cut off a part of a key with other characters, so that two keys become one. The field `idempotencyKey` of a message takes any characters. An empty key counts as none. Two lines of this header are refused.',
      schema: { type: 'string', maxLength: 128, pattern: '^[ -~]*$' },
    },
  ];
}

function requestBody({ body, bodyExample }: Endpoint<never>): unknown {
  const schema: JsonSchema = body === undefined ? {} : inputSchema(body);
  const isEmpty = Object.keys(schema.properties ?? {}).length === 0;
  return {
    required: !isEmpty,
    content: { 'application/json': { schema, example: bodyExample ?? {} } },
  };
}
