import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import type { NamedSchemas } from '../contract/endpoint.ts';

/** The part of JSON Schema that the document uses. */
export interface JsonSchema {
  readonly type?: unknown;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

// Checks that JSON Schema cannot express add their keywords as metadata (fields.ts).
const CONFIG: ConversionConfig = { target: 'draft-2020-12', ignoreActions: ['check', 'raw_check'] };

/** Returns the schema of a request. It is closed, so that a misspelt field is refused instead of ignored. */
export function inputSchema(schema: v.GenericSchema): JsonSchema {
  return bare(toJsonSchema(schema, { ...CONFIG, typeMode: 'input' }));
}

/**
 * Returns the schema of a reply, as a reference if it is one of `namedSchemas`. It is open, because fields may be added
 * (docs/contract.md: Versioning).
 */
export function outputSchema(schema: v.GenericSchema, namedSchemas: NamedSchemas): JsonSchema {
  const config: ConversionConfig = {
    ...CONFIG,
    typeMode: 'output',
    definitions: { ...namedSchemas },
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  };
  return openObjects(bare(toJsonSchema(schema, config))) as JsonSchema;
}

/** Returns the named schemas themselves, which refer to each other. */
export function outputDefinitions(namedSchemas: NamedSchemas): Record<string, JsonSchema> {
  const definitions: Record<string, JsonSchema> = {};
  for (const [name, schema] of Object.entries(namedSchemas)) {
    const { [name]: _, ...otherSchemas } = namedSchemas;
    definitions[name] = outputSchema(schema, otherSchemas);
  }
  return definitions;
}

/** Returns the schema without the keywords that close its objects. Examples are not changed. */
function openObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(openObjects);
  if (typeof value !== 'object' || value === null) return value;
  const parts = Object.entries(value).filter(
    ([name, part]) => name !== 'additionalProperties' || part !== false,
  );
  return Object.fromEntries(
    parts.map(([name, part]) => [name, name === 'examples' ? part : openObjects(part)]),
  );
}

function bare(schema: object): JsonSchema {
  const { $schema: _, $defs: __, ...schemaFields } = schema as JsonSchema;
  return schemaFields;
}
