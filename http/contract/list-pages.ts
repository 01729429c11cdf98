import * as v from 'valibot';
import { count, id } from '../../actors/reply-schemas/reply-fields.ts';

/** Returns the schema of a page by cursor. */
export function cursorPage<Item extends v.GenericSchema>(item: Item) {
  return v.strictObject({ items: v.array(item), nextCursor: v.nullable(v.string()) });
}

/** Returns the schema of a page of a list without an end: there is always a cursor. */
export function eventPage<Item extends v.GenericSchema>(item: Item) {
  return v.strictObject({ items: v.array(item), nextCursor: id });
}

/** Returns the schema of a page by number. */
export function numberedPage<Item extends v.GenericSchema>(item: Item) {
  return v.strictObject({
    items: v.array(item),
    page: v.pipe(v.number(), v.integer(), v.minValue(1)),
    limit: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)),
    total: count,
  });
}
