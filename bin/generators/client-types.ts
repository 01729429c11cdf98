import { tenantsDocument } from '../../http/openapi/document-page.ts';
import { type JsonSchema, typeOf } from './json-schema-type.ts';

/** The parts of the API's document that the client is made of. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

interface DocumentOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description?: string;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

/** Schemas of failures, which no operation's data refers to. */
const OF_FAILURES = ['ErrorCode', 'FieldProblem'];

/** Returns the tenants' document. */
export function apiDocument(): ApiDocument {
  return tenantsDocument({ publicUrl: '' }) as unknown as ApiDocument;
}

/**
 * Returns the TypeScript of `client/src/operations.ts`: types of each operation's request and reply, and its method and
 * path. Throws if the client cannot be made of the document, with the operation or keyword.
 *
 * It is written here because the output of openapi-typescript has no table for the run time and is nested like the
 * document. That tool also needs an older compiler than ours (tests/packages/document-tools).
 */
export function clientTypes({ paths, components }: ApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const types = operations.map(({ method, operation }) => operationType(method, operation));
  const rows = operations.map(({ path, method, operation }) => {
    const place = keyPlace(operation);
    const takesKey = place === undefined ? '' : `, idempotencyKey: '${place}'`;
    const isFile = successes(operation).data === FILE ? ', isFile: true' : '';
    return `  ${operation.operationId}: { method: '${method}', path: '${path}'${takesKey}${isFile} },\n`;
  });
  const text = types.join('');
  const namedSchemas = reachable(text, components.schemas);
  return [
    "/** Types of the API's document, written by `npm run client-types`: never edited by hand. */\n",
    ...namedSchemas.map(
      ([name, schema]) =>
        `\n${comment(schema.description, '')}export type ${name} = ${namedType(schema, namedSchemas)};\n`,
    ),
    `\n/** A page of a list. \`nextCursor\` asks for the next one, and is null after the last. */\nexport type Page<Item> = {\n  readonly items: readonly Item[];\n  readonly nextCursor: string | null;\n};\n`,
    `\n/** The parameters (\`params\`), the data (\`data\`) and the statuses of each operation. */\nexport interface Operations {\n${text}}\n`,
    `\n/** The method and path of each operation. */\nexport const OPERATIONS = {\n${rows.join('')}} as const;\n`,
  ].join('');
}

function operationType(method: string, operation: DocumentOperation): string {
  const { operationId, summary, description, parameters } = operation;
  const body = bodyOf(operation);
  const inBody = keyPlace(operation) === 'body';
  const namedParameters = parameters.filter((parameter) => !(inBody && isKeyHeader(parameter)));
  const takenNames = namedParameters.map((parameter) => ({
    name: isKeyHeader(parameter) ? 'idempotencyKey' : parameter.name,
    required: parameter.required,
    schema: {
      ...parameter.schema,
      ...(parameter.description === undefined ? {} : { description: parameter.description }),
    },
  }));
  for (const [name, schema] of Object.entries(body?.properties ?? {}))
    takenNames.push({ name, required: body?.required?.includes(name) ?? false, schema });
  refuseAmbiguity(method, operation, takenNames);
  const params: JsonSchema = {
    type: 'object',
    properties: Object.fromEntries(takenNames.map(({ name, schema }) => [name, schema])),
    required: takenNames.filter(({ required }) => required).map(({ name }) => name),
  };
  const { statuses, data } = successes(operation);
  return `${comment(`${summary}.\n\n${description}`, '  ')}  readonly ${operationId}: {
    readonly params: ${typeOf(params, '    ', 'given')};
    readonly data: ${dataType(data)};
    readonly status: ${statuses.join(' | ')};
  };
`;
}

function dataType(data: JsonSchema): string {
  if (data === FILE) return 'ReadableStream<Uint8Array>';
  const { items, nextCursor, ...otherProperties } = data.properties ?? {};
  const isPage = items?.items !== undefined && Object.keys(otherProperties).length === 0;
  return isPage && typeOf(nextCursor ?? {}, '') === 'string | null'
    ? `Page<${typeOf(items.items, '    ')}>`
    : typeOf(data, '    ');
}

/**
 * Refuses parameters that could go to two parts of the request. The client takes all as one object: a name decides the
 * part, and a query has no body.
 */
