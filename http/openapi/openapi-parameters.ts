import type { Endpoint } from '../contract/endpoint.ts';
import { inputSchema, type JsonSchema } from './openapi-schemas.ts';

/** Returns the parameters of an operation: of its path, its query and its headers. */
export function parametersOf(endpoint: Endpoint<never>): readonly unknown[] {
  return [...pathParameters(endpoint), ...queryParameters(endpoint), ...headerParameters(endpoint)];
}

function pathParameters({ params }: Endpoint<never>): readonly unknown[] {
  return params.map((name) => ({
    name,
    in: 'path',
    required: true,
    description: name === 'idOrName' ? "The shop's id or whole name, case-insensitive." : `The ${name}.`,
    schema: { type: 'string', minLength: 1 },
  }));
}

function queryParameters({ query }: Endpoint<never>): readonly unknown[] {
  const { properties = {}, required = [] } = inputSchema(query);
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = property;
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

/** Returns the body that an operation takes. */
export function requestBody({ body, bodyExample }: Endpoint<never>): unknown {
  const schema: JsonSchema = body === undefined ? {} : inputSchema(body);
  const isEmpty = Object.keys(schema.properties ?? {}).length === 0;
  return {
    required: !isEmpty,
    content: { 'application/json': { schema, example: bodyExample ?? {} } },
  };
}
