import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import {
  acceptedMessage,
  acceptedStatus,
  article,
  channel,
  contact,
  createdShop,
  group,
  identity,
  message,
  shop,
  shopPolicy,
  verdict,
} from '../contract/resources.ts';

/** As much of JSON Schema as the document is built from. */
export interface JsonSchema {
  readonly type?: unknown;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

/** Resources that the document names instead of repeating. */
export const NAMED_SCHEMAS = {
  Shop: shop,
  CreatedShop: createdShop,
  Channel: channel,
  PolicyVerdict: verdict,
  ShopPolicy: shopPolicy,
  AcceptedMessage: acceptedMessage,
  AcceptedStatus: acceptedStatus,
  Message: message,
  Group: group,
  ConsentedContact: contact,
  Identity: identity,
  Article: article,
} as const;

// Checks that JSON Schema cannot say in its own words bring their keywords as metadata (fields.ts).
const CONFIG: ConversionConfig = { target: 'draft-2020-12', ignoreActions: ['check', 'raw_check'] };

const REFERRING: ConversionConfig = {
  ...CONFIG,
  typeMode: 'output',
  definitions: NAMED_SCHEMAS,
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
};

/** What a caller may send. */
export function inputSchema(schema: v.GenericSchema): JsonSchema {
  return bare(toJsonSchema(schema, { ...CONFIG, typeMode: 'input' }));
}

/** What a reply holds, in the document that has `NAMED_SCHEMAS`. */
export function outputSchema(schema: v.GenericSchema, hasNamed: boolean): JsonSchema {
  return bare(toJsonSchema(schema, hasNamed ? REFERRING : { ...CONFIG, typeMode: 'output' }));
}

/** The named schemas themselves. */
export function outputDefinitions(
  schemas: Readonly<Record<string, v.GenericSchema>>,
): Record<string, JsonSchema> {
  const names = Object.keys(schemas);
  const found: Record<string, JsonSchema> = {};
  for (const name of names) {
    const { [name]: own, ...others } = schemas;
    if (own !== undefined) found[name] = bare(toJsonSchema(own, { ...REFERRING, definitions: others }));
  }
  return found;
}

function bare(schema: object): JsonSchema {
  const { $schema: _, $defs: __, ...rest } = schema as JsonSchema;
  return rest;
}
