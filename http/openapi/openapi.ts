import type { Endpoint, NamedSchemas } from '../contract/endpoint.ts';
import { COMMON_ERRORS, COMMON_OPERATOR_ERRORS, type ErrorCode } from '../contract/errors.ts';
import { TAGS } from '../contract/tags.ts';
import { envelopeSchemas, errorExamples } from './openapi-errors.ts';
import { parametersOf, requestBody } from './openapi-parameters.ts';
import {
  errorResponses,
  RATE_HEADER_NAMES,
  type ResponseOptions,
  successResponses,
} from './openapi-responses.ts';
import { outputDefinitions } from './openapi-schemas.ts';
import { type SharedResponses, sharedResponses } from './shared-responses.ts';

export interface DocumentOptions {
  readonly title: string;
  readonly description: string;
  /** Address of the base path. */
  readonly serverUrl: string;
  /** The address for questions of callers. Each document adds a name. */
  readonly contact?: { readonly url: string };
  /** How callers authenticate. */
  readonly security: 'api-key' | 'operator';
  readonly endpoints: readonly Endpoint<never>[];
  /** Operations that no endpoint declares, by path: replies that stay open. */
  readonly streams?: Readonly<Record<string, object>>;
  /** Schemas of replies that get a name. Generated clients use these names. */
  readonly namedSchemas: NamedSchemas;
}

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
  const tenantCodes = tenant === 'param' ? (['NOT_FOUND'] as const) : [];
  const ownerCodes = tenant === 'none' ? [] : (['BOT_SERVICE_UNREACHABLE'] as const);
  return [...COMMON_OPERATOR_ERRORS, ...tenantCodes, ...ownerCodes, ...errors];
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

/** Returns the OpenAPI 3.1 description of endpoints, made from their declarations. */
export function openApiDocument(options: DocumentOptions): Record<string, unknown> {
  const { endpoints, namedSchemas, security } = options;
  const isApi = security === 'api-key';
  const replies: ResponseOptions = {
    headers: ['X-Request-Id', ...(isApi ? RATE_HEADER_NAMES : [])],
    namedSchemas,
  };
  const codes = new Set(endpoints.flatMap(errorsOf));
  const sharedResponsesOfAll = sharedResponses(
    endpoints.flatMap((endpoint) => errorResponses(errorsOf(endpoint), replies)),
    new Set<ErrorCode>(isApi ? [...COMMON_ERRORS, 'QUOTA_EXCEEDED'] : COMMON_OPERATOR_ERRORS),
  );
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpoints) {
    const path = paths[endpoint.path] ?? {};
    path[endpoint.method.toLowerCase()] = operation(endpoint, replies, sharedResponsesOfAll);
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
      schemas: { ...envelopeSchemas(codes), ...outputDefinitions(namedSchemas) },
      responses: sharedResponsesOfAll.components,
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
  sharedResponsesOfAll: SharedResponses,
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
    parameters: parametersOf(endpoint),
    ...(body === undefined ? {} : { requestBody: requestBody(endpoint) }),
    responses: {
      ...successResponses(endpoint, replies),
      ...Object.fromEntries(
        errorResponses(errorsOf(endpoint), replies).map((response) => [
          response.status,
          sharedResponsesOfAll.referenceTo(response),
        ]),
      ),
    },
  };
}
