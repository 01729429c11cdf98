import { type BinaryNode, normalizeMessageContent, type proto } from '@whiskeysockets/baileys';
import { type Attachment, attachmentOf, factsOf } from './attachments.ts';
import { stanzaTime } from './clock.ts';
import { sessionAddress } from './companions.ts';
import type { Envelope } from './handset.ts';
import { receiptOrigin, retryReceipt } from './handset-retries.ts';
import type { Quote } from './inboxes.ts';
import type { Incoming } from './incoming.ts';
import type { Network } from './network.ts';
import type { DeviceReference } from './numbers.ts';
import { answerPeerRequest } from './peer-messages.ts';
import { attribute, node } from './stanzas.ts';

/**
 * Receives a message on a handset: decrypts it, shows it and sends the receipt. If it cannot decrypt, it asks the
 * sender to encrypt again. A handset that is off does all this when it is on again.
 */
export async function receiveOnHandset(
  network: Network,
  incoming: Incoming,
  target: DeviceReference,
  envelopes: readonly Envelope[],
): Promise<void> {
  const { sender } = incoming;
  const again = (): Promise<void> => receiveOnHandset(network, incoming, target, envelopes);
  if (network.offline.keep(target.number.phone, again)) return;
  if (target.number.phone !== sender.phone) {
    const { faults } = network;
    const garbled = faults.take('unread', sender.phone) ?? faults.take('unreadable', sender.phone);
    if (garbled !== undefined) {
      askAgain(network, incoming, target, garbled);
      return;
    }
  }
  let messages: proto.Message[];
  try {
    messages = await open(network, incoming, target.number.phone, envelopes);
  } catch (error) {
    network.log({ event: 'handset cannot decrypt', phone: target.number.phone, reason: String(error) });
    askAgain(network, incoming, target, 'at_once');
    return;
  }
  // The phone does not show messages that its own companion sent.
  if (target.number.phone === sender.phone) {
    const requestId = attribute(incoming.stanza, 'id');
    for (const message of messages) {
      if (message.deviceSentMessage) network.log({ event: 'own phone has a copy', messageId: requestId });
      answerPeerRequest(network, sender, requestId, message);
    }
    return;
  }
  for (const message of messages) await show(network, incoming, target, message);
  if (messages.length > 0) incoming.receipt(deliveryReceipt(network, incoming, target));
}

/** Asks the sender to encrypt a message again, now or at its next login. */
function askAgain(
  network: Network,
  incoming: Incoming,
  target: DeviceReference,
  when: 'at_once' | 'at_login',
): void {
  const receipt = retryReceipt(network, incoming, target);
  if (receipt === undefined) return;
  const { id } = incoming.sender;
  if (when === 'at_once') incoming.receipt(receipt);
  else network.deliveries.keepReceipt(id, receipt);
}

async function open(
  network: Network,
  incoming: Incoming,
  phone: string,
  envelopes: readonly Envelope[],
): Promise<proto.Message[]> {
  const handset = network.handsets.of(phone);
  const author = sessionAddress(incoming.sender);
  const messages: proto.Message[] = [];
  for (const envelope of envelopes) {
    const message =
      envelope.type === 'skmsg'
        ? await handset.decryptGroup(author, attribute(incoming.stanza, 'to'), envelope.ciphertext)
        : await handset.decrypt(author, envelope);
    if (message.senderKeyDistributionMessage) {
      await handset.learnSenderKey(author, message.senderKeyDistributionMessage);
    }
    messages.push(message);
  }
  return messages;
}

async function show(
  network: Network,
  incoming: Incoming,
  target: DeviceReference,
  message: proto.Message,
): Promise<void> {
  const content = normalizeMessageContent(message);
  if (!content) return;
  const attachment = attachmentOf(content);
  const text = content.conversation || content.extendedTextMessage?.text || attachment?.media.caption || null;
  if (text === null && !attachment) return;
  const stanza = { from: `+${incoming.sender.phone}`, messageId: attribute(incoming.stanza, 'id') };
  const phone = target.number.phone;
  if (incoming.isStatus) {
    await showStatus(network, { ...stanza, viewer: phone, text, attachment });
    return;
  }
  const known = network.inboxes.find(phone, stanza);
  if (known) {
    network.inboxes.replace(phone, { ...known, duplicates: known.duplicates + 1 });
    return;
  }
  network.inboxes.add(phone, {
    ...stanza,
    text,
    mediaType: attachment?.type ?? null,
    mediaSha256: attachment ? await network.media.plaintextSha256(attachment) : null,
    media: attachment ? factsOf(attachment) : null,
    quote: quoteOf(content),
    expiration: contextsIn(content).find(({ expiration }) => expiration)?.expiration ?? null,
    group: incoming.group,
    composingSeen: incoming.composingSeen,
    duplicates: 0,
    at: new Date(network.clock.wallMs()).toISOString(),
  });
}

function quoteOf(content: proto.IMessage): Quote | null {
  const context = contextsIn(content).find(({ stanzaId }) => stanzaId);
  if (!context?.stanzaId) return null;
  const { stanzaId: id, participant, quotedMessage } = context;
  const text = quotedMessage?.conversation || quotedMessage?.extendedTextMessage?.text || null;
  return { id, participant: participant ?? null, text };
}

function contextsIn(content: proto.IMessage): proto.IContextInfo[] {
  const parts = Object.values(content) as ({ readonly contextInfo?: proto.IContextInfo | null } | null)[];
  return parts.flatMap((part) => part?.contextInfo ?? []);
}

/** Shows a status: one entry for its author, which lists the handsets that could read it, and one for each viewer. */
async function showStatus(
  network: Network,
  status: {
    from: string;
    messageId: string;
    viewer: string;
    text: string | null;
    attachment: Attachment | undefined;
  },
): Promise<void> {
  const author = status.from.slice(1);
  const viewer = `+${status.viewer}`;
  const posted = network.statuses.find(author, status);
  const entry = posted ?? {
    from: status.from,
    messageId: status.messageId,
    text: status.text,
    mediaType: status.attachment?.type ?? null,
    mediaSha256: status.attachment ? await network.media.plaintextSha256(status.attachment) : null,
    media: status.attachment ? factsOf(status.attachment) : null,
    audience: [],
    duplicates: 0,
    at: new Date(network.clock.wallMs()).toISOString(),
  };
  if (!posted) network.statuses.add(author, { ...entry, audience: [viewer] });
  else if (!posted.audience.includes(viewer)) {
    network.statuses.replace(author, { ...posted, audience: [...posted.audience, viewer] });
  }
  const seen = network.statuses.find(status.viewer, status);
  if (seen) network.statuses.replace(status.viewer, { ...seen, duplicates: seen.duplicates + 1 });
  else network.statuses.add(status.viewer, { ...entry, audience: [viewer] });
}

function deliveryReceipt(network: Network, incoming: Incoming, target: DeviceReference): BinaryNode {
  return node('receipt', {
    id: incoming.stanza.attrs.id,
    ...receiptOrigin(incoming, target),
    t: stanzaTime(network.clock),
  });
}
