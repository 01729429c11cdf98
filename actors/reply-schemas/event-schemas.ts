/** A tenant's events (docs/contract.md, Events). */
import * as v from 'valibot';
import { BATCH_STOP_REASONS } from '../batch-status.ts';
import { inboundMessage } from './inbound-schemas.ts';
import { message } from './message-schemas.ts';
import { count, id, instant, type ReplyOf } from './reply-fields.ts';
import { trouble } from './shop-schemas.ts';

/** The types of events about a sent message. Their data is the message's record. */
const MESSAGE_EVENTS = [
  'message.sent',
  'message.failed',
  'message.rejected',
  'message.delivered',
  'message.read',
] as const;

/** Returns the schema of a shop's events of these types with this data. */
function shopEvents<Type extends string, Data extends v.ObjectEntries>(
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

/** The events of a shop, with their own data. */
const SHOP_EVENTS = [
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
    code: v.pipe(
      v.string(),
      v.description('The code with which a send at that moment would have been refused.'),
    ),
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
] as const;

/** An event and its position among all events. Its type decides the fields of its data. */
export const event = v.union([
  v.strictObject({ id, type: v.picklist(MESSAGE_EVENTS), timestamp: instant, data: message }),
  v.strictObject({ id, type: v.picklist(['message.received']), timestamp: instant, data: inboundMessage }),
  ...SHOP_EVENTS,
]);

type ShopEvent = ReplyOf<(typeof SHOP_EVENTS)[number]>;

/** A type of event about a sent message. */
export type MessageEventType = (typeof MESSAGE_EVENTS)[number];

/** A type of event with a shop's own data. */
export type ShopEventType = ShopEvent['type'];

/** The data of a shop's events of this type, in addition to the shop. */
export type ShopEventData<Type extends ShopEventType> = DataOf<ShopEvent, Type>;

type DataOf<Event, Type> = Event extends ShopEvent
  ? Type extends Event['type']
    ? Omit<Event['data'], 'shopId'>
    : never
  : never;
