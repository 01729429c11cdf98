import {
  type BinaryNode,
  encodeBigEndian,
  normalizeMessageContent,
  type proto,
} from '@whiskeysockets/baileys';
import { stanzaTime } from '../clock.ts';
import { answerPeerRequest } from '../from-clients/peer-messages.ts';
import { type Companion, sessionAddress } from '../linking/companions.ts';
import { type Attachment, attachmentOf, factsOf } from '../media/attachments.ts';
import type { Network } from '../network.ts';
import { addressOf, type DeviceReference } from '../numbers.ts';
import { bundleNodes } from '../queries/key-bundle.ts';
import { attribute, node } from '../socket/stanzas.ts';
import type { Envelope } from './handset.ts';
import type { Quote, StatusEntry, StatusStyle } from './inboxes.ts';

/** From this retry on, a phone sends its keys too (whatsapp-rust `MIN_RETRY_COUNT_FOR_KEYS`). */
const FIRST_WITH_KEYS = 2;

/** A stanza on its way to handsets. */
export interface IncomingMessage {
  readonly sender: Companion;
  readonly stanza: BinaryNode;
  /** The group's id, or null. */
  readonly group: string | null;
  readonly isStatus: boolean;
  readonly composingSeen: boolean;
  /** Takes the receipts. They reach the sender after the acknowledgement of its stanza. */
  readonly receipt: (receipt: BinaryNode) => void;
}

/**
 * Receives a message on a handset: decrypts it, shows it and sends the receipt. If it cannot decrypt, it asks the
 * sender to encrypt again. A handset that is off does all this when it is on again.
 */
export async function receiveOnHandset(
  network: Network,
  incomingMessage: IncomingMessage,
  target: DeviceReference,
  envelopes: readonly Envelope[],
): Promise<void> {
  const { sender } = incomingMessage;
  const receiveAgain = (): Promise<void> => receiveOnHandset(network, incomingMessage, target, envelopes);
  if (network.offline.keep(target.number.phone, receiveAgain)) return;
  if (target.number.phone !== sender.phone) {
    const { faults } = network;
    const garbling = faults.take('unread', sender.phone) ?? faults.take('unreadable', sender.phone);
    if (garbling !== undefined) {
      askAgain(network, incomingMessage, target, garbling);
      return;
    }
  }
  let messages: proto.Message[];
  try {
    messages = await openEnvelope(network, incomingMessage, target.number.phone, envelopes);
  } catch (error) {
    network.log({ event: 'handset cannot decrypt', phone: target.number.phone, reason: String(error) });
    askAgain(network, incomingMessage, target, 'at_once');
    return;
  }
  // The phone does not show messages that its own companion sent.
  if (target.number.phone === sender.phone) {
    const requestId = attribute(incomingMessage.stanza, 'id');
    for (const message of messages) {
      if (message.deviceSentMessage) network.log({ event: 'own phone has a copy', messageId: requestId });
      answerPeerRequest(network, sender, requestId, message);
    }
    return;
  }
  for (const message of messages) await show(network, incomingMessage, target, message);
  if (messages.length > 0) incomingMessage.receipt(deliveryReceipt(network, incomingMessage, target));
}

/** Asks the sender to encrypt a message again, now or at its next login. */
function askAgain(
  network: Network,
  incomingMessage: IncomingMessage,
  target: DeviceReference,
  delivery: 'at_once' | 'at_login',
): void {
  const receipt = retryReceipt(network, incomingMessage, target);
  if (receipt === undefined) return;
  const { id } = incomingMessage.sender;
  if (delivery === 'at_once') incomingMessage.receipt(receipt);
  else network.deliveries.receipts.keep(id, receipt);
}

async function openEnvelope(
  network: Network,
  incomingMessage: IncomingMessage,
  phone: string,
  envelopes: readonly Envelope[],
): Promise<proto.Message[]> {
  const handset = network.handsets.handsetOf(phone);
  const author = sessionAddress(incomingMessage.sender);
  const messages: proto.Message[] = [];
  for (const envelope of envelopes) {
    const message =
      envelope.type === 'skmsg'
        ? await handset.decryptGroup(author, attribute(incomingMessage.stanza, 'to'), envelope.ciphertext)
        : await handset.decrypt(author, envelope);
    if (message.senderKeyDistributionMessage)
      await handset.learnSenderKey(author, message.senderKeyDistributionMessage);
    messages.push(message);
  }
  return messages;
}

async function show(
  network: Network,
  incomingMessage: IncomingMessage,
  target: DeviceReference,
  message: proto.Message,
): Promise<void> {
  const content = normalizeMessageContent(message);
  if (!content) return;
  const attachment = attachmentOf(content);
  const text = content.conversation || content.extendedTextMessage?.text || attachment?.media.caption || null;
  if (text === null && !attachment) return;
  const stanza = {
    from: `+${incomingMessage.sender.phone}`,
    messageId: attribute(incomingMessage.stanza, 'id'),
  };
  const phone = target.number.phone;
  if (incomingMessage.isStatus) {
    await showStatus(network, phone, { ...stanza, text, attachment, style: styleOf(content) });
    return;
  }
  const knownEntry = network.inboxes.find(phone, stanza);
  if (knownEntry) {
    network.inboxes.replace(phone, { ...knownEntry, duplicates: knownEntry.duplicates + 1 });
    return;
  }
  network.inboxes.add(phone, {
    ...(await shownPart(network, { ...stanza, text, attachment })),
    quote: quoteOf(content),
    expiration: contextsIn(content).find(({ expiration }) => expiration)?.expiration ?? null,
    group: incomingMessage.group,
    composingSeen: incomingMessage.composingSeen,
  });
}

