import type { BinaryNode } from '@whiskeysockets/baileys';
import { stanzaTime } from '../clock.ts';
import type { Group } from '../groups.ts';
import type { Companion } from '../linking/companions.ts';
import type { Network } from '../network.ts';
import { addressOf } from '../numbers.ts';
import { groupNode, participantNode } from '../queries/group-queries.ts';
import { node } from '../socket/stanzas.ts';

/** How long to wait for a client's acknowledgement of a change, in milliseconds. It normally comes at once. */
const ACK_WAIT_MS = 2_000;

/**
 * Stores the group and notifies the companions of everyone who was or is in it. Resolves once their clients
 * acknowledged. A companion that is offline refreshes its groups at its next login. With `isUntold` no companion is
 * notified.
 */
export async function changeGroup(network: Network, group: Group, isUntold: boolean): Promise<void> {
  const groupBefore = network.groups.get(group.id);
  network.groups.put(group);
  if (isUntold) return;
  const concernedPhones = new Set([...(groupBefore?.participants ?? []), ...group.participants]);
  const notices = [...concernedPhones].flatMap((phone) => {
    const changes = groupBefore?.participants.includes(phone)
      ? changesBetween(network, groupBefore, group)
      : [node('create', {}, [groupNode(network, group)])];
    return network.companions.of(phone).map((companion) => notify(network, companion, group, changes));
  });
  await Promise.all(notices);
}

async function notify(
  network: Network,
  companion: Companion,
  group: Group,
  changes: readonly BinaryNode[],
): Promise<void> {
  const connection = network.connections.of(companion.id);
  if (connection?.backlog === undefined || connection.hearing !== 'full') {
    network.groups.markStale(companion.id);
    return;
  }
  // Send them one after the other: of two updates of a group at once, the client's event buffer keeps only the first.
  for (const change of changes) {
    const id = network.newId();
    const acknowledged = connection.answerTo(id, ACK_WAIT_MS);
    network.notices.add(companion.id, notification(network, { group, change, id }));
    if (await acknowledged) network.notices.acknowledged(companion.id, id);
  }
}

function changesBetween(network: Network, before: Group, after: Group): BinaryNode[] {
  const changes: BinaryNode[] = [];
  const people = (tag: string, phones: readonly string[]): void => {
    const participants = phones.map((phone) => participantNode(network, after, phone));
    if (participants.length > 0) changes.push(node(tag, {}, participants));
  };
  people('add', withoutPhones(after.participants, before.participants));
  people('remove', withoutPhones(before.participants, after.participants));
  const stayedPhones = after.participants.filter((phone) => before.participants.includes(phone));
  people(
    'promote',
    withoutPhones(after.admins, before.admins).filter((phone) => stayedPhones.includes(phone)),
  );
  people(
    'demote',
    withoutPhones(before.admins, after.admins).filter((phone) => stayedPhones.includes(phone)),
  );
  if (before.name !== after.name) changes.push(node('subject', { subject: after.name }));
  if (before.announce !== after.announce)
    changes.push(node(after.announce ? 'announcement' : 'not_announcement'));
  if (before.expiration !== after.expiration) {
    const timer = { expiration: String(after.expiration) };
    changes.push(after.expiration > 0 ? node('ephemeral', timer) : node('not_ephemeral'));
  }
  return changes;
}

const withoutPhones = (phones: readonly string[], otherPhones: readonly string[]): string[] =>
  phones.filter((phone) => !otherPhones.includes(phone));

function notification(
  network: Network,
  { group, change, id }: { readonly group: Group; readonly change: BinaryNode; readonly id: string },
): BinaryNode {
  const author = group.admins[0] ?? group.participants[0];
  const number = author === undefined ? undefined : network.numbers.of(author);
  return node(
    'notification',
    {
      type: 'w:gp2',
      from: group.id,
      id,
      t: stanzaTime(network.clock),
      addressing_mode: group.addressing,
      participant: number && addressOf(number, group.addressing),
      participant_pn: number && group.addressing === 'lid' ? addressOf(number, 'pn') : undefined,
    },
    [change],
  );
}
