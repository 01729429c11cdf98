import { stanzaTime } from './clock.ts';
import type { Network } from './network.ts';
import { addressOf } from './numbers.ts';
import { node } from './stanzas.ts';

/**
 * A handset says to all companions of a number that it has messages, or that they were read there: those of its inbox,
 * or the one that is named, whether or not there is such a message. How many it named.
 */
export function sendReceipts(
  network: Network,
  options: {
    readonly phone: string;
    readonly to: string;
    readonly type: 'delivered' | 'read';
    /** Empty: a chat between two. */
    readonly group: string;
    /** Empty: all that came from there. */
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
