import type { BinaryNode } from '@whiskeysockets/baileys';
import { stanzaTime } from '../clock.ts';
import type { Group } from '../groups.ts';
import type { Network } from '../network.ts';
import { addressOf } from '../numbers.ts';
import { node } from '../socket/stanzas.ts';

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
  const [first, ...otherIds] = ids;
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
    otherIds.length === 0
      ? undefined
      : [
          node(
            'list',
            {},
            otherIds.map((item) => node('item', { id: item })),
          ),
        ],
  );
  for (const companion of network.companions.of(to)) network.deliveries.receipts.add(companion.id, receipt);
  return ids.length;
}

/**
 * Sends the receipts of many members' handsets for one message of a group as one stanza, to all companions of a number.
 * If all report the same, the stanza has the type, else each member has its own. Returns the number of members.
 */
export function sendGroupedReceipt(
  network: Network,
  options: {
    readonly group: Group;
    readonly to: string;
    readonly messageId: string;
    readonly delivered: readonly string[];
    readonly read: readonly string[];
  },
): number {
  const { group, to, messageId, delivered, read } = options;
  const isMixed = delivered.length > 0 && read.length > 0;
  const t = stanzaTime(network.clock);
  const users = (phones: readonly string[], type: string): BinaryNode[] =>
    phones.map((phone) => {
      const jid = addressOf(network.numbers.of(phone), group.addressing);
      return node('user', { jid, t, ...(isMixed ? { type } : {}) });
    });
  const messageAttributes = isMixed ? { message_id: messageId } : { key: messageId };
  const type = !isMixed && read.length > 0 ? 'read' : undefined;
  const receipt = node('receipt', { id: network.newId(), from: group.id, type, t }, [
    node('participants', messageAttributes, [...users(delivered, 'delivery'), ...users(read, 'read')]),
  ]);
  for (const companion of network.companions.of(to)) network.deliveries.receipts.add(companion.id, receipt);
  return delivered.length + read.length;
}
