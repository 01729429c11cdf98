import { normalizeMessageContent, type proto } from '@whiskeysockets/baileys';
import type { InboundContent, InboundFile, InboundKind, InboundMedia } from '../../../inbound-content.ts';

/** The longest stored texts of a sender, in UTF-16 code units. The network's own clients let no one write more. */
const LONGEST = { text: 65_536, name: 128, fileName: 255, type: 128, path: 2_048, id: 64 } as const;

/** The content of a message, without its sender. */
export type SaidContent = Omit<InboundContent, 'name' | 'lid'>;

/**
 * Returns the content of a message that a person wrote, for the tenant's event. Undefined if nothing was written: keys,
 * votes, a message that was taken back. An edit gives its new text.
 */
export function inboundContentOf(message: proto.IMessage): SaidContent | undefined {
  const content = normalizeMessageContent(message);
  if (content == null) return undefined;
  const edited = content.protocolMessage?.editedMessage;
  if (edited != null) return inboundContentOf(edited);
  const { reactionMessage: reaction } = content;
  if (reaction != null) {
    const of = bounded(reaction.key?.id, LONGEST.id);
    return { kind: 'reaction', text: bounded(reaction.text ?? '', LONGEST.name), quotes: of, media: null };
  }
  if (content.protocolMessage != null || content.pollUpdateMessage != null) return undefined;
  const said = textKind(content) ?? mediaKind(content) ?? placeOrPerson(content);
  if (said !== undefined) return { ...said, quotes: quotedBy(content) };
  return hasContent(content)
    ? { kind: 'other', text: null, media: null, quotes: quotedBy(content) }
    : undefined;
}

type Said = Pick<SaidContent, 'kind' | 'text' | 'media'>;

function textKind(content: proto.IMessage): Said | undefined {
  const text =
    content.conversation ??
    content.extendedTextMessage?.text ??
    content.buttonsResponseMessage?.selectedDisplayText ??
    content.templateButtonReplyMessage?.selectedDisplayText ??
    content.interactiveResponseMessage?.body?.text ??
    content.listResponseMessage?.title;
  return text == null ? undefined : { kind: 'text', text: bounded(text, LONGEST.text), media: null };
}

/** The fields that messages with an attachment share. */
interface WireMedia {
  readonly mimetype?: string | null;
  readonly fileLength?: unknown;
  readonly fileSha256?: Uint8Array | null;
  readonly fileEncSha256?: Uint8Array | null;
  readonly mediaKey?: Uint8Array | null;
  readonly directPath?: string | null;
  readonly caption?: string | null;
  readonly fileName?: string | null;
}

function mediaKind(content: proto.IMessage): Said | undefined {
  const { imageMessage, videoMessage, ptvMessage, audioMessage, documentMessage } = content;
  const stickerMessage = content.stickerMessage ?? content.lottieStickerMessage?.message?.stickerMessage;
  if (imageMessage != null) return withMedia('image', 'image', imageMessage);
  if (videoMessage != null) return withMedia('video', 'video', videoMessage);
  if (ptvMessage != null) return withMedia('video', 'video', ptvMessage);
  if (audioMessage != null) return withMedia(audioMessage.ptt ? 'voice' : 'audio', 'audio', audioMessage);
  if (documentMessage != null) return withMedia('document', 'document', documentMessage);
  return stickerMessage == null ? undefined : withMedia('sticker', 'image', stickerMessage);
}

function withMedia(kind: InboundKind, purpose: InboundFile['purpose'], media: WireMedia): Said {
  return { kind, text: bounded(media.caption, LONGEST.text), media: mediaOf(purpose, media) };
}

function mediaOf(purpose: InboundFile['purpose'], media: WireMedia): InboundMedia {
  const { directPath, mediaKey, fileEncSha256, fileSha256 } = media;
  const isWhole =
    directPath && directPath.length <= LONGEST.path && isDigest(mediaKey) && isDigest(fileEncSha256);
  const size = Number(media.fileLength ?? Number.NaN);
  return {
    type: bounded(media.mimetype, LONGEST.type),
    size: Number.isSafeInteger(size) && size >= 0 ? size : null,
    fileName: bounded(media.fileName, LONGEST.fileName),
    sha256: isDigest(fileSha256) ? Buffer.from(fileSha256).toString('hex') : null,
    file: isWhole
      ? { directPath, key: base64(mediaKey), encryptedSha256: base64(fileEncSha256), purpose }
      : null,
  };
}

/** Returns a location as RFC 5870 writes it, with its name on the next line; or a contact as its vCard. */
function placeOrPerson(content: proto.IMessage): Said | undefined {
  const place = content.locationMessage ?? content.liveLocationMessage;
  if (place != null) {
    const at = `geo:${place.degreesLatitude ?? 0},${place.degreesLongitude ?? 0}`;
    const { locationMessage: one, liveLocationMessage: live } = content;
    const name = (one?.name || one?.address || live?.caption) ?? '';
    const text = name === '' ? at : `${at}\n${name}`;
    return { kind: 'location', text: bounded(text, LONGEST.text), media: null };
  }
  const people =
    content.contactsArrayMessage?.contacts ?? (content.contactMessage ? [content.contactMessage] : []);
  if (people.length === 0) return undefined;
  const cards = people.map(({ vcard, displayName }) => vcard ?? displayName ?? '').join('\n');
  return { kind: 'contact', text: bounded(cards, LONGEST.text), media: null };
}

/** The network's id of the stanza that a message quotes. */
function quotedBy(content: proto.IMessage): string | null {
  for (const part of Object.values(content)) {
    const info = (part as { readonly contextInfo?: proto.IContextInfo | null } | null)?.contextInfo;
    if (info?.stanzaId) return bounded(info.stanzaId, LONGEST.id);
  }
  return null;
}

/**
 * Fields that no chat shows as a message: keys and context that travel with others, the announcement of several
 * pictures, a message that was pinned or kept, and an edit whose secret only the phone has.
 */
const UNSAID: ReadonlySet<string> = new Set([
  'senderKeyDistributionMessage',
  'messageContextInfo',
  'albumMessage',
  'pinInChatMessage',
  'keepInChatMessage',
  'secretEncryptedMessage',
]);

function hasContent(content: proto.IMessage): boolean {
  return Object.entries(content).some(([name, value]) => value != null && !UNSAID.has(name));
}

function isDigest(bytes: Uint8Array | null | undefined): bytes is Uint8Array {
  return bytes?.length === 32;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/** The beginning of a text; null for none. Half of a surrogate pair, which JSON cannot carry, becomes U+FFFD. */
function bounded(text: string | null | undefined, most: number): string | null {
  return text == null ? null : Buffer.from(text.slice(0, most)).toString();
}

/** Returns a name as its sender wrote it, in one line. Null if it has no visible character. */
export function senderName(name: string | undefined): string | null {
  const shown = bounded(name?.replaceAll(/\p{Cc}/gu, ' ').trim(), LONGEST.name);
  return shown === '' ? null : shown;
}
