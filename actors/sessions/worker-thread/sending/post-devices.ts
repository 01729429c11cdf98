import { createHash } from 'node:crypto';
import { jidDecode, jidEncode, type MessageRelayOptions } from '@whiskeysockets/baileys';
import { isLidAddress, userOf } from '../wire/chat-address.ts';
import { wireForm } from '../wire/wire-form.ts';
import { type KnownDevice, ownDevice } from './device-sessions.ts';
import type { OutboxOptions } from './outbox-options.ts';
import type { PendingOrder } from './pending-order.ts';

/**
 * The devices that a post in a group is for. A post carries their hash, and its acknowledgement the hash of the devices
 * in the group. If the two differ, a member joined, left, or linked a device (oxidezap/whatsapp-rust,
 * `src/send/mod.rs`). Then the group and its members' devices are requested before the next post.
 */
export class PostDevices {
  readonly #options: Pick<OutboxOptions, 'context' | 'socket' | 'groups'>;

  constructor(options: Pick<OutboxOptions, 'context' | 'socket' | 'groups'>) {
    this.#options = options;
  }

  /** Returns the attributes of an order's stanza without those of the message, for its present state. */
  formOf(pendingOrder: PendingOrder, audience: readonly string[]): MessageRelayOptions {
    const { order, isPost } = pendingOrder;
    const { to, chat, wireId } = pendingOrder.stanza;
    const devicesHash = isPost ? this.#hashOf(chat) : undefined;
    pendingOrder.addressTo(devicesHash);
    const form = wireForm({ kind: order.kind, to, chat }, { audience, devicesHash });
    return { messageId: wireId, ...form };
  }

  /**
   * Returns the hash of the devices of a group, including those without keys and the shop's own. Undefined if not
   * known.
   */
  #hashOf(group: string): string | undefined {
    const metadata = this.#options.groups.metadata(group);
    if (metadata === undefined) return undefined;
    const [number = '', lid = number] = ownDevice(this.#options.socket.user);
    const knownDevices = metadata.participants.flatMap(({ id }) => this.#devicesOf(id));
    return deviceListHash([...knownDevices, metadata.addressingMode === 'pn' ? number : lid]);
  }

  /** The network named the hash of the devices in a group: another one than was sent with the post. */
  differ(group: string): void {
    // If they differ for another reason, each post would repeat the request.
    const { otherDevices } = this.#options.context.memory;
    if (otherDevices.get(group) === true) return;
    otherDevices.set(group, true);
    this.forget(group);
    this.#options.groups.renewSoon(group);
  }

  /** Makes the next post request the devices of a group's members. */
  forget(group: string): void {
    for (const { id } of this.#options.groups.metadata(group)?.participants ?? [])
      this.#options.context.memory.devices.del(userOf(id));
  }

  #devicesOf(member: string): string[] {
    const user = userOf(member);
    const devices = this.#options.context.memory.devices.get<readonly KnownDevice[]>(user) ?? [];
    const kind = isLidAddress(member) ? 'lid' : 's.whatsapp.net';
    // Hosted devices have no part in a group's encryption.
    return devices.flatMap(({ server, device }) =>
      server === kind ? [jidEncode(user, server, device)] : [],
    );
  }
}

/**
 * Returns the hash by which a post tells the network which devices it is for (`phash`; tulir/whatsmeow
 * `participantListHashV2`). The order of the addresses makes no difference.
 */
export function deviceListHash(addresses: Iterable<string>): string {
  const devices = [...new Set([...addresses].map(hashedForm))].toSorted();
  const digest = createHash('sha256').update(devices.join('')).digest();
  return `2:${digest.subarray(0, 6).toString('base64')}`;
}

/** Returns the address with an agent, which is 0 in all cases, and with the device. */
function hashedForm(address: string): string {
  const { user = '', device = 0, server = '' } = jidDecode(address) ?? {};
  return `${user}.0:${device}@${server}`;
}
