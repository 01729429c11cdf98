import type { MediaType } from '../../../media-type.ts';
import { imageFacts } from './image-facts.ts';
import { readMp4Head } from './mp4-head.ts';

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
 * Phones open JPEG and PNG as images and H.264 in MP4 as videos. Any other file goes as a document, and so does an
 * unreadable one, or one that was asked for as a document.
 */
export async function attachmentForm(file: {
  readonly path: string;
  readonly type: string;
  readonly askedFor: MediaType;
  readonly tenantId: string;
}): Promise<AttachmentForm> {
  const { path, type, askedFor, tenantId } = file;
  if (askedFor === 'image' && OPENED_IMAGES.has(type)) {
    const facts = await imageFacts(path, tenantId);
    return facts === undefined ? DOCUMENT : { sentAs: 'image', ...facts };
  }
  if (askedFor === 'video' && type === 'video/mp4') {
    const facts = await readMp4Head(path);
    return facts === undefined ? DOCUMENT : { sentAs: 'video', ...facts };
  }
  return DOCUMENT;
}

/** The number of first bytes of a file that `typeOf` reads. */
export const SIGNATURE_BYTES = 16;

/** Types of files in one container, by the brand in its first box (ISO/IEC 14496-12, section 4.3). */
const BRANDS: readonly (readonly [brand: RegExp, type: string])[] = [
  [/^(?:heic|heix|heim|heis|hevc|hevx|mif1|msf1)$/, 'image/heic'],
  [/^avi[fs]$/, 'image/avif'],
  [/^M4A /, 'audio/mp4'],
  [/^qt {2}$/, 'video/quicktime'],
  [/^3g/, 'video/3gpp'],
];

/** By the WHATWG standard "MIME Sniffing": the offset of the bytes, and their value as Latin-1 characters. */
const SIGNATURES: readonly (readonly [at: number, bytes: string, type: string])[] = [
  [0, '\xff\xd8\xff', 'image/jpeg'],
  [0, '\x89PNG\r\n\x1a\n', 'image/png'],
  [0, 'GIF8', 'image/gif'],
  [8, 'WEBP', 'image/webp'],
  [0, '%PDF-', 'application/pdf'],
];

/** Types whose files always begin with the bytes above. */
const CERTAIN = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'video/mp4']);

/** Returns the type that the first bytes of a file show, or undefined if they show none. */
function typeOfBytes(first: Buffer): string | undefined {
  const text = first.toString('latin1');
  if (text.slice(4, 8) === 'ftyp') {
    const brand = text.slice(8, 12);
    return BRANDS.find(([pattern]) => pattern.test(brand))?.[1] ?? 'video/mp4';
  }
  return SIGNATURES.find(([offset, bytes]) => text.startsWith(bytes, offset))?.[2];
}

/**
 * Returns the type of a file by its first bytes, or by the header if they show none. `shown` is for the recipient's
 * phone.
 */
export function typeOf(first: Buffer, header: string): { readonly actual: string; readonly shown: string } {
  const typeSeen = typeOfBytes(first);
  if (typeSeen !== undefined) return { actual: typeSeen, shown: typeSeen };
  // A header that names one of these types is wrong: the file would begin otherwise.
  const isWrong = header === '' || CERTAIN.has(header);
  return { actual: header, shown: isWrong ? 'application/octet-stream' : header };
}
