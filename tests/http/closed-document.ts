/** Parts of envelopes: each is joined with another by `allOf`, and closed there. */
const ENVELOPES: ReadonlySet<string> = new Set(['Success', 'Failure', 'Throttled']);

/**
 * A copy of a published document whose replies are closed. Published, they are open, since fields may be added; a test
 * wants to hear of each field that a reply has and its document does not.
 */
export function closedDocument<Document extends object>(document: Document): Document {
  const copy = structuredClone(document) as {
    readonly paths: Record<string, Record<string, { responses: object }>>;
    readonly components: { readonly schemas: Record<string, unknown>; readonly responses: object };
  };
  for (const operations of Object.values(copy.paths)) {
    for (const { responses } of Object.values(operations)) close(responses, true);
  }
  close(copy.components.responses, true);
  for (const [name, schema] of Object.entries(copy.components.schemas)) close(schema, !ENVELOPES.has(name));
  return copy as Document;
}

function close(value: unknown, closes: boolean): void {
  if (typeof value !== 'object' || value === null) return;
  const schema = value as Record<string, unknown>;
  if (closes && Array.isArray(schema.allOf)) schema.unevaluatedProperties = false;
  else if (closes && schema.type === 'object' && schema.properties !== undefined) {
    schema.additionalProperties ??= false;
  }
  for (const [name, part] of Object.entries(schema)) {
    if (name === 'examples' || name === 'example') continue;
    // What an `allOf` joins is closed as a whole, but for the data of a success, which is an object of its own.
    if (name === 'allOf') for (const branch of part as object[]) closeBranch(branch);
    else close(part, true);
  }
}

function closeBranch(branch: { properties?: { data?: unknown } }): void {
  close(branch.properties?.data, true);
}
