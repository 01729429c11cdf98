import fc from 'fast-check';
import type { Operation } from './checked-client.ts';

/** A call made up from the document. */
export interface MadeUpCall {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** True when every part fits the document. */
  readonly isValid: boolean;
}

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly not?: { readonly enum: readonly unknown[] };
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

/** Calls of an operation: whole ones, ones with a part broken, and noise. */
export function callsOf(path: string, operation: Operation, shopId: string): fc.Arbitrary<MadeUpCall> {
  const bodySchema = operation.requestBody?.content['application/json'].schema as Schema | undefined;
  return fc
    .record({
      shop: fc.oneof(fc.constant(shopId), fc.constant('fuzzed'), anyText(40)),
      query: queryOf(operation),
      body: bodySchema === undefined ? fc.constant({ text: '', isValid: true }) : bodyOf(bodySchema),
      contentType: fc.oneof(
        { arbitrary: fc.constant('application/json'), weight: 12 },
        { arbitrary: fc.constantFrom('text/plain', 'application/xml', ''), weight: 1 },
      ),
    })
    .map(({ shop, query, body, contentType }) => {
      const filled = path.replace(
        /\{\w+\}/,
        encodeURIComponent(shop === '' || shop.startsWith('.') ? 'x' : shop),
      );
      const hasType = contentType === 'application/json' || bodySchema === undefined;
      return {
        url: query.text === '' ? filled : `${filled}?${query.text}`,
        headers: bodySchema === undefined ? {} : { 'content-type': contentType },
        body: body.text,
        isValid: query.isValid && body.isValid && hasType,
      };
    });
}

interface Part {
  readonly text: string;
  readonly isValid: boolean;
}

function queryOf(operation: Operation): fc.Arbitrary<Part> {
  const declared = operation.parameters.filter((parameter) => parameter.in === 'query');
  const fitting = fc.record(
    Object.fromEntries(declared.map(({ name, schema }) => [name, valid(schema as Schema)])),
    { requiredKeys: [] },
  );
  const broken = fc.record({ pairs: fitting, name: anyText(12), value: anyText(12) });
  return fc.oneof(
    { arbitrary: fitting.map((pairs) => ({ text: encoded(pairs), isValid: true })), weight: 3 },
    {
      arbitrary: broken.map(({ pairs, name, value }) => ({
        text: encoded({ ...pairs, [declared[0]?.name ?? name]: value, [name]: value }),
        isValid: false,
      })),
      weight: 1,
    },
    {
      arbitrary: fc.stringMatching(/^[a-z%=&+;~-]{0,20}$/).map((text) => ({ text, isValid: false })),
      weight: 1,
    },
  );
}

function encoded(pairs: Record<string, unknown>): string {
  return Object.entries(pairs)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join('&');
}

function bodyOf(schema: Schema): fc.Arbitrary<Part> {
  return fc.oneof(
    { arbitrary: valid(schema).map((body) => ({ text: JSON.stringify(body), isValid: true })), weight: 4 },
    {
      arbitrary: fc
        .tuple(valid(schema), fc.dictionary(anyText(10), fc.jsonValue(), { minKeys: 1, maxKeys: 3 }))
        .map(([body, more]) => ({ text: JSON.stringify({ ...(body as object), ...more }), isValid: false })),
      weight: 2,
    },
    { arbitrary: mangled(schema), weight: 3 },
    { arbitrary: fc.json().map((text) => ({ text, isValid: false })), weight: 1 },
    { arbitrary: anyText(60).map((text) => ({ text, isValid: false })), weight: 1 },
  );
}

/** A whole body in which one property is something else. */
function mangled(schema: Schema): fc.Arbitrary<Part> {
  const names = Object.keys(schema.properties ?? {});
  if (names.length === 0) return fc.constant({ text: '{"a":1}', isValid: false });
  return fc
    .tuple(
      valid(schema),
      fc.constantFrom(...names),
      fc.oneof(fc.jsonValue(), anyText(5_000), fc.constant(undefined)),
    )
    .map(([body, name, value]) => ({
      text: JSON.stringify({ ...(body as object), [name]: value }),
      isValid: false,
    }));
}

function valid(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valid));
  switch (schema.type) {
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 1_000 });
    case 'number':
      return fc.double({ min: schema.minimum ?? 0, max: schema.maximum ?? 1_000, noNaN: true });
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valid(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 5 });
    case 'object': {
      const properties = Object.entries(schema.properties ?? {});
      const made = Object.fromEntries(properties.map(([name, property]) => [name, valid(property)]));
      if (schema.maxProperties === 1)
        return fc.oneof(...Object.entries(made).map(([name, value]) => fc.record({ [name]: value })));
      return fc
        .record(made, { requiredKeys: [...(schema.required ?? [])] })
        .filter((body) => Object.keys(body).length >= (schema.minProperties ?? 0));
    }
    default:
      return validText(schema);
  }
}

function validText(schema: Schema): fc.Arbitrary<string> {
  if (schema.format === 'uri')
    return fc.webUrl({ withQueryParameters: true }).filter((url) => url.length <= (schema.maxLength ?? 2048));
  if (schema.format === 'date-time') {
    const max = new Date('2099-12-31T00:00:00Z');
    return fc.date({ min: new Date(0), max, noInvalidDate: true }).map((date) => date.toISOString());
  }
  if (schema.pattern !== undefined) {
    const { minLength = 0, maxLength = 5_000, not } = schema;
    // A name must have a visible character, which no pattern can require. A letter is one.
    const shown =
      minLength > 0 ? (text: string) => `${text.slice(0, maxLength - 2)}a` : (text: string) => text;
    return fc
      .stringMatching(new RegExp(schema.pattern))
      .map(shown)
      .filter((text) => text.length <= maxLength && !not?.enum.includes(text));
  }
  return fc.string({
    unit: 'binary',
    minLength: schema.minLength ?? 0,
    maxLength: schema.maxLength ?? 50,
  });
}

function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.oneof(fc.string({ maxLength }), fc.string({ unit: 'binary', maxLength }));
}

/** A wait that the document allows would be waited for, up to half a minute a call. */
export function withoutWait(url: string): string {
  return url.replace(/(?<=[?&]waitMs=)\d{1,5}(?=&|$)/, (value) => (Number(value) <= 30_000 ? '0' : value));
}
