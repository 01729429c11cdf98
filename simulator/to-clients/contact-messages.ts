import { type BinaryNode, proto } from '@whiskeysockets/baileys';
import { stanzaTime } from '../clock.ts';
import { ControlFailure } from '../control/control-failure.ts';
import type { Group } from '../groups.ts';
import type { Envelope, Handset } from '../handsets/handset.ts';
import { giveToken } from '../limits/number-limit-stanzas.ts';
import type { ContactToken } from '../limits/number-limits.ts';
import { type Companion, sessionAddress } from '../linking/companions.ts';
import type { Network } from '../network.ts';
import { addressOf, authorAttributes, type PhoneNumber, senderAttributes } from '../numbers.ts';
import { takeBundle } from '../queries/pre-key-queries.ts';
import { type Addressing, isGroupAddress } from '../socket/addresses.ts';
import { node } from '../socket/stanzas.ts';
import type { PhoneCopy } from '../unstored-state.ts';
import { composeMessage } from './composed-message.ts';
import type { DeliveryEnd } from './deliveries.ts';
import type { WrittenMessage } from './written-kinds.ts';

/** How a stanza names its sender: by LID or by number, with the other one beside it or not. */
export type SenderNaming = Addressing | 'lid_only' | 'pn_only';

/** How the number gets the token of a contact that writes to it: beside the message, in it, or not at all. */
export type TokenWay = 'notification' | 'message' | 'none';

/** The result of a contact's message when the control call ends. */
export interface ContactMessageResult {
  /** The stanza's id, the same in every delivery. */
  readonly messageId: string;
  /** True if a client sent its receipt. Otherwise the message is kept and delivered again at every login. */
  readonly delivered: boolean;
  /** The path of the file that the message brings, or null. */
  readonly path: string | null;
}

/** A stanza whose message only the number's phone has. */
const WITHOUT_CIPHERTEXT = { envelopes: [], source: { kind: 'nobody' } } as const;

/** A message that a contact's phone writes, and the form of its delivery. */
export interface ContactMessage {
  readonly from: string;
  /** A number or a group. */
  readonly to: string;
  readonly written: WrittenMessage;
  readonly addressing: SenderNaming;
  readonly wait: boolean;
  /**
   * The stanza comes without a ciphertext, as first messages from adverts do. Only the number's phone has the message.
   */
  readonly unavailable: boolean;
  /** How the number gets the contact's token. */
  readonly token: TokenWay;
  /** Bytes to encrypt instead of the message, padding included, as a changed client may send. Not used in groups. */
  readonly sealed?: Uint8Array | undefined;
}

/**
 * Writes from a contact's phone to a number with companions, or into a group. Resolves with the first client's receipt.
 * `delivered` is false after `clientWaitMs`, or at once if `wait` is false. Throws `ControlFailure` if no linked
 * client could receive it, or the contact may not write there.
 */
export async function writeAsContact(
  network: Network,
  options: ContactMessage,
): Promise<ContactMessageResult> {
  const { from, to } = options;
  const sender = network.numbers.of(from);
  if (!sender.exists)
    throw new ControlFailure(409, 'NUMBER_NOT_ON_NETWORK', `+${from} is not on the network.`);
  const messageId = network.newId();
  const group = isGroupAddress(to) ? groupFor(network, from, to) : undefined;
  const phones = group ? group.participants.filter((phone) => phone !== from) : [to];
  const companions = phones.flatMap((phone) => network.companions.of(phone));
  if (companions.length === 0)
    throw new ControlFailure(409, 'NO_COMPANION', 'No client is linked that could receive this message.');
  const { message, form, path } = await composeMessage(
    network,
    { ...options, addressing: namedBy(options.addressing) },
    group,
  );
  const source = {
    kind: 'handset',
    phone: from,
    plaintext: proto.Message.encode(message).finish(),
  } as const;
  const handset = network.handsets.handsetOf(from);
  const commonAttributes = { ...form.attrs, t: stanzaTime(network.clock), notify: `Contact ${from}` };
  const attrs = { ...commonAttributes, ...namesOf(sender, group, options.addressing) };
  const token = group ? undefined : tokenFor(network, { sender, to, way: options.token });
  const carriedToken = options.token === 'message' && token ? { token } : {};
  if (!group)
    keepCopy(network, options, { id: messageId, t: commonAttributes.t, plaintext: source.plaintext });
  const groupMessage = group && (await handset.encryptGroup(group.id, addressOf(sender, 'pn'), message));
  const [deliveryEnd, stop] = network.deliveries.waitFor(messageId);
  try {
    for (const companion of companions) {
      const stanza = { companionId: companion.id, messageId, attrs };
      if (options.unavailable) {
        const children = [unavailableNode(options.written)];
        network.deliveries.add({ ...stanza, children, ...WITHOUT_CIPHERTEXT });
        continue;
      }
      if (token && options.token === 'notification') giveToken(network, sender, companion, token);
      const ownEnvelope = await sealFor(
        network,
        handset,
        companion,
        groupMessage?.keyMessage ?? options.sealed ?? message,
      );
      network.deliveries.add({
        ...stanza,
        envelopes: groupMessage ? [ownEnvelope, groupMessage.envelope] : [ownEnvelope],
        sealedAttrs: form.sealedAttrs,
        source,
        ...carriedToken,
      });
    }
    const end = options.wait ? await inTime(network, deliveryEnd) : undefined;
    return { messageId, delivered: end === 'receipted', path };
  } finally {
    stop();
  }
}

