import {
  type BinaryNode,
  getAllBinaryNodeChildren,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  getBinaryNodeChildString,
} from '@whiskeysockets/baileys';
import { type Addressing, lidAddress, phoneDigits } from './addresses.ts';
import type { Network } from './network.ts';
import { addressOf, type PhoneNumber } from './numbers.ts';
import { iqError, iqResult, node } from './stanzas.ts';

/** Answers who is on the network, with which devices and under which LID: one row per user asked for. */
export function answerUsync(network: Network, iq: BinaryNode): BinaryNode {
  const usync = getBinaryNodeChild(iq, 'usync');
  const query = getBinaryNodeChild(usync, 'query');
  if (!usync || !query) return iqError(iq, 400, 'bad-request');
  const protocols = new Set(getAllBinaryNodeChildren(query).map(({ tag }) => tag));
  const users = getBinaryNodeChildren(getBinaryNodeChild(usync, 'list'), 'user');
  const rows = users.flatMap((user) => row(network, user, protocols) ?? []);
  return iqResult(iq, [
    node('usync', { ...usync.attrs }, [
      node(
        'result',
        {},
        [...protocols].map((tag) => node(tag)),
      ),
      node('list', {}, rows),
    ]),
  ]);
}

function row(network: Network, user: BinaryNode, protocols: ReadonlySet<string>): BinaryNode | undefined {
  const asked = askedFor(network, user);
  if (!asked) return undefined;
  const { number, addressing } = asked;
  const parts: BinaryNode[] = [];
  if (protocols.has('contact')) parts.push(node('contact', { type: number.exists ? 'in' : 'out' }));
  if (number.exists && protocols.has('devices')) parts.push(deviceList(network, number));
  // A row that is keyed by LID must not carry one: the client would take its key for a phone number.
  if (number.exists && protocols.has('lid') && addressing === 'pn') {
    parts.push(node('lid', { val: lidAddress(number.lid) }));
  }
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
