import type { DueTimer, RuntimeCommand } from '../../../runtime/behaviour.ts';
import { waitingDueAtMs } from '../judging/waiting-limits.ts';
import { listCutDueAtMs } from '../state/accepted-list.ts';
import type { ShopState } from '../state/shop-state.ts';
import { undeliveredDueAtMs } from '../state/undelivered.ts';
import { batchesDueAtMs, sendNextOfBatches } from './batches/batch-progress.ts';
import { stepChannel, stepPacing } from './builder/step-machines.ts';
import type { TurnBuilder } from './builder/turn-builder.ts';
import { startCut } from './cut-accepted.ts';
import { OUTCOME_LEAST_MS } from './dispatch/dispatch-message.ts';
import { endRestriction } from './number/reported-limits.ts';
import { askPoolAgain, poolDueAtMs } from './pool/message-at-pool.ts';
import { noticesDueAtMs, repeatNotices } from './pool/opt-out-notices.ts';
import { scheduledDueAtMs, trySchedules } from './scheduled/scheduled-turns.ts';

/** A moment that a shop may wait for, and what happens then. */
interface ShopTimer {
  readonly id: string;
  /** Milliseconds since the Unix epoch. Null or undefined if the shop does not wait for it. */
  dueAtMs(state: ShopState): number | null | undefined;
  /** How long the shop waits at least, whatever the wall clock does; see `DueTimer`. */
  leastMs?(state: ShopState): number | undefined;
  /**
   * Must change the moment, also if part of what is due is left for the next turn: see `DueTimer`. A shop that is being
   * handed over may leave it.
   */
  onDue(builder: TurnBuilder): void;
}

const TIMERS: readonly ShopTimer[] = [
  {
    id: 'pacing',
    dueAtMs: ({ pacing }) => pacing.context.untilMs,
    // A clock that steps ahead must not end the wait for an acknowledgement that is on its way.
    leastMs: ({ pacing }) => (pacing.value === 'sending' ? OUTCOME_LEAST_MS : undefined),
    onDue: (builder) => stepPacing(builder, { type: 'elapsed', gapUntilMs: builder.waitEnds().gapUntilMs }),
  },
  {
    id: 'reconnect',
    dueAtMs: ({ channel }) => channel.context.reconnectAtMs,
    onDue: (builder) => stepChannel(builder, { type: 'reconnect_due' }),
  },
  { id: 'restriction', dueAtMs: ({ limits }) => limits.restriction?.untilMs, onDue: endRestriction },
  { id: 'waiting', dueAtMs: waitingDueAtMs, onDue: (builder) => builder.endOverdue() },
  { id: 'pool', dueAtMs: poolDueAtMs, onDue: askPoolAgain },
  { id: 'opt_outs', dueAtMs: noticesDueAtMs, onDue: repeatNotices },
  { id: 'scheduled', dueAtMs: scheduledDueAtMs, onDue: trySchedules },
  { id: 'batches', dueAtMs: batchesDueAtMs, onDue: sendNextOfBatches },
  { id: 'cut', dueAtMs: ({ acceptedList }) => listCutDueAtMs(acceptedList), onDue: startCut },
  {
    id: 'undelivered',
    dueAtMs: ({ undelivered }) => undeliveredDueAtMs(undelivered),
    onDue: noteUndelivered,
  },
];

const NO_TIMERS: readonly DueTimer[] = [];

/** Returns the moments that a shop waits for. */
export function shopTimers(state: ShopState): readonly DueTimer[] {
  let timers = NO_TIMERS;
  for (const { id, dueAtMs, leastMs } of TIMERS) {
    const atMs = dueAtMs(state);
    if (atMs == null) continue;
    const lastingMs = leastMs?.(state);
    const timer = lastingMs === undefined ? { id, dueAtMs: atMs } : { id, dueAtMs: atMs, leastMs: lastingMs };
    // No push, because most shops wait for one moment (docs/decisions/012-value-or-promise.md, Closures and arrays).
    timers = timers.length === 0 ? [timer] : timers.concat(timer);
  }
  return timers;
}

/** Does what is due when the timer ends. */
export function onTimer(builder: TurnBuilder, { id }: RuntimeCommand): void {
  TIMERS.find((timer) => timer.id === id)?.onDue(builder);
}

/** Operators are notified, as with every change of a shop's summary. */
function noteUndelivered(builder: TurnBuilder): void {
  const { undelivered } = builder.state;
  if (undelivered !== undefined) builder.change({ undelivered: { ...undelivered, isLong: true } });
}
