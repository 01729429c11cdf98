import type { BinaryNode } from '@whiskeysockets/baileys';
import { stanzaTime } from './clock.ts';
import type { Companion } from './companions.ts';
import type { Network } from './network.ts';
import { addressOf } from './numbers.ts';
import { node } from './stanzas.ts';

/** Sends a handset's receipt to the companion whose message it is about, now and at each login until it is acknowledged. */
export function tellSender(network: Network, sender: Companion, receipt: BinaryNode): void {
  network.deliveries.keepReceipt(sender.id, receipt);
  const connection = network.connections.of(sender.id);
  if (connection?.active) connection.send(receipt);
}

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
  for (const companion of network.companions.of(to)) tellSender(network, companion, receipt);
  return ids.length;
}
