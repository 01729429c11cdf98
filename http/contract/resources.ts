import * as v from 'valibot';
import { BATCH_STOP_REASONS } from '../../actors/batch-status.ts';
import { inboundMessage } from '../../actors/replies/inbound-replies.ts';
import { message } from '../../actors/replies/message-replies.ts';
import { count, id, instant } from '../../actors/replies/reply-fields.ts';
import { shop, trouble } from '../../actors/replies/shop-replies.ts';
import { EVENT_TYPES, isOfMessage, type ShopEventType } from '../../actors/tenants/tenant-event.ts';

/** Resources as replies show them (docs/contract.md, Resources). */

/** A new shop, with the missing setup steps and where to complete them. */
export const createdShop = v.strictObject({
  ...shop.entries,
  setupUrl: v.pipe(v.string(), v.metadata({ format: 'uri' })),
  setupRequired: v.array(v.picklist(['location', 'operatingHours'])),
});

/** Returns the schema of a shop's events of these types with this data. */
function shopEvents<Type extends ShopEventType, Data extends v.ObjectEntries>(
  types: readonly [Type, ...Type[]],
  fields: Data,
) {
  return v.strictObject({
    id,
    type: v.picklist(types),
    timestamp: instant,
    data: v.strictObject({ shopId: id, ...fields }),
  });
}

/** An event and its position among all events. Its type decides the fields of its data. */
export const event = v.union([
  v.strictObject({
    id,
    type: v.picklist(EVENT_TYPES.filter(isOfMessage)),
    timestamp: instant,
    data: message,
  }),
  v.strictObject({ id, type: v.picklist(['message.received']), timestamp: instant, data: inboundMessage }),
  shopEvents(['channel.connected'], { phone: v.pipe(v.string(), v.description('Digits.')) }),
  shopEvents(['channel.disconnected', 'channel.session_lost'], trouble),
  shopEvents(['recipient.opted_out', 'recipient.opted_in'], {
    phone: v.pipe(
      v.nullable(v.string()),
      v.description(
        'With its plus, in the form that the person wrote from. null if the chat network gives no number.',
      ),
    ),
  }),
  shopEvents(['queue.paused'], {
    pausedBy: v.picklist(['operator', 'rate_signal']),
    pausedUntil: v.pipe(v.nullable(instant), v.description('null: unknown.')),
  }),
  shopEvents(['number.restricted'], {
    restriction: v.pipe(v.string(), v.description("The network's own name for it.")),
    restrictedUntil: instant,
  }),
  shopEvents(['scheduled.accepted'], {
    id: v.pipe(id, v.description('The id of the scheduled send.')),
    messageId: v.pipe(id, v.description('The message that it became.')),
  }),
  shopEvents(['scheduled.refused'], {
    id: v.pipe(id, v.description('The id of the scheduled send.')),
    code: v.pipe(v.string(), v.description('The code that a send at that moment would have got.')),
  }),
  shopEvents(['batch.started'], { id: v.pipe(id, v.description('The id of the batch.')) }),
  shopEvents(['batch.finished'], {
    id: v.pipe(id, v.description('The id of the batch.')),
    status: v.picklist(['finished', 'cancelled', 'expired']),
  }),
  shopEvents(['batch.stopped'], {
    id: v.pipe(id, v.description('The id of the batch.')),
    reason: v.picklist(BATCH_STOP_REASONS),
  }),
  shopEvents(['number.warned'], {
    warning: v.picklist(['first', 'second', 'capped']),
    quota: v.pipe(count, v.description('Messages to people who have not answered.')),
    used: count,
    endsAt: v.pipe(v.nullable(instant), v.description('null: the network did not say.')),
  }),
  shopEvents(['queue.resumed', 'number.unrestricted'], {}),
]);

/** A documentation article. */
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