function refuseAmbiguity(
  method: string,
  { operationId, parameters, requestBody }: DocumentOperation,
  takenNames: readonly { readonly name: string }[],
): void {
  const names = takenNames.map(({ name }) => name);
  const repeatedName = names.find((name, index) => names.indexOf(name) !== index);
  if (repeatedName !== undefined)
    throw new Error(`${operationId}: two parameters are called ${repeatedName}`);
  const otherParameter = parameters.find(
    (parameter) => !['path', 'query'].includes(parameter.in) && !isKeyHeader(parameter),
  );
  if (otherParameter !== undefined)
    throw new Error(`${operationId}: the client has no place for ${otherParameter.name}`);
  const isQueried = parameters.some((parameter) => parameter.in === 'query');
  if (method === 'GET' ? requestBody !== undefined : isQueried)
    throw new Error(`${operationId}: a GET has no body and any other method no query`);
}

function bodyOf({ requestBody }: DocumentOperation): JsonSchema | undefined {
  return requestBody?.content['application/json']?.schema;
}

/**
 * Returns the part in which the operation takes its idempotency key. If it takes it in both body and header, the body.
 */
function keyPlace(operation: DocumentOperation): 'body' | 'header' | undefined {
  if (bodyOf(operation)?.properties?.idempotencyKey !== undefined) return 'body';
  return operation.parameters.some(isKeyHeader) ? 'header' : undefined;
}

function isKeyHeader(parameter: { readonly name: string; readonly in: string }): boolean {
  return parameter.in === 'header' && parameter.name === 'Idempotency-Key';
}

/** The data of an operation that returns a file. */
const FILE: JsonSchema = { type: 'string' };

/** Returns the statuses of success, and the `data` of their envelope, which is equal for all of them. */
function successes({ operationId, responses }: DocumentOperation): {
  readonly statuses: readonly string[];
  readonly data: JsonSchema;
} {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const statuses = successes.map(([status]) => status);
  if (successes.every(([, { content }]) => content?.['application/octet-stream'] !== undefined))
    return { statuses, data: FILE };
  const schemas = successes.map(([, { content }]) =>
    content?.['application/json']?.schema.allOf
      ?.map(({ properties }) => properties?.data)
      .find((data) => data !== undefined),
  );
  const [data] = schemas;
  if (data === undefined || new Set(schemas.map((schema) => JSON.stringify(schema))).size > 1)
    throw new Error(`${operationId}: no data, or another with each status`);
  return { statuses, data };
}

/** A schema and the name of its type. */
type NamedSchema = readonly [name: string, schema: JsonSchema];

/**
 * Returns the type of a schema. If the schema has all properties of another one, the type is made of that one's type.
 */
function namedType(schema: JsonSchema, namedSchemas: readonly NamedSchema[]): string {
  const { properties = {} } = schema;
  const [base] = namedSchemas
    .filter(([, right]) => isPart(right, schema))
    .sort(([, left], [, right]) => size(right) - size(left));
  if (base === undefined) return typeOf(schema, '');
  const [name, { properties: knownProperties = {} }] = base;
  const otherProperties = Object.entries(properties).filter(([property]) => !(property in knownProperties));
  return `${name} & ${typeOf({ ...schema, properties: Object.fromEntries(otherProperties) }, '')}`;
}

/** True if `wholeSchema` has all properties of `part`, and more. */
function isPart(part: JsonSchema, wholeSchema: JsonSchema): boolean {
  if (size(part) === 0 || size(part) >= size(wholeSchema)) return false;
  return Object.entries(part.properties ?? {}).every(
    ([name, schema]) =>
      JSON.stringify(schema) === JSON.stringify(wholeSchema.properties?.[name]) &&
      part.required?.includes(name) === wholeSchema.required?.includes(name),
  );
}

function size({ properties = {} }: JsonSchema): number {
  return Object.keys(properties).length;
}

/** Returns the schemas that the text refers to, also through other schemas, in the document's order. */
function reachable(text: string, schemas: Readonly<Record<string, JsonSchema>>): readonly NamedSchema[] {
  const foundNames = new Set(OF_FAILURES);
  const look = (text: string): void => {
    for (const name of Object.keys(schemas)) {
      if (foundNames.has(name) || !new RegExp(`: .*\\b${name}\\b`).test(text)) continue;
      foundNames.add(name);
      look(`: ${typeOf(schemas[name] ?? {}, '')}`);
    }
  };
  look(text.replaceAll(/\/\*\*.*?\*\//gs, ''));
  return Object.entries(schemas).filter(([name]) => foundNames.has(name));
}

/** Returns a comment above a declaration. */
function comment(text: string | undefined, indent: string): string {
  if (text === undefined) return '';
  const lines = text.replaceAll('*/', '*∕').split('\n');
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}
