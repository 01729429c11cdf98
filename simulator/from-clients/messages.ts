import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from '@whiskeysockets/baileys';
import { stanzaTime } from '../clock.ts';
import type { Envelope } from '../handsets/handset.ts';
import { type IncomingMessage, receiveOnHandset } from '../handsets/handset-inbox.ts';
import { type Companion, numberOf } from '../linking/companions.ts';
import type { Network } from '../network.ts';
import { authorAttributes, type DeviceReference, senderAttributes } from '../numbers.ts';
import { type Addressing, isGroupAddress, parseUserAddress, STATUS_ADDRESS } from '../socket/addresses.ts';
import type { Connection } from '../socket/connection.ts';
import { attribute, node } from '../socket/stanzas.ts';
import { isMalformed, MALFORMED } from './message-schema.ts';
import { postHash } from './post-hash.ts';

/** The ack error of a post that names the members by the wrong kind of address. */
const WRONG_ADDRESSING = 421;

/** The envelopes of a stanza for one device. */
interface Part {
  readonly target: DeviceReference;
  readonly envelopes: readonly Envelope[];
}

/** The numbers that get a stanza, or the ack code of its refusal. */
type Audience = { readonly phones: ReadonlySet<string> } | { readonly refusal: number };

/**
 * Takes a client's message to a user, a group or as a status. Delivers it to every handset and companion concerned and
 * acknowledges it, or refuses it with an error in the ack.
 */
export async function takeMessage(
  network: Network,
  connection: Connection,
  stanza: BinaryNode,
): Promise<void> {
  const { companion } = connection;
  if (!companion) return;
  if (network.faults.take('lost', companion.phone)) {
    network.sendCounts.lost(companion.id);
    return;
  }
  const to = attribute(stanza, 'to');
  const receipts = new HeldReceipts((receipt) => network.deliveries.receipts.add(companion.id, receipt));
  const incoming: IncomingMessage = {
    receipt: (receipt) => receipts.add(receipt),
    sender: companion,
    stanza,
    group: isGroupAddress(to) ? to : null,
    isStatus: to === STATUS_ADDRESS,
    composingSeen: network.composing.delete(
      `${companion.phone} ${network.numbers.resolve(to)?.number.phone ?? to}`,
    ),
  };
  const fault = network.faults.take('message', companion.phone);
  const audience = fault === undefined ? audienceOf(network, companion, stanza) : { refusal: fault };
  if ('refusal' in audience) {
    acknowledge(network, connection, stanza, { error: String(audience.refusal) });
    return;
  }
  if (network.numbers.isFormer(to)) {
    acknowledge(network, connection, stanza, { refresh_lid: 'true' });
    return;
  }
  const parts = partsOf(network, companion, stanza, audience.phones);
  network.sendCounts.taken(companion.id, parts.length);
  for (const part of parts) await deliver(network, incoming, part);
  if (network.faults.take('unacked', companion.phone)) {
    receipts.release();
    return;
  }
  const group = network.groups.get(to);
  acknowledge(network, connection, stanza, {
    phash: group && postHash(network, group, stanza),
    afterwards: () => receipts.release(),
  });
}

/** Keeps back receipts until their message is acknowledged. */
class HeldReceipts {
  readonly #send: (receipt: BinaryNode) => void;
  #held: BinaryNode[] | undefined = [];

  constructor(send: (receipt: BinaryNode) => void) {
    this.#send = send;
  }

  add(receipt: BinaryNode): void {
    if (this.#held === undefined) this.#send(receipt);
    else this.#held.push(receipt);
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const receipt of held) this.#send(receipt);
  }
}

/** The additional parts of an acknowledgement, and work that follows it. */
interface AckMore {
  readonly error?: string;
  readonly refresh_lid?: string;
  readonly phash?: string | undefined;
  readonly afterwards?: () => void;
}

function acknowledge(
  network: Network,
  connection: Connection,
  stanza: BinaryNode,
  { afterwards, ...more }: AckMore,
): void {
  const ack = node('ack', {
    class: 'message',
    id: stanza.attrs.id,
    from: stanza.attrs.to,
    t: stanzaTime(network.clock),
    ...more,
  });
  const send = (): void => {
    connection.send(ack);
    afterwards?.();
  };
  if (network.timings.ackDelayMs === 0) send();
  else network.clock.after(network.timings.ackDelayMs, send);
}

