import * as v from 'valibot';
import { BATCH_STOP_REASONS } from '../../actors/batch-status.ts';
import { CHANNEL_REASONS } from '../../actors/channel-reason.ts';
import { INBOUND_KINDS } from '../../actors/inbound-content.ts';
import { MESSAGE_REASONS, MESSAGE_STATUSES } from '../../actors/message-status.ts';
import { EVENT_TYPES, isOfMessage, type ShopEventType } from '../../actors/tenants/tenant-event.ts';
import { EXAMPLES } from './examples.ts';

/** Resources as replies show them (docs/contract.md, Resources). */

/** The id of what the API shows. */
export const id = v.pipe(
  v.string(),
  v.metadata({ pattern: '^[0-9a-f]{24}$', examples: ['66b1f0a2c3d4e5f60718293a'] }),
);
/** A moment, as every reply writes it. */
export const instant = v.pipe(v.string(), v.metadata({ format: 'date-time' }));
const integer = v.pipe(v.number(), v.integer());
/** A whole number from 0. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** The state of a shop's channel. */
export const channelStatus = v.picklist(['starting', 'qr_waiting', 'connected', 'disconnected']);

/** A shop. */
export const shop = v.strictObject({
  id,
  name: v.string(),
  phone: v.nullable(v.string()),
  channelStatus: v.strictObject({ msgapp: v.nullable(channelStatus) }),
  createdAt: instant,
});

/** A shop just created: what is still missing, and where to complete it. */
export const createdShop = v.strictObject({
  ...shop.entries,
  setupUrl: v.pipe(v.string(), v.metadata({ format: 'uri' })),
  setupRequired: v.array(v.picklist(['location', 'operatingHours'])),
});

/** Why a channel has no session. */
const trouble = {
  reason: v.exactOptional(
    v.pipe(
      v.picklist(CHANNEL_REASONS),
      v.description(
        'Why there is no session, where you can do something about it or should know. More may come.',
      ),
    ),
  ),
  networkCode: v.exactOptional(
    v.pipe(integer, v.description("The chat network's own code, where it refused the number or its login.")),
  ),
  bannedUntil: v.exactOptional(
    v.pipe(instant, v.description('When a temporary ban ends; the shop then comes back by itself.')),
  ),
};

/** The connection of a shop's channel. */
export const channel = v.strictObject({
  status: channelStatus,
  channelConfigId: v.nullable(id),
  qr: v.exactOptional(v.string()),
  qrImageDataUrl: v.exactOptional(v.string()),
  code: v.exactOptional(
    v.pipe(
      v.string(),
      v.description('To type on the phone that it was asked for, while it waits; `status` is `starting`.'),
    ),
  ),
  expiresAt: v.exactOptional(instant),
  pollAfterMs: v.exactOptional(integer),
  phone: v.exactOptional(v.string()),
  ...trouble,
});

const verdictEntries = {
  recipientClass: v.picklist(['known', 'cold', 'declared', 'group']),
  warmupDay: count,
  caps: v.strictObject({ perDay: count, perHour: count, coldPerDay: count, declaredPerDay: count }),
  usage: v.strictObject({ today: count, lastHour: count, coldToday: count, declaredToday: count }),
};

/** The verdict that let a send through. */
export const verdict = v.pipe(
  v.strictObject(verdictEntries),
  v.description(
    "`usage` includes this send. For a group, `caps.perDay` and `caps.perHour` are both the shop's group budget of 24 hours. There is no hourly budget. `usage.today` and `usage.lastHour` then are the shares used, one for every 50 participants. The cold and declared figures are always those of messages to numbers.",
  ),
  v.metadata({ examples: [EXAMPLES.verdict, EXAMPLES.groupVerdict] }),
);

const budget = v.strictObject({ perDay: count, used: count });

/** What a shop may still send, and what a send to one recipient would come to. */
export const shopPolicy = v.strictObject({
  warmupDay: count,
  caps: verdictEntries.caps,
  usage: verdictEntries.usage,
  groups: v.pipe(budget, v.description('Shares of 24 hours: one for every 50 participants of a group.')),
  statuses: budget,
  queue: v.strictObject({
    length: v.pipe(count, v.description('Messages that wait or that are being sent.')),
    pausedBy: v.nullable(v.picklist(['operator', 'rate_signal'])),
    pausedUntil: v.nullable(instant),
    nextSendAt: v.pipe(
      v.nullable(instant),
      v.description('When the next message may go out. null: at once, or unknown.'),
    ),
  }),
  coldBarredUntil: v.pipe(v.nullable(instant), v.description('As `network.restrictedUntil`.')),
  network: v.pipe(
    v.strictObject({
      restrictedUntil: v.pipe(
        v.nullable(instant),
        v.description('Until when the number may start no new chat; null: it may.'),
      ),
      restriction: v.pipe(
        v.nullable(v.string()),
        v.description(
          "The network's own name for that; `REFUSED`: it said nothing but that it refused a message.",
        ),
      ),
      newChats: v.pipe(
        v.nullable(v.strictObject({ quota: count, used: count, endsAt: v.nullable(instant) })),
        v.description(
          'Messages to people who have not answered, in the present cycle; null: there is no quota.',
        ),
      ),
    }),
    v.description("The limits that the chat network has set for the shop's number."),
  ),
  recipientClass: v.exactOptional(verdictEntries.recipientClass),
  wouldAllow: v.exactOptional(v.boolean()),
  code: v.exactOptional(
    v.pipe(v.nullable(v.string()), v.description('The code that the send would be refused with.')),
  ),
  retryAfter: v.exactOptional(
    v.pipe(v.nullable(integer), v.description("Seconds, as the refusal's own `retryAfter`.")),
  ),
});

