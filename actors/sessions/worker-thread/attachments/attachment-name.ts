/** The longest name of a file, in characters. */
const LONGEST = 100;

/**
 * Matches controls, marks of direction and the signs that file systems reserve. Joiners stay: Persian words and emoji
 * need them.
 */
const STEERING = /[^\p{L}\p{M}\p{N}\p{P}\p{S}\p{Join_Control} ]|[%\\/:*?"<>|]/gu;

/** Endings of the types that shops send most; a phone chooses the program to open a file by it. */
const ENDINGS: Readonly<Record<string, string>> = {
  'application/msword': 'doc',
  'application/pdf': 'pdf',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.ms-powerpoint': 'ppt',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/zip': 'zip',
  'audio/mp4': 'm4a',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'image/avif': 'avif',
  'image/gif': 'gif',
  'image/heic': 'heic',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/svg+xml': 'svg',
  'image/tiff': 'tif',
  'image/webp': 'webp',
  'text/calendar': 'ics',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/vcard': 'vcf',
  'video/3gpp': '3gp',
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
  'video/webm': 'webm',
};

/**
 * Returns a file's name for its recipient, from Content-Disposition (RFC 6266) or else from the last part of the
 * address. Controls, marks of direction and signs that file systems reserve become `_`. A name without an ending gets
 * the ending of the type.
 */
export function attachmentName(file: {
  readonly disposition: string | undefined;
  readonly url: URL;
  readonly contentType: string;
}): string {
  const givenName = readableName(nameIn(file.disposition ?? ''));
  const name = givenName || readableName(safelyDecoded(file.url.pathname)) || 'document';
  const ending = ENDINGS[file.contentType];
  return ending === undefined || /\.[a-z0-9]{1,8}$/i.test(name) ? name : `${name}.${ending}`;
}

/** In RFC 6266 the extended form wins. Quoted strings are taken out first, since text in them is no parameter. */
function nameIn(header: string): string {
  const quotedTexts: string[] = [];
  const bare = header.replace(/"((?:[^"\\]|\\.)*)"/g, (_, text: string) => {
    quotedTexts.push(text.replace(/\\(.)/g, '$1'));
    return `"${quotedTexts.length - 1}"`;
  });
  const extendedMatch = /;\s*filename\*\s*=\s*(utf-8|iso-8859-1)'[^']*'([^;\s]+)/i.exec(bare);
  const decodedName = extendedMatch && decodedValue(extendedMatch[1] ?? '', extendedMatch[2] ?? '');
  if (decodedName) return decodedName;
  const plainMatch = /;\s*filename\s*=\s*(?:"(\d+)"|([^;\s"]+))/i.exec(bare);
  return fromHeader(quotedTexts[Number(plainMatch?.[1])] ?? plainMatch?.[2] ?? '');
}

/** Returns an extended value of RFC 8187; undefined when its escapes are broken. */
function decodedValue(charset: string, value: string): string | undefined {
  if (charset.toLowerCase() === 'utf-8') {
    const text = safelyDecoded(value);
    return text === value && value.includes('%') ? undefined : text;
  }
  return value.replace(/%([0-9a-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Node reads headers as Latin-1; many servers write UTF-8. */
function fromHeader(text: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'));
  } catch {
    return text;
  }
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the last part of a path, without what steers a screen or a file system. */
function readableName(path: string): string {
  const lastPart = path.split(/[/\\]/).at(-1) ?? '';
  const plainName = lastPart.normalize('NFC').replace(STEERING, '_');
  return Array.from(plainName.replace(/^[. ]+/, '').trim())
    .slice(-LONGEST)
    .join('');
}
