import { type FinalStatus, isFinal, type MessageReason } from '../../actors/message-status.ts';
import type { OperatorEventFeed } from '../operator-events/operator-event.ts';

/** The end of a message, and the time since it was accepted. */
interface MessageEnd {
  readonly status: FinalStatus;
  readonly reason: MessageReason | null;
  readonly ageMs: number;
}

/** Calls back for every message that ends from now on, once for each message. */
export function onMessageEnd(feed: OperatorEventFeed, listener: (end: MessageEnd) => void): void {
  feed.subscribe(({ type, data }) => {
    if (type !== 'message') return;
    const { status, reason, ageMs } = data;
    // A message that the pool carries is also published by its own shop, and counts there.
    if (ageMs !== null && isFinal(status)) listener({ status, reason, ageMs });
  });
}
