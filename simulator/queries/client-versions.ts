import type { IncomingMessage, ServerResponse } from 'node:http';
import type { proto } from '@whiskeysockets/baileys';

/** The page on which the network names the newest revision of its web client. */
const PAGE_PATH = '/sw.js';

/** The gate compares the revisions of web clients with this major and minor version. */
const MAJOR = 2;
const MINOR = 3_000;

/** Keeps the versions of clients that may log in, and the version that the network's page names. Held in memory. */
export class ClientVersions {
  /** A client below this revision gets 405. */
  #least = 0;
  #newest = 1_035_194_821;
  /** How often the page was read. */
  #asked = 0;

  set({ least, newest }: { readonly least: number; readonly newest: number }): void {
    this.#least = least;
    this.#newest = newest;
  }

  refuses(payload: proto.IClientPayload): boolean {
    if (this.#least === 0) return false;
    const { primary, secondary, tertiary } = payload.userAgent?.appVersion ?? {};
    return primary !== MAJOR || secondary !== MINOR || (tertiary ?? 0) < this.#least;
  }

  shown(): { readonly least: number; readonly newest: number; readonly asked: number } {
    return { least: this.#least, newest: this.#newest, asked: this.#asked };
  }

  /** Answers a request for the page. Returns false for any other request. */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== 'GET' || request.url !== PAGE_PATH) return false;
    this.#asked += 1;
    if (request.headers['sec-fetch-site'] !== 'none') {
      response.writeHead(400).end();
      return true;
    }
    response.writeHead(200, { 'content-type': 'application/javascript' });
    response.end(
      `self.__swData=JSON.parse("{\\"client_revision\\":${this.#newest},\\"push_phase\\":\\"C3\\"}");`,
    );
    return true;
  }
}
