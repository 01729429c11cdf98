import * as v from 'valibot';
import { count, instant } from './reply-fields.ts';

/** Replies about webhooks (docs/contract.md, Webhooks). */

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
      '`operator`: an operator disabled it. `tenant`: a call of the account disabled it. `gone`: it answered 410. `failing`: every attempt of five days failed. `unreadable`: the service cannot open its secret; give it a new one.',
    ),
  ),
  formerSecretUntil: v.pipe(v.nullable(instant), v.description('Until then the former secret also signs.')),
  failingSince: v.nullable(instant),
  waiting: v.pipe(count, v.description('Events that wait to be tried again.')),
  deadLetters: v.pipe(count, v.description('Events that it took in none of its tries.')),
  missedUntil: v.pipe(
    v.nullable(instant),
    v.description(
      'Events from before this time were removed, because of their age or number, before it got them. Null: none were.',
    ),
  ),
});

/** A webhook with its secret. */
export const freshWebhook = v.strictObject({ ...webhook.entries, secret: v.string() });

/** The results of the last attempts. */
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
