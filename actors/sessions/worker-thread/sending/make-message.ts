import { generateWAMessage, type proto } from '@whiskeysockets/baileys';
import { type FetchedMedia, fetchMedia } from '../attachments/media-fetch.ts';
import { quietLogger } from '../session/silent-logger.ts';
import { TEXT_STATUS } from '../wire/wire-form.ts';
import { contentOf, quoteOf } from './order-content.ts';
import type { OutboxOptions } from './outbox-options.ts';
import type { Pending } from './pending-order.ts';

type MakingParts = Pick<OutboxOptions, 'socket' | 'timing' | 'media' | 'tenantId'>;

/**
 * Makes the message of an order for a chat. Its attachment is fetched and uploaded first, and its file is removed. Rejects
 * with `MediaUnavailable` where the attachment cannot be had.
 */
export async function makeMessage(
  parts: MakingParts,
  pending: Pending,
  chat: string,
): Promise<proto.IMessage | undefined> {
  const { order } = pending;
  const { socket, timing } = parts;
  const media = await fetchAttachment(parts, pending);
  pending.media = media;
  try {
    const { message } = await generateWAMessage(chat, contentOf(order, media), {
      logger: quietLogger,
      userJid: socket.user?.id ?? '',
      messageId: order.wireId,
      ...quoteOf(order, chat),
      upload: socket.waUploadToServer,
      ...(order.kind === 'status' ? TEXT_STATUS : {}),
      mediaUploadTimeoutMs: timing.uploadMs,
    });
    pending.phase = 'preparing';
    return message ?? undefined;
  } finally {
    await media?.discard();
    pending.release();
  }
}

async function fetchAttachment(
  { media, tenantId, timing }: MakingParts,
  pending: Pending,
): Promise<FetchedMedia | undefined> {
  const { cancel } = pending;
  const { mediaUrl, mediaType } = pending.order;
  if (mediaUrl === undefined || cancel === undefined) return undefined;
  pending.release = await media.slots.take(tenantId, cancel.signal);
  pending.phase = 'fetching';
  return fetchMedia({
    url: mediaUrl,
    mediaType: mediaType ?? 'image',
    timeoutMs: timing.mediaMs,
    guard: media.guard,
    resolve: media.resolve,
    signal: cancel.signal,
  });
}