function audienceOf(network: Network, sender: Companion, stanza: BinaryNode): Audience {
  const to = attribute(stanza, 'to');
  if (isMalformed(network, stanza)) return { refusal: MALFORMED };
  if (to === STATUS_ADDRESS) {
    return { phones: new Set(addressees(network, stanza).map(({ target }) => target.number.phone)) };
  }
  if (isGroupAddress(to)) {
    const group = network.groups.get(to);
    if (!group) return { refusal: 404 };
    const mode = stanza.attrs.addressing_mode ?? group.addressing;
    if (mode !== group.addressing || namesOthers(stanza, group.addressing)) {
      return { refusal: WRONG_ADDRESSING };
    }
    const member = group.participants.includes(sender.phone);
    if (!member || (group.announce && !group.admins.includes(sender.phone))) return { refusal: 403 };
    return { phones: new Set(group.participants) };
  }
  const target = network.numbers.resolve(to);
  if (!target?.number.exists) return { refusal: 404 };
  const { phone, lid } = target.number;
  const named = target.addressing === 'lid' ? (parseUserAddress(to)?.user ?? lid) : lid;
  const refusal = network.limits.take(sender.phone, { phone, lid: named }, stanza);
  return refusal === undefined ? { phones: new Set([phone, sender.phone]) } : { refusal };
}

/** True if a device in the stanza's list is named by another kind of address than the group's members. */
function namesOthers(stanza: BinaryNode, addressing: Addressing): boolean {
  return getBinaryNodeChildren(getBinaryNodeChild(stanza, 'participants'), 'to').some(
    ({ attrs }) => parseUserAddress(attrs.jid)?.addressing !== addressing,
  );
}

/** Returns the envelopes under `participants`, or the only one of a message that is encrypted again for one device. */
function addressees(network: Network, stanza: BinaryNode): Part[] {
  const parts: Part[] = [];
  for (const to of getBinaryNodeChildren(getBinaryNodeChild(stanza, 'participants'), 'to')) {
    const target = network.numbers.resolve(to.attrs.jid);
    if (target) parts.push({ target, envelopes: envelopesOf(to) });
  }
  const lone = envelopesOf(stanza).filter(({ type }) => type !== 'skmsg');
  const target = network.numbers.resolve(stanza.attrs.participant ?? stanza.attrs.to);
  if (lone.length > 0 && target) parts.push({ target, envelopes: lone });
  return parts;
}

function partsOf(
  network: Network,
  sender: Companion,
  stanza: BinaryNode,
  phones: ReadonlySet<string>,
): Part[] {
  const parts = addressees(network, stanza).filter(({ target }) => phones.has(target.number.phone));
  const common = envelopesOf(stanza).filter(({ type }) => type === 'skmsg');
  if (common.length === 0) return parts;
  // A group payload is for every device, even without the sender's key in this stanza.
  const byDevice = new Map(parts.map((part) => [`${part.target.number.phone}:${part.target.device}`, part]));
  const everyone: Part[] = [];
  const addressing = network.groups.get(attribute(stanza, 'to'))?.addressing ?? 'lid';
  for (const phone of phones) {
    const number = network.numbers.of(phone);
    if (!number.exists) continue;
    for (const device of [0, ...network.companions.of(phone).map((companion) => companion.device)]) {
      if (phone === sender.phone && device === sender.device) continue;
      const own = byDevice.get(`${phone}:${device}`);
      const target = own?.target ?? { number, device, addressing };
      everyone.push({ target, envelopes: [...(own?.envelopes ?? []), ...common] });
    }
  }
  return everyone;
}

async function deliver(network: Network, incoming: IncomingMessage, part: Part): Promise<void> {
  const { target, envelopes } = part;
  if (target.device === 0) {
    await receiveOnHandset(network, incoming, target, envelopes);
    return;
  }
  const companion = network.companions.get(target.number.phone, target.device);
  if (!companion) return;
  network.deliveries.add({
    companionId: companion.id,
    messageId: attribute(incoming.stanza, 'id'),
    attrs: forwardedAttributes(network, incoming, target),
    envelopes,
    source: { companion: incoming.sender.id },
  });
}

function forwardedAttributes(
  network: Network,
  incoming: IncomingMessage,
  target: DeviceReference,
): Record<string, string> {
  const { sender, stanza } = incoming;
  const common = { type: attribute(stanza, 'type'), t: stanzaTime(network.clock) };
  const number = numberOf(sender);
  if (incoming.group !== null || incoming.isStatus) {
    const addressing =
      incoming.group === null ? 'lid' : (network.groups.get(incoming.group)?.addressing ?? 'lid');
    const author = authorAttributes(number, addressing, sender.device);
    return { ...common, from: attribute(stanza, 'to'), ...author };
  }
  return {
    ...common,
    ...senderAttributes(number, target.addressing, sender.device),
    // A copy for another device of the sender names the recipient.
    ...(target.number.phone === sender.phone ? { recipient: attribute(stanza, 'to') } : {}),
  };
}

function envelopesOf(parent: BinaryNode): Envelope[] {
  return getBinaryNodeChildren(parent, 'enc').flatMap(({ attrs, content }) => {
    const type = attrs.type;
    if (!(content instanceof Uint8Array)) return [];
    return type === 'pkmsg' || type === 'msg' || type === 'skmsg' ? [{ type, ciphertext: content }] : [];
  });
}
