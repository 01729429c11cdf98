import type * as v from 'valibot';

/** A schema for each field of what is told: a field that has none does not compile, nor one that is told no more. */
export type SchemasOf<Told> = { readonly [Field in keyof Told]-?: v.GenericSchema };
