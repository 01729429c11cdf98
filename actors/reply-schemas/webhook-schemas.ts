/** Replies about webhooks (docs/contract.md, Webhooks). */
import * as v from 'valibot';
import { count, instant } from './reply-fields.ts';

/** An endpoint that a tenant's events are sent to, without its secret. */
export const webhook = v.strictObject({
  id: v.string(),
  url: v.string(),
  types: v.pipe(v.nullable(v.array(v.string())), v.description('Null: all.')),
  shops: v.pipe(
    v.nullable(v.array(v.string())),
    v.description('Null: all. Empty: all its shops were erased, and it gets nothing.'),
  ),
  createdAt: instant,
  disabledAt: v.nullable(instant),
  disabledBy: v.pipe(
    v.nullable(v.picklist(['operator', 'tenant', 'gone', 'failing', 'unreadable'])),
    v.description(
      '`operator`: an operator disabled it. `tenant`: a call of the account disabled it. `gone`: it answered 410. `failing`: every attempt of five days failed. `unreadable`: the service cannot decrypt its secret. Give it a new one.',
    ),
  ),
  formerSecretUntil: v.pipe(
    v.nullable(instant),
    v.description('The former secret also signs until this time.'),
  ),
  failingSince: v.nullable(instant),
  waiting: v.pipe(count, v.description('Events that wait for another attempt.')),
  deadLetters: v.pipe(count, v.description('Events for which every attempt failed.')),
  missedUntil: v.pipe(
    v.nullable(instant),
    v.description(
      'Events before this time were removed because of their age or number, and were not delivered. Null: none were.',
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
      error: v.pipe(v.nullable(v.string()), v.description('Null: the event was delivered.')),
      isDead: v.pipe(v.boolean(), v.description('It was the last attempt.')),
    }),
  ),
  deadLetters: v.pipe(
    v.array(v.string()),
    v.description('Ids of events for which every attempt failed, the newest last.'),
  ),
});
