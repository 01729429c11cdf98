import fc from 'fast-check';

/** The part of JSON Schema that the bodies of the document use. */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: 'uri' | 'date-time';
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** Values at which a document and a service may part ways, by the schema's format. */
const TRICKY = {
  uri: [
    'http://',
    'https:///x',
    'http:example.com',
    'https://example.com:99999/x',
    'https://example.com:65536',
    'https://example.com:65535',
    'https://example.com:/x',
    'https://a@example.com/x',
    'https://1.2.3.4/x',
    'https://1.2.3.256/x',
    'https://1.2.3/x',
    'https://0x7f.1/x',
    'https://example.1/x',
    'https://example.0x1/x',
    'https://[::1]/x',
    'https://[::12345]/x',
    'https://[1.2.3.4]/x',
    'https://xn--bcher-kva.example/x',
    'https://a.-b-.example./x',
    'https://example.com/a[]=1',
    'https://example.com/?a[]=1',
    'https://example.com/%zz',
    'https://example.com/ä',
    'https://example.com/#a#b',
    'ftp://example.com/x',
    'data:text/plain,x',
    'javascript:alert(1)',
    'file:///etc/passwd',
  ],
  'date-time': [
    '2016-12-31T23:59:60Z',
    '2027-02-29T00:00:00Z',
    '2028-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '0000-02-29T00:00:00Z',
    '2027-00-10T00:00:00Z',
    '2027-01-01T24:00:00Z',
    '2027-01-01T00:00:00.1234567890Z',
    '2027-01-01T00:00:00z',
    '2027-01-01T00:00:00+00:00',
  ],
  text: [
    '+41791234567',
    '+0791234567',
    '+1234567890123456',
    '41791234567\n',
    '+41791234567\n',
    'a@g.us',
    '@g.us',
    '\ud83e',
    'a\udd56b',
    '\u200b',
    '\u2800',
    '\u00a0',
    '\0',
    'a\nb',
    'a\u2028b',
    '.',
    '..',
    '…',
    '',
  ],
} as const;

/** Bodies near the schema: each part mostly as its schema has it, sometimes as another one has it, or noise. */
export function bodiesOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: near(schema), weight: 20 }, { arbitrary: fc.jsonValue(), weight: 1 });
}

function near(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return mostly(fc.constant(schema.const));
  if (schema.enum !== undefined) return mostly(fc.constantFrom(...schema.enum));
  if (schema.type === 'array') return mostly(fc.array(near(schema.items ?? {}), { maxLength: 3 }));
  if (schema.type !== 'object') return nearText(schema);
  const names = Object.keys(schema.properties ?? {});
  const parts = Object.fromEntries(names.map((name) => [name, near(schema.properties?.[name] ?? {})]));
  return mostly(fc.record(parts, { requiredKeys: [...(schema.required ?? [])] }));
}

function nearText({ pattern, format, maxLength = 60 }: Schema): fc.Arbitrary<unknown> {
  const fitting = pattern === undefined ? anyText(60) : fc.stringMatching(new RegExp(pattern));
  const longArbitrary = fc
    .tuple(fc.constantFrom('a', '🥖', 'é'), fc.integer({ min: maxLength - 1, max: maxLength + 1 }))
    .map(([character, length]) => character.repeat(Math.max(0, length)));
  return mostly(
    fc.oneof(
      { arbitrary: fitting, weight: 4 },
      { arbitrary: fc.constantFrom(...TRICKY[format ?? 'text']), weight: 4 },
      { arbitrary: fc.constantFrom(...Object.values(TRICKY).flat()), weight: 1 },
      { arbitrary: longArbitrary, weight: 1 },
    ),
  );
}

/** Pairs of surrogates and their halves, controls and letters of many scripts. */
function anyText(maxLength: number): fc.Arbitrary<string> {
  const halfArbitrary = fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit));
  return fc.oneof(
    { arbitrary: fc.string({ unit: 'binary', maxLength }), weight: 4 },
    {
      arbitrary: fc.tuple(fc.string(), halfArbitrary, fc.string()).map((parts) => parts.join('')),
      weight: 1,
    },
  );
}

function mostly(arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary, weight: 12 }, { arbitrary: fc.jsonValue({ maxDepth: 1 }), weight: 1 });
}
