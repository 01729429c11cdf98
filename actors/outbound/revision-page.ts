import { ValueFreeError } from '../../runtime/described-error.ts';
import { guardedRequest, type RequestBounds, wholeOf } from './guarded-request.ts';

/** How much of the page is read, in bytes. */
const PAGE_BYTES = 4 * 1024 * 1024;

/**
 * Without `sec-fetch-site` the page answers 400 (oxidezap/whatsapp-rust pull request 1359); the web client sends the
 * same header.
 */
const HEADERS = {
  'sec-fetch-site': 'none',
  'user-agent':
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  'accept-encoding': 'identity',
};

/** The revision is in a string of JSON within the script, so its quotes may be escaped. */
const REVISION = /\\?"client_revision\\?":\s*(\d{10})(?!\d)/;

/**
 * Returns the page that names the revision of the web client, at the socket's host: for `wss://host/ws/chat`,
 * `https://host/sw.js`.
 */
export function revisionPage(socketUrl: string): URL {
  return new URL('/sw.js', socketUrl.replace(/^ws/, 'http'));
}

/** Returns the revision that the page names. Rejects if the page is too large or names none. */
export async function askRevision(page: URL, bounds: RequestBounds): Promise<number> {
  const answer = await guardedRequest(page, bounds, { headers: HEADERS });
  try {
    if (answer.statusCode !== 200)
      throw new ValueFreeError(`the page answered ${answer.statusCode ?? 'nothing'}`);
    const body = await wholeOf(answer, PAGE_BYTES);
    if (body === undefined) throw new ValueFreeError('the page is too large');
    const revision = REVISION.exec(body.toString())?.[1];
    if (revision === undefined) throw new ValueFreeError('the page names no revision');
    return Number(revision);
  } finally {
    answer.destroy();
  }
}
