/** Parts of envelopes: each is joined with another by `allOf`, and closed there. */
const ENVELOPES: ReadonlySet<string> = new Set(['Success', 'Failure', 'Throttled']);

/**
 * Returns a copy of a published document with closed replies. The published ones are open, since fields may be added. A
 * test must fail for each field of a reply that its document does not have.
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
  if (closes && Array.isArray(schema.allOf)) {
    schema.unevaluatedProperties = false;
  } else if (closes && schema.type === 'object' && schema.properties !== undefined) {
    schema.additionalProperties ??= false;
  }
  for (const [name, part] of Object.entries(schema)) {
    if (name === 'examples' || name === 'example') continue;
    // The parts of an `allOf` are closed together, except the data of a success, which is a separate object.
    if (name === 'allOf') for (const branch of part as object[]) closeBranch(branch);
    else close(part, true);
  }
}

function closeBranch(branch: { properties?: { data?: unknown } }): void {
  close(branch.properties?.data, true);
}
