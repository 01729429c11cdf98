/** Resources as replies show them (docs/contract.md, Resources). */
import * as v from 'valibot';
import { count, id } from '../../actors/replies/reply-fields.ts';
import { shop } from '../../actors/replies/shop-replies.ts';

/** Schemas that a document names once and refers to instead of repeating them. */
export type NamedSchemas = Readonly<Record<string, v.GenericSchema>>;

/** A new shop, with the missing setup steps and where to complete them. */
export const createdShop = v.strictObject({
  ...shop.entries,
  setupUrl: v.pipe(v.string(), v.metadata({ format: 'uri' })),
  setupRequired: v.array(v.picklist(['location', 'operatingHours'])),
});

export const article = v.strictObject({
  slug: v.string(),
  title: v.string(),
  summary: v.string(),
  markdown: v.string(),
});

/** A page by cursor. */
export function cursorPage<Item extends v.GenericSchema>(item: Item) {
  return v.strictObject({ items: v.array(item), nextCursor: v.nullable(v.string()) });
}

/** A page of a list without an end: there is always a cursor. */
export function eventPage<Item extends v.GenericSchema>(item: Item) {
  return v.strictObject({ items: v.array(item), nextCursor: id });
}

/** A page by number. */
export function numberedPage<Item extends v.GenericSchema>(item: Item) {
  return v.strictObject({
    items: v.array(item),
    page: v.pipe(v.number(), v.integer(), v.minValue(1)),
    limit: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)),
    total: count,
  });
}
