import type { InboundDownload } from '../../actors/inbound-content.ts';

/**
 * The types that a reply takes over from the sender: bitmap images, sound and films. No browser runs anything in them.
 * Any other file may contain a page or a program, under any name.
 */
const HARMLESS: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/gif',
  'video/mp4',
  'video/3gpp',
  'audio/ogg',
  'audio/mpeg',
  'audio/mp4',
  'audio/aac',
  'audio/amr',
]);
/** The type of every other file. */
const UNKNOWN = 'application/octet-stream';
/** The types of all replies with a file. */
export const SHOWN_TYPES: readonly string[] = [UNKNOWN, ...HARMLESS];

/** Tells browsers to save a stranger's file and never to show it. */
const FOR_BROWSERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
} as const;

/** Returns the type and the headers of a reply with a stranger's file. */
export function shownFile({ type, fileName }: Pick<InboundDownload, 'type' | 'fileName'>): {
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
} {
  const declaredType = type?.split(';')[0]?.trim().toLowerCase() ?? '';
  const contentType = HARMLESS.has(declaredType) ? declaredType : UNKNOWN;
  const name = fileName === null ? '' : `; filename*=UTF-8''${encodedName(fileName)}`;
  return { contentType, headers: { 'Content-Disposition': `attachment${name}`, ...FOR_BROWSERS } };
}

/** Returns a file name as RFC 8187 writes it, without parts that lead to another folder. */
function encodedName(fileName: string): string {
  const plainName = fileName.replaceAll(/[/\\\p{C}]/gu, '_').replace(/^\.+/, '_');
  return encodeURIComponent(plainName).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
