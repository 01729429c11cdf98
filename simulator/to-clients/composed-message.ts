import { type MediaType, proto } from '@whiskeysockets/baileys';
import { ControlFailure } from '../control/control-failure.ts';
import type { Group } from '../groups.ts';
import type { Network } from '../network.ts';
import { addressOf } from '../numbers.ts';
import type { Addressing } from '../socket/addresses.ts';
import {
  type EarlierMessage,
  messageOf,
  type StanzaForm,
  sha256,
  stanzaForm,
  type WrittenFile,
} from './written-content.ts';
import { FILE_TYPES, type WrittenMessage } from './written-kinds.ts';

/** A contact's message before encryption, the form of its stanza, and the path of its uploaded file. */
export interface ComposedMessage {
  readonly message: proto.IMessage;
  readonly form: StanzaForm;
  readonly path: string | null;
}

/** A message to compose, its sender and recipient, and the kind of address that names both. */
export interface MessageToCompose {
  readonly from: string;
  /** A number or a group. */
  readonly to: string;
  readonly written: WrittenMessage;
  readonly addressing: Addressing;
}

/** Returns a contact's message as the contact's phone composes it, once its file is uploaded. */
export async function composeMessage(
  network: Network,
  options: MessageToCompose,
  group: Group | undefined,
): Promise<ComposedMessage> {
  const { written, to, addressing } = options;
  const file = await uploadFile(network, written);
  const message = messageOf({
    written,
    chat: group?.id ?? addressOf(network.numbers.of(to), addressing),
    file,
    about: earlierMessage(network, options),
    nowSeconds: Math.floor(network.clock.wallMs() / 1_000),
  });
  return { message, form: stanzaForm(message), path: file?.directPath ?? null };
}

/** Uploads the file that a message brings, as the contact's phone does. */
async function uploadFile(
  network: Network,
  { kind, file }: WrittenMessage,
): Promise<WrittenFile | undefined> {
  if (!FILE_TYPES.has(kind)) return undefined;
  const types: Partial<Record<WrittenMessage['kind'], MediaType>> = { video_note: 'ptv', voice: 'ptt' };
  const keptFile = await network.media.keep(file.content, types[kind] ?? (kind as MediaType));
  return {
    ...keptFile,
    url: `https://${network.media.host}${keptFile.directPath}`,
    fileSha256: sha256(file.content),
    fileLength: file.content.byteLength,
    mediaKeyTimestamp: Math.floor(network.clock.wallMs() / 1_000),
  };
}

/**
 * Returns the earlier message that a contact's message is about, as the contact's phone has it. The phone received it
 * or wrote it to that number. Throws `ControlFailure` 404 if the phone has no such message.
 */
function earlierMessage(
  network: Network,
  { from, to, written: { about }, addressing }: MessageToCompose,
): EarlierMessage | undefined {
  if (about === '') return undefined;
  const inboxEntry = network.inboxes.list(from).find(({ messageId }) => messageId === about);
  if (inboxEntry !== undefined) {
    const author = addressOf(network.numbers.of(inboxEntry.from.slice(1)), addressing);
    return { id: about, author, isOwn: false, text: inboxEntry.text ?? '' };
  }
  const ownCopy = network.copies.find(to, about);
  if (ownCopy === undefined) throw new ControlFailure(404, 'NOT_FOUND', `+${from} has no message ${about}.`);
  const { conversation } = proto.Message.decode(ownCopy.plaintext);
  const author = addressOf(network.numbers.of(from), addressing);
  return { id: about, author, isOwn: true, text: conversation ?? '' };
}
