import { createHash, randomBytes } from 'node:crypto';
import { normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import type { KeptFile } from '../media/media-host.ts';
import { ABOUT_KINDS, type WrittenMessage } from './written-kinds.ts';

const { MESSAGE_EDIT, REVOKE } = proto.Message.ProtocolMessage.Type;

/** The message that another one is about: an earlier stanza of the same chat. */
export interface EarlierMessage {
  readonly id: string;
  /** The address of its author. */
  readonly author: string;
  /** True if the contact wrote it. */
  readonly isOwn: boolean;
  readonly text: string;
}

/** The fields that a message gives of its uploaded file. */
export interface WrittenFile extends KeptFile {
  readonly url: string;
  readonly fileSha256: Uint8Array;
  readonly fileLength: number;
  readonly mediaKeyTimestamp: number;
}

/** All parts of a message. Times are seconds since the epoch. */
export interface ContentParts {
  readonly written: WrittenMessage;
  /** The chat's address that the contact's phone uses. */
  readonly chat: string;
  readonly file: WrittenFile | undefined;
  /** The message that it quotes, reacts to, edits, takes back or votes on. */
  readonly about: EarlierMessage | undefined;
  readonly nowSeconds: number;
}

/** Returns the message in the form of a phone (whatsmeow send.go and WAWebProtobufsE2E.proto). */
export function messageOf(parts: ContentParts): proto.IMessage {
  const { written } = parts;
  const plainContent = plainMessage(parts);
  if (written.wrapped === 'ephemeral') return { ephemeralMessage: { message: plainContent } };
  return written.wrapped === 'view_once' ? { viewOnceMessageV2: { message: plainContent } } : plainContent;
}

function plainMessage(parts: ContentParts): proto.IMessage {
  const { written, file } = parts;
  const contextInfo = contextOf(parts);
  const context = contextInfo === undefined ? {} : { contextInfo };
  if (file !== undefined) return mediaMessage(written, { ...file, ...context });
  return aboutMessage(parts) ?? spokenMessage(written, context);
}

/** Returns a text, place, person, poll or album. */
function spokenMessage(
  { kind, text }: WrittenMessage,
  context: { readonly contextInfo?: proto.IContextInfo },
): proto.IMessage {
  switch (kind) {
    case 'location':
      return {
        locationMessage: { degreesLatitude: 47.3769, degreesLongitude: 8.5417, name: text, ...context },
      };
    case 'live_location':
      return {
        liveLocationMessage: {
          degreesLatitude: 47.3769,
          degreesLongitude: 8.5417,
          caption: text,
          ...context,
        },
      };
    case 'contact':
      return { contactMessage: { ...cardOf(text), ...context } };
    case 'contacts':
      return {
        contactsArrayMessage: {
          displayName: '2 contacts',
          contacts: [cardOf(text), cardOf('B')],
          ...context,
        },
      };
    case 'poll':
      return {
        messageContextInfo: { messageSecret: randomBytes(32) },
        pollCreationMessageV3: {
          name: text,
          options: [{ optionName: 'Yes' }, { optionName: 'No' }],
          selectableOptionsCount: 1,
          ...context,
        },
      };
    case 'album':
      return { albumMessage: { expectedImageCount: 2, ...context } };
    default:
      // A phone writes a text without context as `conversation`, and one with a quote or a timer as an extended text.
      return context.contextInfo === undefined
        ? { conversation: text }
        : { extendedTextMessage: { text, ...context } };
  }
}

/** Returns a message that only changes an earlier one. Undefined for other kinds. */
function aboutMessage({ written, chat, about, nowSeconds }: ContentParts): proto.IMessage | undefined {
  const { kind, text } = written;
  const key = { remoteJid: chat, fromMe: about?.isOwn ?? false, id: about?.id ?? '' };
  switch (kind) {
    case 'reaction':
      return { reactionMessage: { key, text, senderTimestampMs: nowSeconds * 1_000 } };
    case 'edit': {
      const protocolMessage = {
        key,
        type: MESSAGE_EDIT,
        editedMessage: { conversation: text },
        timestampMs: nowSeconds * 1_000,
      };
      return { editedMessage: { message: { protocolMessage } } };
    }
    case 'revoke':
      return { protocolMessage: { key, type: REVOKE } };
    case 'vote':
      return {
        pollUpdateMessage: {
          pollCreationMessageKey: key,
          vote: { encPayload: randomBytes(48), encIv: randomBytes(12) },
          senderTimestampMs: nowSeconds * 1_000,
        },
      };
    default:
      return undefined;
  }
}

type MediaFields = WrittenFile & { readonly contextInfo?: proto.IContextInfo };

/** Returns a file with the fields of its kind. A document with a caption has an additional envelope. */
function mediaMessage({ kind, text, file }: WrittenMessage, fields: MediaFields): proto.IMessage {
  const mimetype = file.type;
  const caption = text === '' ? {} : { caption: text };
  const imageFields = { ...fields, mimetype, width: 4, height: 3, jpegThumbnail: THUMBNAIL };
  switch (kind) {
    case 'image':
      return { imageMessage: { ...imageFields, ...caption } };
    case 'video':
      return { videoMessage: { ...imageFields, seconds: 2, ...caption } };
    case 'video_note':
      return { ptvMessage: { ...imageFields, seconds: 2 } };
    case 'sticker':
      return { stickerMessage: { ...fields, mimetype, width: 512, height: 512, isAnimated: false } };
    case 'voice':
      return { audioMessage: { ...fields, mimetype, seconds: 2, ptt: true, waveform: new Uint8Array(64) } };
    case 'audio':
      return { audioMessage: { ...fields, mimetype, seconds: 2 } };
    default: {
      const documentMessage = { ...fields, mimetype, fileName: file.name, title: file.name, ...caption };
      return text === ''
        ? { documentMessage }
        : { documentWithCaptionMessage: { message: { documentMessage } } };
    }
  }
}

/** Returns the quote, and the chat's timer if it has one. */
function contextOf({ written, about }: ContentParts): proto.IContextInfo | undefined {
  const expiration = written.wrapped === 'ephemeral' ? { expiration: 86_400 } : {};
  const quotes = about !== undefined && !ABOUT_KINDS.has(written.kind);
  const quote = quotes
    ? {
        stanzaId: about.id,
        participant: about.author,
        quotedMessage: { conversation: about.text },
      }
    : {};
  return quotes || written.wrapped === 'ephemeral' ? { ...expiration, ...quote } : undefined;
}

function cardOf(name: string): { displayName: string; vcard: string } {
  const vcard = `BEGIN:VCARD\nVERSION:3.0\nFN:${name}\nTEL;type=CELL;waid=33699999999:+33 6 99 99 99 99\nEND:VCARD`;
  return { displayName: name, vcard };
}

/** The first bytes of a JPEG. They show no picture. */
const THUMBNAIL = Buffer.from('ffd8ffe000104a464946', 'hex');

/** The attributes of a stanza and its ciphertexts that describe the message in the clear. */
export interface StanzaForm {
  readonly attrs: Readonly<Record<string, string>>;
  readonly sealedAttrs: Readonly<Record<string, string>>;
}

/**
 * Returns the form of a message's stanza: `type`, `edit`, and of each ciphertext `mediatype` and `decrypt-fail`
 * (whatsmeow send.go: getTypeFromMessage, getMediaTypeFromMessage, getEditAttribute).
 */
export function stanzaForm(message: proto.IMessage): StanzaForm {
  const content = normalizeMessageContent(message) ?? {};
  const mediatype = mediaTypeOf(content);
  const edit = editOf(content);
  const isHidden = edit !== undefined || content.reactionMessage != null || content.pollUpdateMessage != null;
  return {
    attrs: { type: typeOf(content, mediatype), ...(edit === undefined ? {} : { edit }) },
    sealedAttrs: {
      ...(mediatype === undefined ? {} : { mediatype }),
      ...(isHidden ? { 'decrypt-fail': 'hide' } : {}),
    },
  };
}

function typeOf(content: proto.IMessage, mediatype: string | undefined): string {
  if (content.reactionMessage != null) return 'reaction';
  if (content.pollCreationMessageV3 != null || content.pollUpdateMessage != null) return 'poll';
  return mediatype === undefined ? 'text' : 'media';
}

function mediaTypeOf(content: proto.IMessage): string | undefined {
  if (content.audioMessage != null) return content.audioMessage.ptt ? 'ptt' : 'audio';
  const [, type] =
    Object.entries(MEDIA_TYPES).find(([field]) => content[field as keyof proto.IMessage] != null) ?? [];
  return type;
}

const MEDIA_TYPES = {
  imageMessage: 'image',
  stickerMessage: 'sticker',
  documentMessage: 'document',
  videoMessage: 'video',
  ptvMessage: 'ptv',
  contactMessage: 'vcard',
  contactsArrayMessage: 'contact_array',
  locationMessage: 'location',
  liveLocationMessage: 'livelocation',
} as const;

function editOf(content: proto.IMessage): string | undefined {
  const { protocolMessage, reactionMessage } = content;
  if (protocolMessage?.type === MESSAGE_EDIT) return '1';
  const isTakenBack = protocolMessage?.type === REVOKE || reactionMessage?.text === '';
  return isTakenBack ? '7' : undefined;
}

/** Returns the SHA-256 of an unencrypted file. */
export function sha256(content: Uint8Array): Buffer {
  return createHash('sha256').update(content).digest();
}
