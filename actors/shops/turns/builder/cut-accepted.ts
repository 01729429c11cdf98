import { dayOf, firstIdOfDay } from '../../records/message-days.ts';
import { nextCutMs, overdueElements } from '../../state/accepted-list.ts';
import type { TurnBuilder } from './turn-builder.ts';

/** The daily time at which the shop's list is cut has come. */
export function orderCut(builder: TurnBuilder): void {
  const { acceptedList, shop } = builder.state;
  builder.perform({ type: 'cut_accepted' });
  builder.onCommitted(() => {
    acceptedList.cutDueAtMs = nextCutMs(shop.shopId, builder.nowMs);
  });
}

/**
 * Cuts old elements from the shop's list and from the indexes of failed messages. Messages expire by themselves.
 * `elements` is the head of the list.
 */
export function cutAccepted(builder: TurnBuilder, elements: readonly string[]): void {
  const { keys, acceptedList } = builder.state;
  const overdueCount = overdueElements(elements, builder);
  if (overdueCount > 0) {
    builder.write(['LTRIM', keys.accepted, overdueCount, -1]);
    builder.onCommitted(() => {
      acceptedList.cut += overdueCount;
    });
    builder.storeEnded(overdueCount);
  }
  const maxId = `(${firstIdOfDay(dayOf(builder.nowMs - builder.retentionMs))}`;
  for (const key of [keys.failed, keys.rejected]) builder.write(['ZREMRANGEBYLEX', key, '-', maxId]);
}
