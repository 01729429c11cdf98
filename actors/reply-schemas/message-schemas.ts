/** Replies about messages, and about the limits of a shop (docs/contract.md, Resources). */
import * as v from 'valibot';
import { MEDIA_TYPES } from '../media-type.ts';
import { MESSAGE_REASONS, MESSAGE_STATUSES, type MessageReason } from '../message-status.ts';
import { count, id, instant, integer } from './reply-fields.ts';

export const VERDICT_EXAMPLE = {
  recipientClass: 'declared',
  warmupDay: 9,
  caps: { perDay: 100, perHour: 16, coldPerDay: 10, declaredPerDay: 30 },
  usage: { today: 12, lastHour: 3, coldToday: 1, declaredToday: 4 },
} as const;

/** The verdict on a send to a group of 120. It takes three of the twenty shares a day, and five are used with it. */
export const GROUP_VERDICT_EXAMPLE = {
  recipientClass: 'group',
  warmupDay: 9,
  caps: { perDay: 20, perHour: 20, coldPerDay: 10, declaredPerDay: 30 },
  usage: { today: 5, lastHour: 3, coldToday: 1, declaredToday: 4 },
} as const;

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
    "`usage` includes this send. For a group, `caps.perDay` and `caps.perHour` are both the shop's group budget of 24 hours. There is no hourly budget. `usage.today` and `usage.lastHour` are then the used shares, one for every 50 participants. The figures for cold and declared recipients are always those of messages to numbers.",
  ),
  v.metadata({ examples: [VERDICT_EXAMPLE, GROUP_VERDICT_EXAMPLE] }),
);

const budget = v.strictObject({ perDay: count, used: count });

/** The caps in force and how much of them is used. */
export const shopBudgets = v.strictObject({
  warmupDay: count,
  caps: verdictEntries.caps,
  usage: verdictEntries.usage,
  groups: v.pipe(
    budget,
    v.description('Shares for 24 hours. A message takes one share for every 50 participants of its group.'),
  ),
  statuses: budget,
  queue: v.strictObject({
    length: v.pipe(count, v.description('Messages that wait or that are being sent.')),
    pausedBy: v.nullable(v.picklist(['operator', 'rate_signal'])),
    pausedUntil: v.nullable(instant),
    nextSendAt: v.pipe(
      v.nullable(instant),
      v.description('When the next message may leave. Null: at once, or unknown.'),
    ),
  }),
  coldBarredUntil: v.pipe(v.nullable(instant), v.description('Equal to `network.restrictedUntil`.')),
  network: v.pipe(
    v.strictObject({
      restrictedUntil: v.pipe(
        v.nullable(instant),
        v.description('The end of a restriction on new chats. Null: there is none.'),
      ),
      restriction: v.pipe(
        v.nullable(v.string()),
        v.description(
          "The network's name for the restriction. `REFUSED`: the network only refused a message.",
        ),
      ),
      newChats: v.pipe(
        v.nullable(v.strictObject({ quota: count, used: count, endsAt: v.nullable(instant) })),
        v.description(
          'The quota of messages to people who have not answered, in the current cycle. Null: there is no quota.',
        ),
      ),
    }),
    v.description("The limits that the chat network has set for the shop's number."),
  ),
});

/** The caps in force, and the verdict on a send to one recipient. */
export const shopPolicy = v.strictObject({
  ...shopBudgets.entries,
  recipientClass: v.exactOptional(verdictEntries.recipientClass),
  wouldAllow: v.exactOptional(v.boolean()),
  code: v.exactOptional(
    v.pipe(
      v.nullable(v.string()),
      v.description('The code with which the send would be refused. Null: it would be accepted.'),
    ),
  ),
  retryAfter: v.exactOptional(
    v.pipe(v.nullable(integer), v.description('Seconds, equal to `retryAfter` of the refusal.')),
  ),
});

/** The present state of a message. */
export const messageStatus = v.picklist(MESSAGE_STATUSES);

/** The answer to a send. */
export const acceptedMessage = v.strictObject({
  id,
  status: messageStatus,
  statusUrl: v.string(),
  policy: verdict,
});

/** The answer to a status post. */
export const acceptedStatus = v.strictObject({ id, status: messageStatus, statusUrl: v.string() });

/** Why a message failed or was rejected. */
export const messageReason = v.pipe(
  v.string() as v.GenericSchema<string, MessageReason>,
  v.description('More values may be added. If you do not know a value, decide by `status`.'),
  v.metadata({ enum: Object.keys(MESSAGE_REASONS) }),
);

/** The content of a message, as replies about messages, scheduled sends and batches show it; null for none. */
export const content = v.strictObject({
  text: v.nullable(v.string()),
  mediaUrl: v.nullable(v.string()),
  mediaType: v.nullable(v.picklist(MEDIA_TYPES)),
});

/** A message or a status post on record. */
export const message = v.strictObject({
  id,
  shopId: id,
  channel: v.literal('msgapp'),
  to: v.nullable(v.string()),
  kind: v.picklist(['message', 'status']),
  ...content.entries,
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
    v.description('`X-Request-Id` of the call that made it. Null for old records.'),
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
    v.pipe(
      v.string(),
      v.description('Replies only: the `fromId` of the person. It is there even if `to` is null.'),
    ),
  ),
  replyTo: v.exactOptional(v.pipe(id, v.description('Replies only: the inbound message that it answers.'))),
  batchId: v.exactOptional(v.pipe(id, v.description('The batch that the message belongs to, if any.'))),
  position: v.exactOptional(
    v.pipe(
      count,
      v.description(
        "While it is `queued` at its own shop: its position in that shop's queue. 1 is sent next.",
      ),
    ),
  ),
  estimatedSendAt: v.exactOptional(
    v.pipe(v.nullable(instant), v.description('When it is likely to leave. Null: unknown.')),
  ),
});

export const scheduledSend = v.strictObject({
  id,
  shopId: id,
  status: v.picklist(['scheduled', 'accepted', 'refused', 'cancelled']),
  sendAt: instant,
  notAfter: v.pipe(instant, v.description('It is not attempted after this time.')),
  to: v.string(),
  ...content.entries,
  text: v.pipe(
    content.entries.text,
    v.description('Null after it has ended. If it became a message, that message has the text.'),
  ),
  idempotencyKey: v.nullable(v.string()),
  createdAt: instant,
  messageId: v.pipe(v.nullable(id), v.description('The message that it became.')),
  code: v.pipe(v.nullable(v.string()), v.description('Why it did not become a message.')),
});
