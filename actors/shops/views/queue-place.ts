import type { MessageView } from '../shop-operations.ts';
import { channelState, pacingState, type ShopState } from '../state/shop-state.ts';
import type { PacingTimes } from '../turns/builder/turn-builder.ts';

/** Composing is shown for 1 to 6 seconds before each message. */
const COMPOSING_MS = 3_500;

/** The times that an estimate goes by. */
export type EstimateTimes = Pick<PacingTimes, 'gapFromMs' | 'gapToMs'>;

/** A record with its message's place in the queue of its shop, while it has one; `state`: the shop, where it is in memory. */
export function withPlace(
  view: MessageView,
  state: ShopState | undefined,
  now: { readonly times: EstimateTimes; readonly nowMs: number },
): MessageView {
  if (view.status !== 'queued' || state === undefined) return view;
  const position = positionOf(view.id, state);
  if (position === undefined) return view;
  return { ...view, position, estimatedSendAt: estimate(state, position, now) };
}

function positionOf(messageId: string, { queue, inHand }: ShopState): number | undefined {
  if (inHand?.messageId === messageId) return 1;
  const index = queue.findIndex((message) => message.messageId === messageId);
  if (index === -1) return undefined;
  return index + (inHand === undefined ? 1 : 2);
}

/** When it leaves if nothing comes in between; null where the queue stands still and nobody can say how long. */
function estimate(
  state: ShopState,
  position: number,
  { times, nowMs }: { readonly times: EstimateTimes; readonly nowMs: number },
): string | null {
  const { untilMs, heldByOperator } = state.pacing.context;
  if (channelState(state) !== 'connected' || heldByOperator || !state.tenantActive) return null;
  const rests = pacingState(state) === 'gap' || pacingState(state) === 'paused';
  const startMs = rests ? Math.max(nowMs, untilMs ?? nowMs) : nowMs;
  const eachMs = (times.gapFromMs + times.gapToMs) / 2 + COMPOSING_MS;
  return new Date(Math.round(startMs + (position - 1) * eachMs)).toISOString();
}
