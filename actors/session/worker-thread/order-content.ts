import type { AnyMessageContent } from '@whiskeysockets/baileys';
import type { SendOrder } from '../session-host.ts';
import type { FetchedMedia } from './media-fetch.ts';

/**
 * The client's form of what is to be sent. An empty thumbnail keeps it from starting image and video tools of
 * its own.
 */
export function contentOf(order: SendOrder, media: FetchedMedia | undefined): AnyMessageContent {
  if (media === undefined) return { text: order.text ?? '' };
  const source = { url: media.path };
  const caption = order.text === undefined ? {} : { caption: order.text };
  const mimetype = media.contentType;
  switch (order.mediaType ?? 'image') {
    case 'image':
      return { image: source, mimetype, jpegThumbnail: '', ...caption };
    case 'video':
      return { video: source, mimetype, jpegThumbnail: '', ...caption };
    case 'document':
      return { document: source, mimetype, fileName: media.fileName, ...caption };
  }
}
