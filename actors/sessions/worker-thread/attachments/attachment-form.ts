import type { SendOrder } from '../../session-host.ts';
import { imageFacts } from './image-facts.ts';
import { readMp4Head } from './mp4-head.ts';

/** Kinds of attachment. */
export type MediaType = NonNullable<SendOrder['mediaType']>;

/** The kind that an attachment is sent as, and the facts that its recipient's phone gets. */
export interface AttachmentForm {
  readonly sentAs: MediaType;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly seconds?: number | undefined;
  readonly thumbnail?: Buffer | undefined;
}

const OPENED_IMAGES = new Set(['image/jpeg', 'image/png']);
const DOCUMENT: AttachmentForm = { sentAs: 'document' };

/**
 * Phones open JPEG and PNG as images and H.264 in MP4 as videos. Any other file, also an unreadable one, goes as a
 * document.
 */
export async function attachmentForm(file: {
  readonly path: string;
  readonly type: string;
  readonly askedFor: MediaType;
}): Promise<AttachmentForm> {
  const { path, type, askedFor } = file;
  if (askedFor === 'image' && OPENED_IMAGES.has(type)) {
    const facts = await imageFacts(path);
    return facts === undefined ? DOCUMENT : { sentAs: 'image', ...facts };
  }
  if (askedFor === 'video' && type === 'video/mp4') {
    const facts = await readMp4Head(path);
    return facts === undefined ? DOCUMENT : { sentAs: 'video', ...facts };
  }
  return DOCUMENT;
}
