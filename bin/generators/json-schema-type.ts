/** The part of JSON Schema that the API's document uses. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly description?: string;
}

/** Keywords that shape a value. */
const SHAPING = [
  ...['$ref', 'type', 'const', 'enum', 'anyOf', 'allOf', 'items', 'properties', 'required'],
  'additionalProperties',
];

/** Keywords that restrict values of a shape, or explain: they do not change the type. */
const BESIDES = [
  ...['description', 'examples', 'default', 'format', 'pattern', 'not', 'propertyNames', 'deprecated'],
  ...['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'maxProperties'],
];

const KNOWN: ReadonlySet<string> = new Set([...SHAPING, ...BESIDES]);

const PLAIN: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/**
 * Returns the TypeScript of a schema. In requests an optional value may be `undefined`. Throws for a keyword that it
 * does not know, since a type that leaves something out would be wrong.
 */
export function typeOf(
  schema: JsonSchema,
  indent: string,
  direction: 'given' | 'answered' = 'answered',
): string {
  const unknownKeyword = Object.keys(schema).find((keyword) => !KNOWN.has(keyword));
  if (unknownKeyword !== undefined)
    throw new Error(`the client's types do not know the keyword ${unknownKeyword}`);
  const innerType = (part: JsonSchema): string => typeOf(part, indent, direction);
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(innerType).join(' | ');
  if (schema.allOf !== undefined) return schema.allOf.map(innerType).join(' & ');
  if (schema.type === 'array') return `readonly ${bracket(innerType(schema.items ?? {}))}[]`;
  if (schema.type === 'object') return objectType(schema, indent, direction);
  return PLAIN[schema.type ?? ''] ?? 'unknown';
}

function objectType(
  { properties, required = [], additionalProperties }: JsonSchema,
  indent: string,
  direction: 'given' | 'answered',
): string {
  if (properties === undefined) {
    const values = typeof additionalProperties === 'object' ? additionalProperties : {};
    return `Readonly<Record<string, ${typeOf(values, indent, direction)}>>`;
  }
  const deeperIndent = `${indent}  `;
  const lines = Object.entries(properties).map(([name, schema]) => {
    const type = typeOf(schema, deeperIndent, direction);
    const isRequired = required.includes(name);
    const orUndefined = isRequired || direction === 'answered' ? '' : ' | undefined';
    const comment = schema.description === undefined ? '' : `${deeperIndent}/** ${schema.description} */\n`;
    return `${comment}${deeperIndent}readonly ${name}${isRequired ? '' : '?'}: ${type}${orUndefined};\n`;
  });
  return lines.length === 0 ? 'Readonly<Record<never, never>>' : `{\n${lines.join('')}${indent}}`;
}

function bracket(type: string): string {
  return /[|&]/.test(type) && !type.startsWith('{') ? `(${type})` : type;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}
