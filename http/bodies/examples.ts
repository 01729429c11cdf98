/** The values that the documentation shows; one story, so that ids agree from reply to reply. */
import { GROUP_VERDICT_EXAMPLE, VERDICT_EXAMPLE } from '../../actors/reply-schemas/message-schemas.ts';
import { NO_CONTENT } from '../../actors/shops/message-content.ts';

const shopId = '66b1f0a2c3d4e5f607182901';
const messageId = '66b1f0a2c3d4e5f607182902';

const message = {
  id: messageId,
  shopId,
  channel: 'msgapp',
  to: '+41797654321',
  kind: 'message',
  ...NO_CONTENT,
  text: 'Your order is ready.',
  status: 'sent',
  reason: null,
  via: 'shop',
  policy: VERDICT_EXAMPLE,
  createdAt: '2027-01-31T12:00:00.000Z',
  updatedAt: '2027-01-31T12:00:14.000Z',
  sentAt: '2027-01-31T12:00:14.000Z',
  idempotencyKey: 'order-4711',
  requestId: '66b1f0a2c3d4e5f607182907',
  traceparent: null,
  deliveredAt: '2027-01-31T12:00:15.000Z',
  readAt: null,
} as const;

const inbound = {
  id: '66b1f0a2c3d4e5f607182908',
  shopId,
  from: '+41797654321',
  fromId: 'kX3vQm0yT1nB7hZcW9sRfA',
  name: 'Ada',
  at: '2027-01-31T12:04:00.000Z',
  kind: 'text',
  text: 'Thank you! Are you open on Monday?',
  replyTo: messageId,
  media: null,
} as const;

const allowance = {
  limit: 1_000_000,
  used: 4711,
  remaining: 995_289,
  resetsAt: '2027-02-01T00:00:00.000Z',
} as const;

export const EXAMPLES = {
  shop: {
    id: shopId,
    name: 'Bakery Rue Haute',
    phone: '+41791234567',
    channelStatus: { msgapp: 'connected' },
    createdAt: '2027-01-31T12:00:00.000Z',
  },
  verdict: VERDICT_EXAMPLE,
  groupVerdict: GROUP_VERDICT_EXAMPLE,
  message,
  inbound: { ...inbound, readAt: null },
  event: {
    id: '018e8f4a2c10000000000000',
    type: 'message.sent',
    timestamp: '2027-01-31T12:00:14.003Z',
    data: message,
  },
  messageId,
  scheduled: {
    id: '66b1f0a2c3d4e5f607182931',
    shopId,
    status: 'scheduled',
    sendAt: '2027-01-31T12:00:00.000Z',
    notAfter: '2027-01-31T13:00:00.000Z',
    to: '+41797654321',
    ...NO_CONTENT,
    text: 'Your table is ready at eight.',
    idempotencyKey: 'booking-31',
    createdAt: '2027-01-30T09:00:00.000Z',
    messageId: null,
    code: null,
  },
  shopPolicy: {
    warmupDay: 9,
    caps: VERDICT_EXAMPLE.caps,
    usage: { today: 11, lastHour: 2, coldToday: 1, declaredToday: 3 },
    groups: { perDay: 20, used: 2 },
    statuses: { perDay: 10, used: 0 },
    queue: { length: 2, pausedBy: null, pausedUntil: null, nextSendAt: '2027-01-31T12:00:14.000Z' },
    coldBarredUntil: null,
    network: {
      restrictedUntil: null,
      restriction: null,
      newChats: { quota: 250, used: 31, endsAt: '2027-02-15T00:00:00.000Z' },
    },
    recipientClass: 'cold',
    wouldAllow: false,
    code: 'RECIPIENT_RATE_LIMITED',
    retryAfter: 412,
  },
  qrWaiting: {
    status: 'qr_waiting',
    channelConfigId: '66b1f0a2c3d4e5f607182903',
    qr: 'https://wa.me/settings/linked_devices#2@Zx1…',
    qrImageDataUrl: 'data:image/png;base64,iVBORw0KGgo=',
    expiresAt: '2027-01-31T12:00:20.000Z',
    pollAfterMs: 2_000,
  },
  codeWaiting: {
    status: 'starting',
    channelConfigId: '66b1f0a2c3d4e5f607182903',
    code: 'K7QX2MZN',
    expiresAt: '2027-01-31T12:02:40.000Z',
    pollAfterMs: 2_000,
  },
  connected: { status: 'connected', channelConfigId: '66b1f0a2c3d4e5f607182903', phone: '41791234567' },
  disconnected: { status: 'disconnected', channelConfigId: '66b1f0a2c3d4e5f607182903' },
  group: {
    id: '120363041234567890@g.us',
    name: 'Regulars',
    participantCount: 42,
    isAdmin: true,
    announce: false,
    canSend: true,
  },
  contact: {
    id: '66b1f0a2c3d4e5f607182904',
    phone: '+41797654321',
    note: 'asked for news at the counter',
    expiresAt: '2028-01-31T12:00:00.000Z',
    source: 'api',
    createdAt: '2027-01-31T12:00:00.000Z',
    revokedAt: null,
    active: true,
  },
  identity: {
    key: {
      id: '66b1f0a2c3d4e5f607182905',
      name: 'order notifications',
      permissions: ['messages.send', 'messages.read'],
      expiresAt: null,
      createdAt: '2027-01-31T12:00:00.000Z',
    },
    tenant: { id: '66b1f0a2c3d4e5f607182906', name: 'Rue Haute Ltd', plan: 'growth' },
    limits: { minute: 60, hour: 1_000, day: 10_000 },
    quota: { api_calls: allowance, apiCalls: allowance },
  },
} as const;
