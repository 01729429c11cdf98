import type { proto } from '@whiskeysockets/baileys';

/** An attachment of a message: its kind, and the fields that the message gives. */
export interface Attachment {
  readonly type: 'image' | 'video' | 'document' | 'audio' | 'sticker';
  readonly media: {
    readonly directPath?: string | null;
    readonly mediaKey?: Uint8Array | null;
    readonly caption?: string | null;
    readonly mimetype?: string | null;
    readonly fileName?: string | null;
    readonly width?: number | null;
    readonly height?: number | null;
    readonly seconds?: number | null;
    readonly jpegThumbnail?: Uint8Array | null;
  };
}

/** The facts that a phone knows of an attachment before the download. Null if the message does not give them. */
export interface AttachmentFacts {
  readonly mimetype: string | null;
  readonly fileName: string | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly seconds: number | null;
  /** A JPEG, base64. */
  readonly thumbnail: string | null;
}

/** Returns the attachment of a message, if it has one. */
export function attachmentOf(content: proto.IMessage): Attachment | undefined {
  const document = content.documentMessage ?? content.documentWithCaptionMessage?.message?.documentMessage;
  if (content.imageMessage) return { type: 'image', media: content.imageMessage };
  if (content.videoMessage) return { type: 'video', media: content.videoMessage };
  if (document) return { type: 'document', media: document };
  if (content.audioMessage) return { type: 'audio', media: content.audioMessage };
  if (content.stickerMessage) return { type: 'sticker', media: content.stickerMessage };
  return undefined;
}

/**
 * Returns the facts of an attachment. A field that the message leaves out is decoded as 0 or empty, and returned as
 * null.
 */
export function factsOf({ media }: Attachment): AttachmentFacts {
  return {
    mimetype: media.mimetype || null,
    fileName: media.fileName || null,
    width: media.width || null,
    height: media.height || null,
    seconds: media.seconds || null,
    thumbnail: media.jpegThumbnail?.length ? Buffer.from(media.jpegThumbnail).toString('base64') : null,
  };
}
