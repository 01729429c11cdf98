import { EXAMPLES } from './examples.ts';

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
