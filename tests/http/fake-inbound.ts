import { done, failed } from '../../actors/failure.ts';
import type { InboundOperations } from '../../actors/shops/inbound-operations.ts';

/** Inbound operations without any message. */
export const fakeInbound: InboundOperations = {
  list: async () => done({ items: [], nextCursor: null }),
  read: async () => failed('MESSAGE_NOT_FOUND'),
  markRead: async () => failed('MESSAGE_NOT_FOUND'),
  reply: async () => failed('MESSAGE_NOT_FOUND'),
  attachment: async () => failed('MESSAGE_NOT_FOUND'),
  eventOf: async () => undefined,
};
