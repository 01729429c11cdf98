import { normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import type { InboundContent, InboundFile, InboundKind, InboundMedia } from '../../../inbound-content.ts';

/** The longest stored texts of a sender, in UTF-16 code units. The network's own clients let no one write more. */
const LONGEST = { text: 65_536, name: 128, fileName: 255, type: 128, path: 2_048, id: 64 } as const;

const { EPHEMERAL_SETTING } = proto.Message.ProtocolMessage.Type;

/**
 * The accepted timers, in seconds. Phones offer a day, a week and 90 days. A modified client could set one second. Then
 * the shop's messages would also disappear from its own phone.
 */
const SHORTEST_TIMER = 3_600;
const LONGEST_TIMER = 365 * 86_400;

/** The content of a message, without its sender. */
type SaidContent = Omit<InboundContent, 'name'>;

/** A person's message, as the session reads it. */
interface InboundReading {
  /**
   * The text that the person wrote, empty for other content. Undefined if nothing was written: keys, reactions, votes,
   * a message that was taken back. An edit gives its new text.
   */
  readonly text: string | undefined;
  /**
   * The content for the tenant's event. Undefined if nothing was written: keys, votes, a message that was taken back.
   * An edit gives its new text.
   */
  readonly content: SaidContent | undefined;
  /**
   * The timer of the chat: the seconds after which its messages disappear. 0 means that the chat has no timer.
   * Undefined if the message does not say. The setting comes as a message once, and each message of a phone carries it
   * (tulir/whatsmeow issue 354, WhiskeySockets/Baileys issue 2709). The network stores it nowhere else.
   */
  readonly timer: number | undefined;
}

const NOTHING: InboundReading = { text: undefined, content: undefined, timer: undefined };

/** Reads a person's message. */
export function readContent(message: proto.IMessage): InboundReading {
  const content = normalizeMessageContent(message);
  if (content == null || content.pollUpdateMessage != null) return NOTHING;
  const { protocolMessage: protocol, reactionMessage: reaction } = content;
  if (protocol != null) {
    const editedContent = protocol.editedMessage == null ? NOTHING : readContent(protocol.editedMessage);
    const isSetting = protocol.type === EPHEMERAL_SETTING;
    return {
      ...editedContent,
      timer: isSetting ? acceptedTimer(protocol.ephemeralExpiration ?? 0) : undefined,
    };
  }
  if (reaction != null) {
    const quotes = cutText(reaction.key?.id, LONGEST.id);
    const text = cutText(reaction.text ?? '', LONGEST.name);
    return { ...NOTHING, content: { kind: 'reaction', text, quotes, media: null } };
  }
  const names = Object.entries(content).flatMap(([name, value]) => (value == null ? [] : [name]));
  if (names.every((name) => CARRIED.has(name))) return NOTHING;
  const { kind, text, media } = textKind(content) ??
    mediaKind(content) ??
    placeOrPerson(content) ?? { kind: 'other', text: null, media: null };
  const isShown = names.some((name) => !CARRIED.has(name) && !UNSHOWN.has(name));
  const contexts = contextsIn(content);
  return {
    text: kind === 'location' || kind === 'contact' ? '' : (text ?? ''),
    content: isShown
      ? { kind, text: cutText(text, LONGEST.text), media, quotes: quotedBy(contexts) }
      : undefined,
    timer: acceptedTimer(Math.max(0, ...contexts.map(({ expiration }) => expiration ?? 0))),
  };
}

function acceptedTimer(seconds: number): number | undefined {
  const isTimer = seconds === 0 || (seconds >= SHORTEST_TIMER && seconds <= LONGEST_TIMER);
  return isTimer ? seconds : undefined;
}

/** Text and attachment of a message. The text is as long as the sender made it. */
type SpokenContent = Pick<SaidContent, 'kind' | 'media'> & { readonly text: string | null | undefined };

function textKind(content: proto.IMessage): SpokenContent | undefined {
  const text =
    content.conversation ??
    content.extendedTextMessage?.text ??
    content.buttonsResponseMessage?.selectedDisplayText ??
    content.templateButtonReplyMessage?.selectedDisplayText ??
    content.interactiveResponseMessage?.body?.text ??
    content.listResponseMessage?.title;
  return text == null ? undefined : { kind: 'text', text, media: null };
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

function mediaKind(content: proto.IMessage): SpokenContent | undefined {
  const { imageMessage, videoMessage, ptvMessage, audioMessage, documentMessage } = content;
  const stickerMessage = content.stickerMessage ?? content.lottieStickerMessage?.message?.stickerMessage;
  if (imageMessage != null) return withMedia('image', 'image', imageMessage);
  if (videoMessage != null) return withMedia('video', 'video', videoMessage);
  if (ptvMessage != null) return withMedia('video', 'video', ptvMessage);
  if (audioMessage != null) return withMedia(audioMessage.ptt ? 'voice' : 'audio', 'audio', audioMessage);
  if (documentMessage != null) return withMedia('document', 'document', documentMessage);
  return stickerMessage == null ? undefined : withMedia('sticker', 'image', stickerMessage);
}

function withMedia(kind: InboundKind, purpose: InboundFile['purpose'], media: WireMedia): SpokenContent {
  return { kind, text: media.caption, media: mediaOf(purpose, media) };
}

function mediaOf(purpose: InboundFile['purpose'], media: WireMedia): InboundMedia {
  const { directPath, mediaKey, fileEncSha256, fileSha256 } = media;
  const isWhole =
    directPath && directPath.length <= LONGEST.path && isDigest(mediaKey) && isDigest(fileEncSha256);
  const size = Number(media.fileLength ?? Number.NaN);
  return {
    type: cutText(media.mimetype, LONGEST.type),
    size: Number.isSafeInteger(size) && size >= 0 ? size : null,
    fileName: cutText(media.fileName, LONGEST.fileName),
    sha256: isDigest(fileSha256) ? Buffer.from(fileSha256).toString('hex') : null,
    file: isWhole
      ? { directPath, key: base64(mediaKey), encryptedSha256: base64(fileEncSha256), purpose }
      : null,
  };
}

/** Returns a location as RFC 5870 writes it, with its name on the next line; or a contact as its vCard. */
function placeOrPerson(content: proto.IMessage): SpokenContent | undefined {
  const place = content.locationMessage ?? content.liveLocationMessage;
  if (place != null) {
    const geoUri = `geo:${place.degreesLatitude ?? 0},${place.degreesLongitude ?? 0}`;
    const { locationMessage: fixedLocation, liveLocationMessage: liveLocation } = content;
    const name = (fixedLocation?.name || fixedLocation?.address || liveLocation?.caption) ?? '';
    const text = name === '' ? geoUri : `${geoUri}\n${name}`;
    return { kind: 'location', text, media: null };
  }
  const people =
    content.contactsArrayMessage?.contacts ?? (content.contactMessage ? [content.contactMessage] : []);
  if (people.length === 0) return undefined;
  const cards = people.map(({ vcard, displayName }) => vcard ?? displayName ?? '').join('\n');
  return { kind: 'contact', text: cards, media: null };
}

function contextsIn(content: proto.IMessage): proto.IContextInfo[] {
  const parts = Object.values(content) as ({ readonly contextInfo?: proto.IContextInfo | null } | null)[];
  return parts.flatMap((part) => part?.contextInfo ?? []);
}

/** Returns the network's id of the stanza that a message quotes. */
function quotedBy(contexts: readonly proto.IContextInfo[]): string | null {
  return cutText(contexts.find(({ stanzaId }) => stanzaId)?.stanzaId, LONGEST.id);
}

/** Keys and context that may travel with any message. */
const CARRIED: ReadonlySet<string> = new Set(['senderKeyDistributionMessage', 'messageContextInfo']);

/**
 * Fields that no chat shows as a message. They announce several pictures, pin or keep a message, or have an edit whose
 * secret only the phone knows.
 */
const UNSHOWN: ReadonlySet<string> = new Set([
  'albumMessage',
  'pinInChatMessage',
  'keepInChatMessage',
  'secretEncryptedMessage',
]);

function isDigest(bytes: Uint8Array | null | undefined): bytes is Uint8Array {
  return bytes?.length === 32;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/**
 * Returns the beginning of a text; null for none. Half of a surrogate pair, which JSON cannot carry, becomes U+FFFD.
 */
function cutText(text: string | null | undefined, mostCharacters: number): string | null {
  return text == null ? null : Buffer.from(text.slice(0, mostCharacters)).toString();
}

/** Returns a name as its sender wrote it, in one line. Null if it has no visible character. */
export function senderName(name: string | undefined): string | null {
  const shownName = cutText(name?.replaceAll(/\p{Cc}/gu, ' ').trim(), LONGEST.name);
  return shownName === '' ? null : shownName;
}
