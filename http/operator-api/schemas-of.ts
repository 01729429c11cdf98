import type * as v from 'valibot';

/** A schema for each field of an event. A missing schema, or one without a field, does not compile. */
export type SchemasOf<View> = { readonly [Field in keyof View]-?: v.GenericSchema };