/** The present state of a message. */
export const messageStatus = v.picklist(MESSAGE_STATUSES);

/** What a send answers. */
export const acceptedMessage = v.strictObject({
  id,
  status: messageStatus,
  statusUrl: v.string(),
  policy: verdict,
});

/** What a status post answers. */
export const acceptedStatus = v.strictObject({ id, status: messageStatus, statusUrl: v.string() });

/** Why a message failed or was rejected. */
export const messageReason = v.pipe(
  v.string(),
  v.description('More may come: take one you do not know by the status.'),
  v.metadata({ enum: Object.keys(MESSAGE_REASONS) }),
);

/** A message or a status post on record. */
export const message = v.strictObject({
  id,
  shopId: id,
  channel: v.literal('msgapp'),
  to: v.nullable(v.string()),
  kind: v.picklist(['message', 'status']),
  text: v.nullable(v.string()),
  mediaUrl: v.nullable(v.string()),
  mediaType: v.nullable(v.picklist(['image', 'video', 'document'])),
  status: messageStatus,
  reason: v.nullable(messageReason),
  via: v.picklist(['shop', 'pool']),
  policy: v.nullable(verdict),
  createdAt: instant,
  updatedAt: instant,
  sentAt: v.nullable(instant),
  idempotencyKey: v.nullable(v.string()),
  requestId: v.pipe(
    v.nullable(v.string()),
    v.description('`X-Request-Id` of the call that made it; null for what was made before this was stored.'),
  ),
  traceparent: v.pipe(v.nullable(v.string()), v.description('W3C trace context of that call.')),
  deliveredAt: v.pipe(
    v.nullable(instant),
    v.description(
      "When the first recipient's phone reported it. null: no phone reported it. Reports count for 48 hours after the message was sent. There are none for a status post or for a message that the pool sent.",
    ),
  ),
  readAt: v.pipe(
    v.nullable(instant),
    v.description(
      'When the first recipient read it. Many people turn this report off, so null does not mean unread.',
    ),
  ),
  deliveredCount: v.exactOptional(
    v.pipe(count, v.description("Groups only: how many members' phones have it.")),
  ),
  readCount: v.exactOptional(
    v.pipe(count, v.description('Groups only: how many members reported that they read it.')),
  ),
  toId: v.exactOptional(
    v.pipe(v.string(), v.description('Replies only: the `fromId` of the person, also if `to` is null.')),
  ),
  replyTo: v.exactOptional(v.pipe(id, v.description('Replies only: the inbound message that it answers.'))),
  batchId: v.exactOptional(v.pipe(id, v.description('The batch that the message belongs to, if any.'))),
  position: v.exactOptional(
    v.pipe(
      count,
      v.description(
        "While it is `queued` in its own shop's queue: its place there; 1 is the next one to be sent.",
      ),
    ),
  ),
  estimatedSendAt: v.exactOptional(
    v.pipe(v.nullable(instant), v.description('When it is likely to leave. null: the queue is paused.')),
  ),
});

/** Read a message that a person wrote to a shop, as its event tells it. */
const inboundEntries = {
  id,
  shopId: id,
  from: v.pipe(
    v.nullable(v.string()),
    v.description('With its plus. null if the chat network gives no number.'),
  ),
  fromId: v.pipe(
    v.string(),
    v.description(
      'The person who wrote. The id is the same in all shops of the account, whichever address the person writes from.',
    ),
  ),
  name: v.pipe(v.nullable(v.string()), v.description('The name that the person chose.')),
  at: v.pipe(instant, v.description('When it was written, in whole seconds, as the network says.')),
  kind: v.pipe(v.string(), v.description('More may come.'), v.metadata({ enum: INBOUND_KINDS })),
  text: v.pipe(
    v.nullable(v.string()),
    v.description('null if the account does not receive texts, or if the message has none.'),
  ),
  replyTo: v.pipe(
    v.nullable(id),
    v.description('The message of the shop that it quotes or reacts to; null of one sent three days before.'),
  ),
  media: v.nullable(
    v.strictObject({
      type: v.nullable(v.string()),
      size: v.nullable(count),
      fileName: v.nullable(v.string()),
      sha256: v.pipe(v.nullable(v.string()), v.description("The file's SHA-256, in hexadecimal digits.")),
    }),
  ),
};

/** Read a message that a person wrote to a shop. */
export const inboundMessage = v.strictObject(inboundEntries);

/** The same, as it stands now. */
export const inboundRecord = v.strictObject({
  ...inboundEntries,
  readAt: v.pipe(v.nullable(instant), v.description('When it was marked as read; null: it was not.')),
});

/** Events of these types, which tell this of a shop. */
function shopEvents<Type extends ShopEventType, Told extends v.ObjectEntries>(
  types: readonly [Type, ...Type[]],
  told: Told,
) {
  return v.strictObject({
    ...{ id, type: v.picklist(types), timestamp: instant },
    data: v.strictObject({ shopId: id, ...told }),
  });
}

/** Something that happened, and its place among all that did. Its type says what its data holds. */
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
  shopEvents(['batch.started'], { id: v.pipe(id, v.description('Of the batch.')) }),
  shopEvents(['batch.finished'], {
    id: v.pipe(id, v.description('Of the batch.')),
    status: v.picklist(['finished', 'cancelled', 'expired']),
  }),
  shopEvents(['batch.stopped'], {
    id: v.pipe(id, v.description('Of the batch.')),
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

/** A chat group. */
export const group = v.strictObject({
  id: v.string(),
  name: v.string(),
  participantCount: count,
  isAdmin: v.boolean(),
  announce: v.boolean(),
  canSend: v.boolean(),
});

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

/** A page of what has no end: there is always a place to go on from. */
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
