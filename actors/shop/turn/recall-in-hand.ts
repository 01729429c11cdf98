import { pacingState } from '../record/shop-state.ts';
import type { TurnBuilder } from './turn-builder.ts';

/**
 * Asks for a message back that is stored as `sending`: its attachment may be fetched and uploaded for 90 s. What is not
 * on the wire comes back `not_sent`, waits, and meets the look before the wire again; what is sealed goes on.
 */
export function recallInHand(builder: TurnBuilder): void {
  const { inHand } = builder.state;
  if (inHand === undefined || pacingState(builder.state) !== 'sending') return;
  builder.effects.push({ type: 'recall', messageId: inHand.messageId });
}
