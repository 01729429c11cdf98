import { isGroupAddress } from '../wire/chat-address.ts';
import type { OutboxOptions } from './outbox-options.ts';
import type { PendingOrder } from './pending-order.ts';

/**
 * True if an order has devices to go to. They and their keys are requested first: without devices the client would
 * relay an empty stanza and report it as sent.
 */
export async function isAddressable(
  { context, groups, sessions, onUnanswered }: OutboxOptions,
  { order, stanza }: PendingOrder,
  { chat, audience }: { readonly chat: string; readonly audience: readonly string[] },
): Promise<boolean> {
  const addresses =
    order.kind === 'status' ? audience : isGroupAddress(chat) ? await groups.participants(chat) : [chat];
  if (await sessions.reach(addresses)) return true;
  // The number may have left the network since, so the next attempt asks again. Or there was no reply.
  context.environment.numbers.del(stanza.to);
  onUnanswered();
  return false;
}
