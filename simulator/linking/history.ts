import { deflateSync } from 'node:zlib';
import { proto } from '@whiskeysockets/baileys';
import { stanzaTime } from '../clock.ts';
import type { FileFault } from '../media/media-host.ts';
import type { Network } from '../network.ts';
import { addressOf, type PhoneNumber } from '../numbers.ts';
import { sealFor } from '../to-clients/contact-messages.ts';
import { type Companion, numberOf } from './companions.ts';

/** The number of the first contact in a large history. The others follow it. */
const FIRST_CONTACT = 33_700_000_000;

/** The age of the contacts' tokens in a large history, in seconds: a day. */
const TOKEN_AGE_SECONDS = 86_400;

const { HistorySyncType } = proto.HistorySync;

/** A history like that of an old account. */
export interface FatHistory {
  /** The number of contacts that it names with their ids. */
  readonly mappings: number;
  /** The number of contacts that have a chat and a token. */
  readonly tokens?: number;
  /** The fault of its file. */
  readonly fault?: FileFault;
}

/**
 * Sends a companion the history of its phone. This history is empty. A client that syncs history holds its events back
 * until the history has come, for up to 20 s.
 */
export async function sendHistory(network: Network, companion: Companion): Promise<void> {
  const syncType = HistorySyncType.INITIAL_BOOTSTRAP;
  const history = proto.HistorySync.encode({ syncType, chunkOrder: 1, progress: 100 }).finish();
  await sendOwn(
    network,
    companion,
    notificationOf({ initialHistBootstrapInlinePayload: deflateSync(history) }),
  );
}

/**
 * Sends the phone's companions a history like that of an old account, in a file of the media host. It names `mappings`
 * contacts with their ids; the first `tokens` have a chat and a token. `fault` spoils the file. Resolves with the
 * file's path.
 */
export async function sendFatHistory(
  network: Network,
  options: Required<FatHistory> & { readonly phone: string },
): Promise<string> {
  const contacts = Array.from({ length: options.mappings }, (_, index) =>
    network.numbers.of(String(FIRST_CONTACT + index)),
  );
  const history = proto.HistorySync.encode({
    syncType: HistorySyncType.INITIAL_BOOTSTRAP,
    conversations: contacts.slice(0, options.tokens).map((contact) => conversationWith(network, contact)),
    phoneNumberToLidMappings: contacts.map((contact) => ({
      pnJid: addressOf(contact, 'pn'),
      lidJid: addressOf(contact, 'lid'),
    })),
  }).finish();
  const file = await network.media.keep(deflateSync(history), 'md-msg-hist');
  network.media.spoil(file.directPath, options.fault);
  for (const companion of network.companions.of(options.phone))
    await sendOwn(network, companion, notificationOf(file));
  return file.directPath;
}

/** Sends one companion of the phone a message of the protocol, like any message between devices of one account. */
export async function sendOwn(
  network: Network,
  companion: Companion,
  message: proto.IMessage,
): Promise<void> {
  const handset = network.handsets.handsetOf(companion.phone);
  network.deliveries.add({
    companionId: companion.id,
    messageId: network.newId(),
    attrs: {
      from: addressOf(numberOf(companion), 'pn'),
      type: 'text',
      category: 'peer',
      t: stanzaTime(network.clock),
    },
    envelopes: [await sealFor(network, handset, companion, message)],
    source: { kind: 'handset', phone: companion.phone, plaintext: proto.Message.encode(message).finish() },
  });
}

function notificationOf(part: proto.Message.IHistorySyncNotification): proto.IMessage {
  const syncType = HistorySyncType.INITIAL_BOOTSTRAP;
  return {
    protocolMessage: {
      type: proto.Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION,
      historySyncNotification: { syncType, chunkOrder: 1, progress: 100, ...part },
    },
  };
}

function conversationWith(network: Network, contact: PhoneNumber): proto.IConversation {
  const id = addressOf(contact, 'lid');
  const issuedAt = Math.floor(network.clock.wallMs() / 1_000) - TOKEN_AGE_SECONDS;
  return {
    id,
    pnJid: addressOf(contact, 'pn'),
    tcToken: Buffer.from(`token of ${contact.phone}`),
    tcTokenTimestamp: issuedAt,
    messages: [
      {
        message: {
          key: { remoteJid: id, fromMe: false, id: `OLD${contact.phone}` },
          messageTimestamp: issuedAt,
          message: { conversation: `An old message of ${contact.phone}` },
        },
      },
    ],
  };
}
