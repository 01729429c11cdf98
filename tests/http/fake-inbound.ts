import { done, failed } from '../../actors/failure.ts';
import type { InboundOperations } from '../../actors/shops/inbound-operations.ts';

/** Nobody ever wrote. */
export const fakeInbound: InboundOperations = {
  list: async () => done({ items: [], nextCursor: null }),
  read: async () => failed('MESSAGE_NOT_FOUND'),
  told: async () => undefined,
};
