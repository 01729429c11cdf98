import {
  type BinaryNode,
  getAllBinaryNodeChildren,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  getBinaryNodeChildString,
} from '@whiskeysockets/baileys';
import type { UsyncError } from '../control/faults.ts';
import type { Companion } from '../linking/companions.ts';
import type { Network } from '../network.ts';
import { addressOf, type PhoneNumber } from '../numbers.ts';
import { type Addressing, lidAddress, phoneDigits } from '../socket/addresses.ts';
import { iqError, iqResult, node } from '../socket/stanzas.ts';

/**
 * Returns one row for each user that is asked for: on the network or not, devices, and LID. An error of one protocol is
 * inside the result, and then no row has that protocol.
 */
export function answerUsync(network: Network, asker: Companion, iq: BinaryNode): BinaryNode {
  const usync = getBinaryNodeChild(iq, 'usync');
  const query = getBinaryNodeChild(usync, 'query');
  if (!usync || !query) return iqError(iq, 400, 'bad-request');
  const protocols = new Set(getAllBinaryNodeChildren(query).map(({ tag }) => tag));
  const errors = new Map(
    [...protocols].map((tag) => [tag, network.faults.take('usync', `${asker.phone} ${tag}`)]),
  );
  const answeredTags = new Set([...protocols].filter((tag) => errors.get(tag) === undefined));
  const isSilent = network.faults.take('unlisted', asker.phone) || answeredTags.size === 0;
  const users = getBinaryNodeChildren(getBinaryNodeChild(usync, 'list'), 'user');
  if (protocols.has('devices')) for (const user of users) logQuestion(network, asker, user.attrs.jid);
  const rows = isSilent ? [] : users.flatMap((user) => row(network, user, answeredTags) ?? []);
  return iqResult(iq, [
    node('usync', { ...usync.attrs }, [
      node(
        'result',
        {},
        [...errors].map(([tag, error]) => node(tag, {}, error && [errorNode(error)])),
      ),
      node('list', {}, rows),
    ]),
  ]);
}

function logQuestion(network: Network, asker: Companion, address: string | undefined): void {
  const isOwn = network.numbers.resolve(address)?.number.phone === asker.phone;
  network.log({ event: 'devices asked for', companion: asker.id, address: address ?? '', isOwn });
}

const errorNode = ({ code, text, backoff }: UsyncError): BinaryNode =>
  node('error', { code: String(code), text, backoff: backoff === undefined ? undefined : String(backoff) });

function row(network: Network, user: BinaryNode, protocols: ReadonlySet<string>): BinaryNode | undefined {
  const askedPhone = askedFor(network, user);
  if (!askedPhone) return undefined;
  const { number, addressing } = askedPhone;
  const parts: BinaryNode[] = [];
  if (protocols.has('contact')) parts.push(node('contact', { type: number.exists ? 'in' : 'out' }));
  if (number.exists && protocols.has('devices')) parts.push(deviceList(network, number));
  // A row that is keyed by LID must not carry one, because the client would take its key for a phone number.
  if (number.exists && protocols.has('lid') && addressing === 'pn')
    parts.push(node('lid', { val: lidAddress(number.lid) }));
  return node('user', { jid: addressOf(number, addressing) }, parts);
}

function askedFor(
  network: Network,
  user: BinaryNode,
): { number: PhoneNumber; addressing: Addressing } | undefined {
  if (user.attrs.jid) return network.numbers.resolve(user.attrs.jid);
  const phone = phoneDigits(getBinaryNodeChildString(user, 'contact'));
  return phone === undefined ? undefined : { number: network.numbers.find(phone), addressing: 'pn' };
}

function deviceList(network: Network, number: PhoneNumber): BinaryNode {
  const companions = network.companions.of(number.phone);
  return node('devices', {}, [
    node('device-list', {}, [
      node('device', { id: '0' }),
      // The client leaves out a companion without a key index.
      ...companions.map(({ device }) => node('device', { id: String(device), 'key-index': String(device) })),
    ]),
  ]);
}
