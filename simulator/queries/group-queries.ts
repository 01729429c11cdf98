import { type BinaryNode, getBinaryNodeChild } from '@whiskeysockets/baileys';
import type { Group } from '../groups.ts';
import type { Companion } from '../linking/companions.ts';
import type { Network } from '../network.ts';
import { addressOf } from '../numbers.ts';
import { attribute, iqError, iqResult, node } from '../socket/stanzas.ts';

/** Answers a companion's queries about groups: all of its number, or one. Only the phone can change groups. */
export function answerGroupQuery(network: Network, companion: Companion, iq: BinaryNode): BinaryNode {
  if (getBinaryNodeChild(iq, 'participating')) {
    const groups = network.groups.groupsOf(companion.phone).map((group) => groupNode(network, group));
    return iqResult(iq, [node('groups', {}, groups)]);
  }
  if (!getBinaryNodeChild(iq, 'query')) return iqError(iq, 501, 'feature-not-implemented');
  const group = network.groups.get(attribute(iq, 'to'));
  network.log({ event: 'group asked for', group: attribute(iq, 'to') });
  if (!group) return iqError(iq, 404, 'item-not-found');
  if (!group.participants.includes(companion.phone)) return iqError(iq, 403, 'forbidden');
  return iqResult(iq, [groupNode(network, group)]);
}

/** Returns a group with its participants, in the form of queries and notifications. */
export function groupNode(network: Network, group: Group): BinaryNode {
  const createdAt = String(group.createdAt);
  const creator = group.admins[0] ?? group.participants[0];
  return node(
    'group',
    {
      id: group.id.slice(0, group.id.indexOf('@')),
      subject: group.name,
      addressing_mode: group.addressing,
      creation: createdAt,
      s_t: createdAt,
      size: String(group.participants.length),
      creator: creator === undefined ? undefined : addressOf(network.numbers.of(creator), group.addressing),
    },
    [
      ...group.participants.map((phone) => participantNode(network, group, phone)),
      ...(group.announce ? [node('announcement')] : []),
      ...(group.expiration > 0 ? [node('ephemeral', { expiration: String(group.expiration) })] : []),
    ],
  );
}

/** Returns a participant with the address that the group uses, and the other address. */
export function participantNode(network: Network, group: Group, phone: string): BinaryNode {
  const number = network.numbers.of(phone);
  const otherGroups =
    group.addressing === 'lid'
      ? { phone_number: addressOf(number, 'pn') }
      : { lid: addressOf(number, 'lid') };
  const type = group.admins.includes(phone) ? 'admin' : undefined;
  return node('participant', { jid: addressOf(number, group.addressing), ...otherGroups, type });
}
