import { type BinaryNode, encodeBigEndian } from '@whiskeysockets/baileys';
import { stanzaTime } from './clock.ts';
import type { Incoming } from './incoming.ts';
import { bundleNodes } from './key-bundle.ts';
import type { Network } from './network.ts';
import { addressOf, type DeviceReference } from './numbers.ts';
import { node } from './stanzas.ts';

/** From this retry on, a phone sends its keys too (whatsapp-rust `MIN_RETRY_COUNT_FOR_KEYS`). */
const FIRST_WITH_KEYS = 2;

/** Returns the attributes that name the sender of a receipt, with the kind of address that the stanza used. */
export function receiptOrigin(
  { group, isStatus, stanza }: Incoming,
  target: DeviceReference,
): Record<string, string> {
  const address = addressOf(target.number, target.addressing);
  return group !== null || isStatus
    ? { from: stanza.attrs.to ?? '', participant: address }
    : { from: address };
}

/** Returns a handset's request for a message that it could not read. Undefined: it has asked often enough. */
export function retryReceipt(
  network: Network,
  incoming: Incoming,
  target: DeviceReference,
): BinaryNode | undefined {
  const { phone } = target.number;
  const id = incoming.stanza.attrs.id ?? '';
  const count = network.retries.next(phone, incoming.sender.id, id);
  if (count === undefined) return undefined;
  const handset = network.handsets.of(phone);
  const t = stanzaTime(network.clock);
  const retry = node('retry', { count: String(count), id, t, v: '1' });
  const attrs = { id, ...receiptOrigin(incoming, target), type: 'retry', t };
  if (count < FIRST_WITH_KEYS) {
    return node('receipt', attrs, [retry, node('registration', {}, encodeBigEndian(handset.registrationId))]);
  }
  const [registration = node('registration'), ...keys] = bundleNodes(handset.bundle());
  return node('receipt', attrs, [retry, registration, node('keys', {}, keys)]);
}
