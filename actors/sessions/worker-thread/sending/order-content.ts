import type { AnyMessageContent, WAMessage } from '@whiskeysockets/baileys';
import type { SendOrder } from '../../session-host.ts';
import { type FetchedMedia, MediaUnavailable } from '../attachments/media-fetch.ts';

/**
 * The client's form of what is to be sent. A thumbnail, though it be empty, keeps it from starting image and video tools
 * of its own. Throws `MediaUnavailable` for a status that no phone could show.
 */
export function contentOf(order: SendOrder, media: FetchedMedia | undefined): AnyMessageContent {
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
      if (order.kind === 'status') {
        throw new MediaUnavailable('a status shows only JPEG, PNG and MP4 with H.264');
      }
      return { document: source, mimetype, fileName: media.fileName, ...caption };
  }
}

/** What the message quotes, as the client takes it: its writer is whom the message goes to. */
export function quoteOf({ quoted }: SendOrder, chat: string): { quoted?: WAMessage } {
  if (quoted === undefined) return {};
  const key = { remoteJid: chat, id: quoted.wireId, fromMe: false };
  return { quoted: { key, message: { conversation: quoted.text } } };
}