function namedBy(addressing: SenderNaming): Addressing {
  return addressing.startsWith('pn') ? 'pn' : 'lid';
}

/** Returns the node that replaces a ciphertext. Its type marks a message that is shown once. */
function unavailableNode({ wrapped }: WrittenMessage): BinaryNode {
  return node('unavailable', wrapped === 'view_once' ? { type: 'view_once' } : {});
}

/** Returns the attributes that name the writer, and the group if there is one. */
function namesOf(
  sender: PhoneNumber,
  group: Group | undefined,
  addressing: SenderNaming,
): Record<string, string> {
  if (group !== undefined) return { from: group.id, ...authorAttributes(sender, group.addressing) };
  if (addressing === 'lid_only') return { from: addressOf(sender, 'lid') };
  if (addressing === 'pn_only') return { from: addressOf(sender, 'pn') };
  return senderAttributes(sender, addressing);
}

/** Keeps a copy on the phone that receives the message. */
function keepCopy(
  network: Network,
  { from, to, addressing }: ContactMessage,
  copy: Omit<PhoneCopy, 'from'>,
): void {
  const knownAddress = addressOf(network.numbers.of(from), addressing === 'lid_only' ? 'lid' : 'pn');
  network.copies.keep(to, { ...copy, from: knownAddress });
}

/** Resolves with the end of a delivery, or with undefined if it lasts longer than a control call waits. */
function inTime(network: Network, end: Promise<DeliveryEnd>): Promise<DeliveryEnd | undefined> {
  const timeout = new Promise<undefined>((resolve) => {
    const timer = network.clock.after(network.timings.clientWaitMs, () => resolve(undefined));
    void end.then(() => timer.cancel());
  });
  return Promise.race([end, timeout]);
}

/** Returns the token to give now. Undefined: there is none, or the number has it already, for the contact's LID. */
function tokenFor(
  network: Network,
  { sender, to, way }: { sender: PhoneNumber; to: string; way: TokenWay },
): ContactToken | undefined {
  const knownToken = network.limits.tokenOf(sender.phone, to);
  const { lid } = sender;
  const isGiven = knownToken !== undefined && knownToken.bytes.length > 0 && knownToken.lid === lid;
  if (isGiven) return way === 'message' ? knownToken : undefined;
  const seconds = Math.floor(network.clock.wallMs() / 1_000);
  const token = { bytes: Buffer.from(way === 'none' ? '' : network.newId(), 'hex'), at: seconds, lid };
  network.limits.noteWritten(sender.phone, to, token);
  return way === 'none' ? undefined : token;
}

function groupFor(network: Network, sender: string, id: string): Group {
  const group = network.groups.get(id);
  if (!group) throw new ControlFailure(404, 'NOT_FOUND', `There is no group ${id}.`);
  if (!group.participants.includes(sender) || (group.announce && !group.admins.includes(sender)))
    throw new ControlFailure(409, 'MAY_NOT_WRITE', `+${sender} may not write in this group.`);
  return group;
}

/** Encrypts for one companion, in the open session or in a new one. */
export async function sealFor(
  network: Network,
  handset: Handset,
  companion: Companion,
  message: proto.IMessage | Uint8Array,
): Promise<Envelope> {
  const address = sessionAddress(companion);
  if (!(await handset.knows(address))) await handset.openSession(address, takeBundle(network, companion));
  return handset.encrypt(address, message);
}
