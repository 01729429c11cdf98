import { stanzaTime } from './clock.ts';
import type { Network } from './network.ts';
import { addressOf } from './numbers.ts';
import { node } from './stanzas.ts';

/**
 * Sends a handset's receipts to all companions of a number: for its inbox, or for the message `id`, even if there is
 * none. Returns the number of messages.
 */
export function sendReceipts(
  network: Network,
  options: {
    readonly phone: string;
    readonly to: string;
    readonly type: 'delivered' | 'read';
    /** Empty: a chat of two people. */
    readonly group: string;
    /** Empty: all messages of that chat. */
    readonly id: string;
  },
): number {
  const { phone, to, type, group, id } = options;
  const ids =
    id === ''
      ? network.inboxes
          .list(phone)
          .filter((entry) => entry.from === `+${to}` && (entry.group ?? '') === group)
          .map(({ messageId }) => messageId)
      : [id];
  const [first, ...more] = ids;
  if (first === undefined) return 0;
  const address = addressOf(network.numbers.of(phone), 'lid');
  const receipt = node(
    'receipt',
    {
      id: first,
      ...(group === '' ? { from: address } : { from: group, participant: address }),
      type: type === 'read' ? 'read' : undefined,
      t: stanzaTime(network.clock),
    },
    more.length === 0
      ? undefined
      : [
          node(
            'list',
            {},
            more.map((item) => node('item', { id: item })),
          ),
        ],
  );
  for (const companion of network.companions.of(to)) network.deliveries.addReceipt(companion.id, receipt);
  return ids.length;
}
