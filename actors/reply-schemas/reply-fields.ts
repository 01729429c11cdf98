/** Fields that many replies have. The schemas of this folder are the replies of both APIs; the types come from them. */
import * as v from 'valibot';

/** The read-only type of a reply, from its schema. */
export type ReplyOf<Schema extends v.GenericSchema> = DeepReadonly<v.InferOutput<Schema>>;

/** The value, with every field and every list read-only. */
export type DeepReadonly<Value> = Value extends object
  ? { readonly [Field in keyof Value]: DeepReadonly<Value[Field]> }
  : Value;

/**
 * A page of a list, mostly newest first. `nextCursor` leads to the next page, and is null at the end. A page may have
 * fewer items than its limit and still have a next page.
 */
export interface CursorPage<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** The page of a list that is requested: the one after `cursor`, or the first. */
export interface PageQuery {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** The id of a resource of the API. */
export const id = v.pipe(
  v.string(),
  v.metadata({ pattern: '^[0-9a-f]{24}$', examples: ['66b1f0a2c3d4e5f60718293a'] }),
);

/** A moment, as every reply writes it. */
export const instant = v.pipe(v.string(), v.metadata({ format: 'date-time' }));

export const integer = v.pipe(v.number(), v.integer());

/** A whole number from 0. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
