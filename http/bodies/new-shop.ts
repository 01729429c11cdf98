import * as v from 'valibot';
import { shop } from '../../actors/reply-schemas/shop-schemas.ts';
import { closedObject } from '../contract/closed-object.ts';
import { name, text } from '../contract/fields.ts';

/** Clients read these path segments as "here" and "one up", so a shop with such a name could never be fetched. */
const DOTS = ['.', '..'];

/** The name of a new shop: up to 100 characters, and neither `.` nor `..`. */
const shopName = v.config(
  v.pipe(
    name({ max: 100 }),
    v.check((value) => !DOTS.includes(value), 'must not be . or .., which no client can ask for'),
    v.description(
      'One line without control characters. A name needs a visible character. Half of a surrogate pair is refused. Two names are the same if their lower case is the same in Unicode form NFKC.',
    ),
    v.metadata({ not: { enum: DOTS } }),
  ),
  { abortPipeEarly: true },
);

export const newShop = closedObject({ name: shopName, phone: v.optional(text({ max: 32 })) });

/** A new shop, with the missing setup steps and where to complete them. */
export const createdShop = v.strictObject({
  ...shop.entries,
  setupUrl: v.pipe(v.string(), v.metadata({ format: 'uri' })),
  setupRequired: v.array(v.picklist(['location', 'operatingHours'])),
});
