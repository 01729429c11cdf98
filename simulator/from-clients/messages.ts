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
type Audience =
  | { readonly ok: true; readonly phones: ReadonlySet<string> }
  | { readonly ok: false; readonly code: number };

const refused = (code: number): Audience => ({ ok: false, code });
const reaching = (phones: Iterable<string>): Audience => ({ ok: true, phones: new Set(phones) });

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
  const recipient = attribute(stanza, 'to');
  const receipts = new HeldReceipts((receipt) => network.deliveries.receipts.add(companion.id, receipt));
  const incomingMessage: IncomingMessage = {
    receipt: (receipt) => receipts.add(receipt),
    sender: companion,
    stanza,
    group: isGroupAddress(recipient) ? recipient : null,
    isStatus: recipient === STATUS_ADDRESS,
    composingSeen: network.composing.delete(
      `${companion.phone} ${network.numbers.resolve(recipient)?.number.phone ?? recipient}`,
    ),
  };
  const fault = network.faults.take('message', companion.phone);
  const audience = fault === undefined ? audienceOf(network, companion, stanza) : refused(fault);
  if (!audience.ok) {
    acknowledge(network, connection, stanza, { error: String(audience.code) });
    return;
  }
  if (network.numbers.isFormer(recipient)) {
    acknowledge(network, connection, stanza, { refresh_lid: 'true' });
    return;
  }
  const parts = partsOf(network, companion, stanza, audience.phones);
  network.sendCounts.countTaken(companion.id, parts.length);
  for (const part of parts) await deliver(network, incomingMessage, part);
  if (network.faults.take('unconfirmed', companion.phone)) return;
  if (network.faults.take('unacked', companion.phone)) {
    receipts.release();
    return;
  }
  const group = network.groups.get(recipient);
  acknowledge(network, connection, stanza, {
    phash: group && postHash(network, group, stanza),
    doAfterwards: () => receipts.release(),
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
    const heldReceipts = this.#held ?? [];
    this.#held = undefined;
    for (const receipt of heldReceipts) this.#send(receipt);
  }
}

interface AckOptions {
  readonly error?: string;
  readonly refresh_lid?: string;
  readonly phash?: string | undefined;
  readonly doAfterwards?: () => void;
}

function acknowledge(
  network: Network,
  connection: Connection,
  stanza: BinaryNode,
  { doAfterwards, ...more }: AckOptions,
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
    doAfterwards?.();
  };
  if (network.timings.ackDelayMs === 0) send();
  else network.clock.after(network.timings.ackDelayMs, send);
}

function audienceOf(network: Network, sender: Companion, stanza: BinaryNode): Audience {
  const recipient = attribute(stanza, 'to');
  if (isMalformed(network, stanza)) return refused(MALFORMED);
  if (recipient === STATUS_ADDRESS)
    return reaching(addressees(network, stanza).map(({ target }) => target.number.phone));
  if (isGroupAddress(recipient)) {
    const group = network.groups.get(recipient);
    if (!group) return refused(404);
    const mode = stanza.attrs.addressing_mode ?? group.addressing;
    if (mode !== group.addressing || namesOthers(stanza, group.addressing)) return refused(WRONG_ADDRESSING);
    const member = group.participants.includes(sender.phone);
    if (!member || (group.announce && !group.admins.includes(sender.phone))) return refused(403);
    return reaching(group.participants);
  }
  const target = network.numbers.resolve(recipient);
  if (!target?.number.exists) return refused(404);
  const { phone, lid } = target.number;
  const namedUser = target.addressing === 'lid' ? (parseUserAddress(recipient)?.user ?? lid) : lid;
  const refusal = network.limits.take(sender.phone, { phone, lid: namedUser }, stanza);
  return refusal === undefined ? reaching([phone, sender.phone]) : refused(refusal);
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
  for (const recipient of getBinaryNodeChildren(getBinaryNodeChild(stanza, 'participants'), 'to')) {
    const target = network.numbers.resolve(recipient.attrs.jid);
    if (target) parts.push({ target, envelopes: envelopesOf(recipient) });
  }
  const ownEnvelopes = envelopesOf(stanza).filter(({ type }) => type !== 'skmsg');
  const target = network.numbers.resolve(stanza.attrs.participant ?? stanza.attrs.to);
  if (ownEnvelopes.length > 0 && target) parts.push({ target, envelopes: ownEnvelopes });
  return parts;
}

function partsOf(
  network: Network,
  sender: Companion,
  stanza: BinaryNode,
  phones: ReadonlySet<string>,
): Part[] {
  const parts = addressees(network, stanza).filter(({ target }) => phones.has(target.number.phone));
  const commonEnvelopes = envelopesOf(stanza).filter(({ type }) => type === 'skmsg');
  if (commonEnvelopes.length === 0) return parts;
  // A group payload is for every device, even without the sender's key in this stanza.
  const byDevice = new Map(parts.map((part) => [`${part.target.number.phone}:${part.target.device}`, part]));
  const allParts: Part[] = [];
  const addressing = network.groups.get(attribute(stanza, 'to'))?.addressing ?? 'lid';
  for (const phone of phones) {
    const number = network.numbers.of(phone);
    if (!number.exists) continue;
    for (const device of [0, ...network.companions.of(phone).map((companion) => companion.device)]) {
      if (phone === sender.phone && device === sender.device) continue;
      const ownEnvelope = byDevice.get(`${phone}:${device}`);
      const target = ownEnvelope?.target ?? { number, device, addressing };
      allParts.push({ target, envelopes: [...(ownEnvelope?.envelopes ?? []), ...commonEnvelopes] });
    }
  }
  return allParts;
}

async function deliver(network: Network, incomingMessage: IncomingMessage, part: Part): Promise<void> {
  const { target, envelopes } = part;
  if (target.device === 0) {
    await receiveOnHandset(network, incomingMessage, target, envelopes);
    return;
  }
  const companion = network.companions.get(target.number.phone, target.device);
  if (!companion) return;
  network.deliveries.add({
    companionId: companion.id,
    messageId: attribute(incomingMessage.stanza, 'id'),
    attrs: forwardedAttributes(network, incomingMessage, target),
    envelopes,
    source: { kind: 'companion', id: incomingMessage.sender.id },
  });
}

function forwardedAttributes(
  network: Network,
  incomingMessage: IncomingMessage,
  target: DeviceReference,
): Record<string, string> {
  const { sender, stanza } = incomingMessage;
  const commonAttributes = { type: attribute(stanza, 'type'), t: stanzaTime(network.clock) };
  const number = numberOf(sender);
  if (incomingMessage.group !== null || incomingMessage.isStatus) {
    const addressing =
      incomingMessage.group === null
        ? 'lid'
        : (network.groups.get(incomingMessage.group)?.addressing ?? 'lid');
    const author = authorAttributes(number, addressing, sender.device);
    return { ...commonAttributes, from: attribute(stanza, 'to'), ...author };
  }
  return {
    ...commonAttributes,
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
