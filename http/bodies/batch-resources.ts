import { quietHours as shownQuietHours } from '../../actors/reply-schemas/batch-schemas.ts';
import { NO_CONTENT } from '../../actors/shops/message-content.ts';
import { closedObject } from '../contract/closed-object.ts';

/** Hours of each day in which nothing of a batch leaves, as a caller gives them. */
export const quietHours = closedObject(shownQuietHours.entries);

export const BATCH_EXAMPLE = {
  id: '66b1f0a2c3d4e5f607182932',
  shopId: '66b1f0a2c3d4e5f607182901',
  name: 'Spring opening hours',
  status: 'waiting',
  ...NO_CONTENT,
  text: 'Hello {{name}}, from Monday we open at seven.',
  share: 0.7,
  quietHours: { from: '20:00', to: '08:00', timeZone: 'Europe/Berlin' },
  notBefore: '2027-02-01T08:00:00.000Z',
  notAfter: '2027-05-02T08:00:00.000Z',
  createdAt: '2027-01-31T12:00:00.000Z',
  startedAt: null,
  endedAt: null,
  stopped: null,
  recipients: 420,
  progress: { waiting: 420, queued: 0, sent: 0, failed: 0, rejected: 0, refused: 1, repeated: 0 },
  codes: { RECIPIENT_OPTED_OUT: 1 },
  forecast: {
    firstAt: '2027-02-01T08:00:00.000Z',
    lastAt: '2027-02-03T10:12:31.000Z',
    days: [
      { date: '2027-02-01', count: 175 },
      { date: '2027-02-02', count: 175 },
      { date: '2027-02-03', count: 70 },
    ],
  },
  idempotencyKey: 'spring-hours',
} as const;

/** Recipients that the batch did not accept. */
export const REFUSED_EXAMPLE = [{ to: '+41797654399', code: 'RECIPIENT_OPTED_OUT' }] as const;
