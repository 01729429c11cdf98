import { isGroupAddress } from '../wire/chat-address.ts';
import type { OutboxOptions } from './outbox-options.ts';
import type { Pending } from './pending-order.ts';

/**
 * Whether an order has devices to go to. They are asked for first, and a group's keys: without devices the client would
 * relay an empty stanza and call it sent.
 */
export async function isAddressable(
  { groups, sessions, numbers, unanswered }: OutboxOptions,
  { order, to }: Pick<Pending, 'order' | 'to'>,
  { chat, audience }: { readonly chat: string; readonly audience: readonly string[] },
): Promise<boolean> {
  const addresses =
    order.kind === 'status' ? audience : isGroupAddress(chat) ? await groups.participants(chat) : [chat];
  if (await sessions.reach(addresses)) return true;
  // It may have left since it was asked about, and the next try asks again; or there was no answer at all.
  numbers.del(to);
  unanswered();
  return false;
}
