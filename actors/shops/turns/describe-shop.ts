import { waitingEnd } from '../judging/waiting-limits.ts';
import { publicChannelStatus } from '../machines/channel-context.ts';
import { storedPacing } from '../machines/shop-machines.ts';
import { channelState, liveGroups, pacingState, type ShopState } from '../state/shop-state.ts';

/** A shop as operators see it. */
export type ShopDescription = ReturnType<typeof describeShop>;

/** Only this many messages of a long queue are shown. */
const SHOWN_WAITING = 100;

/**
 * Returns the operators' view of a shop: both machines, the queue and its last steps; no texts, codes or credentials.
 */
export function describeShop(state: ShopState) {
  const { context } = state.channel;
  return {
    tenantId: state.shop.tenantId,
    shopId: state.shop.shopId,
    name: state.name,
    tenantActive: state.isTenantActive,
    inbound: state.inbound,
    egress: state.egress === undefined ? null : (state.egress.shown ?? 'unreadable'),
    status: publicChannelStatus(channelState(state)),
    channel: { state: channelState(state), ...context },
    pacing: { state: pacingState(state), ...storedPacing(state.pacing.context) },
    queue: {
      depth: state.queue.length,
      inHand: state.currentMessage ?? null,
      waiting: state.queue
        .slice(0, SHOWN_WAITING)
        .map((message) => ({ ...message, unlessSent: waitingEnd(state, message) })),
    },
    pooled: state.pooled
      .slice(0, SHOWN_WAITING)
      .map(({ isTaken, ...message }) => ({ ...message, taken: isTaken })),
    scheduled: state.scheduled.length,
    batches: state.batches.length,
    limits: state.limits,
    undelivered: state.undelivered ?? null,
    counted: state.ledger.size,
    groups: liveGroups(state)?.length ?? null,
    qrWaiting: state.qr !== undefined,
    transitions: state.transitions.list(),
  };
}
