/** The names of the optional fields of a type. */
type OptionalField<T> = {
  [Field in keyof T]-?: Record<never, never> extends Pick<T, Field> ? Field : never;
}[keyof T];

/**
 * Returns the optional fields of `T` that have a value. The argument must name each optional field, so a forgotten one
 * does not compile.
 */
export function presentFields<T extends object>(
  fields: {
    readonly [Field in OptionalField<T>]: T[Field] | undefined;
  },
): Pick<T, OptionalField<T>> {
  const givenFields: Readonly<Record<string, unknown>> = fields;
  const presentOnes: Record<string, unknown> = {};
  for (const name of Object.keys(givenFields))
    if (givenFields[name] !== undefined) presentOnes[name] = givenFields[name];
  return presentOnes as Pick<T, OptionalField<T>>;
}
