import {
  type BinaryNode,
  getAllBinaryNodeChildren,
  getBinaryNodeChild,
  proto,
} from '@whiskeysockets/baileys';
import { type Companion, companionAddress, sessionAddress } from '../linking/companions.ts';
import type { Network } from '../network.ts';
import { readRetryBundle } from '../queries/key-bundle.ts';
import { takeBundle } from '../queries/pre-key-queries.ts';
import { isGroupAddress, parseUserAddress, STATUS_ADDRESS } from '../socket/addresses.ts';
import type { Connection } from '../socket/connection.ts';
import { attribute, node } from '../socket/stanzas.ts';
import type { Delivery } from '../to-clients/deliveries.ts';

/** After this number of retries a client that cannot read a message does not get it again (Baileys stops at 5). */
const MOST_RETRIES = 5;

/** Handles a client's receipt: it has the messages, or needs one of them encrypted again. */
export async function takeReceipt(
  network: Network,
  connection: Connection,
  receipt: BinaryNode,
): Promise<void> {
  const { companion } = connection;
  if (!companion) return;
  connection.send(
    node('ack', {
      class: 'receipt',
      id: receipt.attrs.id,
      from: receipt.attrs.to,
      type: receipt.attrs.type,
    }),
  );
  if (receipt.attrs.type === 'retry') {
    const delivery = network.deliveries.get(companion.id, attribute(receipt, 'id'));
    if (delivery) await retry(network, companion, delivery, receipt);
    return;
  }
  const ids = receiptedIds(receipt);
  if (receipt.attrs.type === 'read') {
    const reader = {
      companion: companion.id,
      writer: network.numbers.resolve(receipt.attrs.to)?.number.phone,
    };
    network.log({ event: 'messages read', ...reader, ids });
  }
  for (const id of ids) network.deliveries.end(companion.id, id, 'receipted');
}

/**
 * Handles a client's ack.
 *
 * Without an error it ends the delivery. A message from another device of the number is an exception: only a receipt
 * ends that. With an error it also ends the delivery, unless the client asked for a retry. A status that is answered
 * with an error stays, and withholds all others.
 */
export function takeAck(network: Network, connection: Connection, ack: BinaryNode): void {
  const { companion } = connection;
  if (companion === undefined) return;
  if (ack.attrs.class === 'receipt') network.deliveries.receipts.acknowledged(companion.id, ack);
  if (ack.attrs.class === 'notification') network.notices.acknowledged(companion.id, attribute(ack, 'id'));
  const delivery = network.deliveries.get(companion.id, attribute(ack, 'id'));
  if (delivery === undefined || (delivery.tag ?? 'message') !== ack.attrs.class) return;
  if (ack.attrs.error === undefined) {
    if (delivery.attrs.recipient === undefined)
      network.deliveries.end(companion.id, delivery.messageId, 'receipted');
    return;
  }
  if (delivery.attrs.from === STATUS_ADDRESS) {
    network.log({ event: 'a status blocks the queue', companion: companion.id, error: ack.attrs.error });
    network.deliveries.block(delivery);
    return;
  }
  if (delivery.retries > 0 && delivery.retries < MOST_RETRIES) return;
  network.deliveries.end(companion.id, delivery.messageId, 'refused');
}

function receiptedIds(receipt: BinaryNode): string[] {
  const listNode = getBinaryNodeChild(receipt, 'list');
  const listedIds = listNode ? getAllBinaryNodeChildren(listNode).flatMap((item) => item.attrs.id ?? []) : [];
  return [attribute(receipt, 'id'), ...listedIds];
}

async function retry(
  network: Network,
  companion: Companion,
  delivery: Delivery,
  receipt: BinaryNode,
): Promise<void> {
  if (delivery.retries >= MOST_RETRIES) {
    network.deliveries.end(companion.id, delivery.messageId, 'refused');
    return;
  }
  const { source } = delivery;
  if (source.kind === 'nobody') return;
  network.log({ event: 'retry asked', companion: companion.id, messageId: delivery.messageId });
  if (source.kind === 'companion') {
    network.deliveries.countRetry(delivery);
    forwardRetry(network, companion, source.id, receipt);
    return;
  }
  const handset = network.handsets.handsetOf(source.phone);
  const address = sessionAddress(companion);
  await handset.openSession(address, readRetryBundle(receipt) ?? takeBundle(network, companion));
  const envelope = await handset.encrypt(address, proto.Message.decode(source.plaintext));
  network.deliveries.retry(delivery, [envelope]);
}

/** Forwards a retry to the client that sent the message, because only that client can encrypt it again. */
function forwardRetry(network: Network, asking: Companion, sender: string, receipt: BinaryNode): void {
  const { id, type, to = '', participant, recipient } = receipt.attrs;
  const addressing = parseUserAddress(participant ?? to)?.addressing ?? 'lid';
  const device = companionAddress(asking, addressing);
  // For a message to many, the retry comes from their address and names the device that asks (whatsmeow retry.go).
  const isToMany = isGroupAddress(to) || to === STATUS_ADDRESS;
  const origin = isToMany ? { from: to, participant: device } : { from: device, recipient };
  network.deliveries.receipts.add(sender, node('receipt', { id, type, ...origin }, receipt.content));
}