function quoteOf(content: proto.IMessage): Quote | null {
  const context = contextsIn(content).find(({ stanzaId }) => stanzaId);
  if (!context?.stanzaId) return null;
  const { stanzaId: id, participant, quotedMessage } = context;
  const text = quotedMessage?.conversation || quotedMessage?.extendedTextMessage?.text || null;
  return { id, participant: participant ?? null, text };
}

function styleOf({ extendedTextMessage }: proto.IMessage): StatusStyle | null {
  const { backgroundArgb, font = null } = extendedTextMessage ?? {};
  const background = backgroundArgb == null ? null : `#${backgroundArgb.toString(16).padStart(8, '0')}`;
  return background === null && font === null ? null : { background, font };
}

function contextsIn(content: proto.IMessage): proto.IContextInfo[] {
  const parts = Object.values(content) as ({ readonly contextInfo?: proto.IContextInfo | null } | null)[];
  return parts.flatMap((part) => part?.contextInfo ?? []);
}

/** A message or status that a handset can read. */
interface ReadableEnvelope {
  readonly from: string;
  readonly messageId: string;
  readonly text: string | null;
  readonly attachment: Attachment | undefined;
}

/** Returns the part of an entry that messages and statuses have in common. */
async function shownPart(
  network: Network,
  { from, messageId, text, attachment }: ReadableEnvelope,
): Promise<Omit<StatusEntry, 'id' | 'audience' | 'style'>> {
  return {
    from,
    messageId,
    text,
    mediaType: attachment?.type ?? null,
    mediaSha256: attachment ? await network.media.plaintextSha256(attachment) : null,
    media: attachment ? factsOf(attachment) : null,
    duplicates: 0,
    at: new Date(network.clock.wallMs()).toISOString(),
  };
}

/** Shows a status: one entry for its author, which lists the handsets that could read it, and one for each viewer. */
async function showStatus(
  network: Network,
  viewer: string,
  status: ReadableEnvelope & { readonly style: StatusStyle | null },
): Promise<void> {
  const { statuses } = network;
  const author = status.from.slice(1);
  const audience = [`+${viewer}`];
  const postedStatus = statuses.find(author, status);
  const entry = postedStatus ?? { ...(await shownPart(network, status)), style: status.style, audience };
  if (!postedStatus) statuses.add(author, entry);
  else if (!postedStatus.audience.includes(`+${viewer}`))
    statuses.replace(author, { ...postedStatus, audience: [...postedStatus.audience, ...audience] });
  const seenStatus = statuses.find(viewer, status);
  if (seenStatus) statuses.replace(viewer, { ...seenStatus, duplicates: seenStatus.duplicates + 1 });
  else statuses.add(viewer, { ...entry, audience });
}

function deliveryReceipt(
  network: Network,
  incomingMessage: IncomingMessage,
  target: DeviceReference,
): BinaryNode {
  return node('receipt', {
    id: incomingMessage.stanza.attrs.id,
    ...receiptOrigin(incomingMessage, target),
    t: stanzaTime(network.clock),
  });
}

/** Returns the attributes that name the sender of a receipt, with the kind of address that the stanza used. */
function receiptOrigin(
  { group, isStatus, stanza }: IncomingMessage,
  target: DeviceReference,
): Record<string, string> {
  const address = addressOf(target.number, target.addressing);
  return group !== null || isStatus
    ? { from: stanza.attrs.to ?? '', participant: address }
    : { from: address };
}

/** Returns a handset's request for a message that it could not read. Undefined: it has asked often enough. */
function retryReceipt(
  network: Network,
  incomingMessage: IncomingMessage,
  target: DeviceReference,
): BinaryNode | undefined {
  const { phone } = target.number;
  const id = incomingMessage.stanza.attrs.id ?? '';
  const count = network.retries.next(phone, incomingMessage.sender.id, id);
  if (count === undefined) return undefined;
  const handset = network.handsets.handsetOf(phone);
  const t = stanzaTime(network.clock);
  const retry = node('retry', { count: String(count), id, t, v: '1' });
  const attrs = { id, ...receiptOrigin(incomingMessage, target), type: 'retry', t };
  if (count < FIRST_WITH_KEYS)
    return node('receipt', attrs, [retry, node('registration', {}, encodeBigEndian(handset.registrationId))]);
  const [registration = node('registration'), ...keys] = bundleNodes(handset.bundle());
  return node('receipt', attrs, [retry, registration, node('keys', {}, keys)]);
}
