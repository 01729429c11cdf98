import type { IncomingMessage } from 'node:http';
import { ValueFreeError } from '../../runtime/described-error.ts';
import { guardedRequest, type RequestBounds } from './guarded-request.ts';

/** Sent as the network's web page sends it (DEFAULT_ORIGIN of the client). */
const ORIGIN = 'https://web.whatsapp.com';

/** The number of the network's hosts that are tried for one file. */
const MOST_HOSTS = 2;

/** The bounds on the downloads of one session. */
export interface DownloadBounds extends Omit<RequestBounds, 'signal'> {
  /** The hosts of files with their ports, as the network named them over its own authenticated connection. */
  readonly hosts: () => Promise<readonly string[]>;
  /** Certificate of an authority to trust instead of the system's. */
  readonly ca: string | undefined;
}

/** The reason why a file was not fetched from the network. The message never names its address. */
export class DownloadRefused extends ValueFreeError {
  readonly code = 'DOWNLOAD_REFUSED';
  /** `gone` if the network has dropped the file, `too_large` if it is too large, undefined for other reasons. */
  readonly reason: 'gone' | 'too_large' | undefined;

  constructor(message: string, reason?: 'gone' | 'too_large') {
    super(message);
    this.reason = reason;
  }
}

/**
 * Requests a file that a message names from the network's own hosts. Messages come from the account's other devices, so
 * only the path of the named address is used. Redirects are refused, and so are encodings, in which a small file may
 * grow without a limit. Rejects with `DownloadRefused`, or with the error of the connection.
 */
export async function askNetworkFile(
  path: string,
  { guard, resolve, egress, hosts, ca }: DownloadBounds,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<IncomingMessage> {
  let lastError: unknown = new DownloadRefused('the network named no host of files');
  for (const host of (await hosts()).slice(0, MOST_HOSTS)) {
    const url = fileAddress(host, path);
    try {
      const headers = { accept: '*/*', 'accept-encoding': 'identity', origin: ORIGIN };
      const trustOptions = ca === undefined ? {} : { ca };
      const response = await guardedRequest(
        url,
        { guard, resolve, egress, signal },
        { headers, ...trustOptions },
      );
      const refusalError = refusal(response, maxBytes);
      if (refusalError === undefined) return response;
      response.destroy();
      lastError = refusalError;
    } catch (error) {
      lastError = error;
    }
  }
  throw lastError;
}

/** A path that begins otherwise could name another host: `@host/file`, `//host/file`. */
function fileAddress(host: string, path: string): URL {
  const address = `https://${host}${path}`;
  if (!/^\/[^/\\]/.test(path) || !URL.canParse(address))
    throw new DownloadRefused('the file has no valid path');
  return new URL(address);
}

/** The statuses by which hosts report that a file was removed (whatsmeow download.go). */
const GONE: ReadonlySet<number | undefined> = new Set([403, 404, 410]);

function refusal({ statusCode, headers }: IncomingMessage, maxBytes: number): DownloadRefused | undefined {
  if (statusCode !== 200) {
    const reason = GONE.has(statusCode) ? 'gone' : undefined;
    return new DownloadRefused(`the file's host answered ${statusCode ?? 'nothing'}`, reason);
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    return new DownloadRefused('the file is encoded');
  if (Number(headers['content-length'] ?? 0) > maxBytes)
    return new DownloadRefused('the file is too large', 'too_large');
  return undefined;
}
