import {
  type AnyMessageContent,
  generateWAMessage,
  type proto,
  type WAMessage,
} from '@whiskeysockets/baileys';
import { AttachmentDirectoryUnusable } from '../../attachment-files.ts';
import type { SendOrder } from '../../session-host.ts';
import { type FetchedMedia, fetchMedia, MediaUnavailable } from '../attachments/media-fetch.ts';
import { quietLogger } from '../shared/silent-logger.ts';
import { isGroupAddress } from '../wire/chat-address.ts';
import { TEXT_STATUS } from '../wire/wire-form.ts';
import type { OutboxOptions } from './outbox-options.ts';
import type { PendingOrder } from './pending-order.ts';

/**
 * Makes the message of an order for a chat. Its attachment is fetched and uploaded first, and its file is removed.
 * Rejects with `MediaUnavailable` if the attachment cannot be fetched.
 */
export async function makeMessage(
  options: OutboxOptions,
  pendingOrder: PendingOrder,
  chat: string,
): Promise<proto.IMessage | undefined> {
  const { context, socket } = options;
  const { order, ended } = pendingOrder;
  const style = order.kind === 'status' ? TEXT_STATUS : await timerOf(options, pendingOrder, chat);
  let media: FetchedMedia | undefined;
  // Not left to the client: if it cannot write its copy of the file, its call never returns.
  ended.addEventListener('abort', () => void media?.discard(), { once: true });
  try {
    if (order.mediaUrl !== undefined) {
      pendingOrder.enter('fetching');
      media = await fetchAttachment(options, order, ended);
      pendingOrder.enter('uploading');
    }
    const { message } = await generateWAMessage(chat, contentOf(order, media), {
      logger: quietLogger,
      userJid: socket.user?.id ?? '',
      messageId: order.wireId,
      ...quoteOf(order, chat),
      upload: socket.waUploadToServer,
      ...style,
      mediaUploadTimeoutMs: context.timing.uploadMs,
    });
    // The client leaves out the font whose number is 0.
    if (order.kind === 'status' && message?.extendedTextMessage)
      message.extendedTextMessage.font = TEXT_STATUS.font;
    pendingOrder.enter('preparing');
    return message ?? undefined;
  } finally {
    await media?.discard();
  }
}

function fetchAttachment(
  { context, egress }: OutboxOptions,
  { mediaUrl = '', mediaType = 'image' }: SendOrder,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const { environment, shop, timing } = context;
  const { guard, resolve, onUnwritable } = environment.media;
  const { tenantId } = shop;
  const timeoutMs = timing.mediaMs;
  const bounds = { timeoutMs, guard, resolve, egress, signal };
  const fetched = fetchMedia({ tenantId, url: mediaUrl, mediaType, ...bounds });
  return fetched.catch((error: Error) => {
    if (error instanceof AttachmentDirectoryUnusable) onUnwritable(error.message);
    throw error;
  });
}

/**
 * Returns the client's form of an order. A thumbnail, even an empty one, keeps the client from starting image and video
 * tools. Throws `MediaUnavailable` for a status that no phone could show.
 */
function contentOf(order: SendOrder, media: FetchedMedia | undefined): AnyMessageContent {
  if (media === undefined) return { text: order.text ?? '' };
  const source = { url: media.path };
  const caption = order.text === undefined ? {} : { caption: order.text };
  const mimetype = media.contentType;
  const { width, height, seconds } = media;
  const size = width === undefined || height === undefined ? {} : { width, height };
  const jpegThumbnail = media.thumbnail?.toString('base64') ?? '';
  switch (media.sentAs) {
    case 'image':
      return { image: source, mimetype, jpegThumbnail, ...size, ...caption };
    case 'video':
      return {
        video: source,
        mimetype,
        jpegThumbnail,
        ...size,
        ...(seconds === undefined ? {} : { seconds }),
        ...caption,
      };
    case 'document':
      if (order.kind === 'status')
        throw new MediaUnavailable('a status shows only JPEG, PNG and MP4 with H.264');
      return { document: source, mimetype, fileName: media.fileName, ...caption };
  }
}

/** Returns the timer of the chat, after which its messages disappear, as the client's option. */
async function timerOf(
  { groups, chatTimers }: OutboxOptions,
  { stanza: { to } }: PendingOrder,
  chat: string,
): Promise<{ ephemeralExpiration?: number }> {
  const seconds = isGroupAddress(chat) ? groups.metadata(chat)?.ephemeralDuration : await chatTimers.of(to);
  return seconds === undefined ? {} : { ephemeralExpiration: seconds };
}

/** Returns the quoted message in the client's form. Its writer is the recipient of the new message. */
function quoteOf({ quoted }: SendOrder, chat: string): { quoted?: WAMessage } {
  if (quoted === undefined) return {};
  const key = { remoteJid: chat, id: quoted.wireId, fromMe: false };
  return { quoted: { key, message: { conversation: quoted.text } } };
}
