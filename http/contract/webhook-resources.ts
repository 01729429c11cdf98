import * as v from 'valibot';
import { EXAMPLES } from './examples.ts';
import { count, instant } from './resources.ts';

/** An endpoint that a tenant's events are sent to, without its secret. */
export const webhook = v.strictObject({
  id: v.string(),
  url: v.string(),
  types: v.pipe(v.nullable(v.array(v.string())), v.description('Null: all.')),
  shops: v.pipe(v.nullable(v.array(v.string())), v.description('Null: all.')),
  createdAt: instant,
  disabledAt: v.nullable(instant),
  disabledBy: v.pipe(
    v.nullable(v.picklist(['operator', 'tenant', 'gone', 'failing', 'unreadable'])),
    v.description(
      '`operator`: an operator disabled it; `tenant`: a call of the account did; `gone`: it answered 410; `failing`: every try of five days failed; `unreadable`: the service cannot open its secret, and it needs a new one.',
    ),
  ),
  formerSecretUntil: v.pipe(
    v.nullable(instant),
    v.description('Until when the secret before the last rotation signs as well.'),
  ),
  failingSince: v.nullable(instant),
  waiting: v.pipe(count, v.description('Events that wait to be tried again.')),
  deadLetters: v.pipe(count, v.description('Events that it took in none of its tries.')),
  missedUntil: v.pipe(
    v.nullable(instant),
    v.description(
      'Events stored before then were cut off, by age or number, before it got them; null: none ever were.',
    ),
  ),
});

/** The same with its secret. */
export const freshWebhook = v.strictObject({ ...webhook.entries, secret: v.string() });

/** What came of the last tries. */
export const webhookAttempts = v.strictObject({
  items: v.array(
    v.strictObject({
      eventId: v.string(),
      type: v.string(),
      at: instant,
      durationMs: count,
      number: v.pipe(count, v.description('Counted from 1.')),
      status: v.pipe(v.nullable(v.number()), v.description('Null: no answer came.')),
      error: v.pipe(v.nullable(v.string()), v.description('Null: it took the event.')),
      isDead: v.pipe(v.boolean(), v.description('It was the last try.')),
    }),
  ),
  deadLetters: v.pipe(
    v.array(v.string()),
    v.description('Ids of events that were given up, the newest last.'),
  ),
});

/** The example of a webhook. */
export const webhookExample = {
  id: '66b1f0a2c3d4e5f60718290a',
  url: 'https://example.com/hooks',
  types: ['message.failed', 'channel.session_lost'],
  shops: null,
  createdAt: '2027-01-31T12:00:00.000Z',
  disabledAt: null,
  disabledBy: null,
  formerSecretUntil: null,
  failingSince: null,
  waiting: 0,
  deadLetters: 0,
  missedUntil: null,
};

/** The example of a webhook with its secret. */
export const freshWebhookExample = { ...webhookExample, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw…' };

/** The example of a webhook's last tries. */
export const attemptsExample = {
  items: [
    {
      eventId: EXAMPLES.event.id,
      type: EXAMPLES.event.type,
      at: '2027-01-31T12:00:15.000Z',
      durationMs: 81,
      number: 1,
      status: 204,
      error: null,
      isDead: false,
    },
  ],
  deadLetters: [],
};
