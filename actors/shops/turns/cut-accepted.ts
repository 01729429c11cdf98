import { LEDGER_BOUND } from '../../../policy/send-ledger.ts';
import { dayOf, firstIdOfDay } from '../records/message-days.ts';
import { nextCutMs, overdueElements } from '../state/accepted-list.ts';
import type { ShopState } from '../state/shop-state.ts';
import type { FactSources } from './builder/fact-sources.ts';
import type { TurnBuilder } from './builder/turn-builder.ts';

/**
 * The most elements that are cut from the list at a time: more than count in two days. Cancelled messages leave
 * elements that do not count, so a day may bring more of them.
 */
const MOST_CUT = 2 * LEDGER_BOUND;

/** Starts the daily cut of the shop's list, at its time. */
export function startCut(builder: TurnBuilder): void {
  const { acceptedList, shop } = builder.state;
  builder.perform({ type: 'cut_accepted' });
  builder.onCommitted(() => {
    acceptedList.cutDueAtMs = nextCutMs(shop.shopId, builder.nowMs);
  });
}

/** The head of the shop's list. */
interface CutFacts {
  readonly oldest: readonly string[];
}

export async function readOldest(
  { keys }: ShopState,
  _command: unknown,
  { store }: FactSources,
): Promise<CutFacts> {
  const [oldest] = await store.read([['LRANGE', keys.accepted, 0, MOST_CUT - 1]]);
  return { oldest: oldest as string[] };
}

/**
 * Cuts old elements from the shop's list and from the indexes of failed and rejected messages. If more may be old, the
 * cut is repeated. Messages expire by themselves.
 */
export function cutAccepted(builder: TurnBuilder, _command: unknown, { oldest }: CutFacts): void {
  const { keys, acceptedList } = builder.state;
  const overdueCount = overdueElements(oldest, builder);
  if (overdueCount > 0) {
    builder.write(['LTRIM', keys.accepted, overdueCount, -1]);
    builder.onCommitted(() => {
      acceptedList.cut += overdueCount;
    });
    builder.storeEnded(overdueCount);
    if (overdueCount === MOST_CUT) builder.perform({ type: 'cut_accepted' });
  }
  const maxId = `(${firstIdOfDay(dayOf(builder.nowMs - builder.retentionMs))}`;
  for (const key of [keys.failed, keys.rejected]) builder.write(['ZREMRANGEBYLEX', key, '-', maxId]);
}
