import type * as v from 'valibot';

/** Schemas that a document names once and refers to instead of repeating them. */
export type NamedSchemas = Readonly<Record<string, v.GenericSchema>>;
