import type { IncomingMessage, ServerResponse } from 'node:http';
import type { proto } from '@whiskeysockets/baileys';

/** The page on which the network names the newest revision of its web client. */
const PAGE_PATH = '/sw.js';

/** Revisions of web clients of this major and minor version are what the gate compares. */
const MAJOR = 2;
const MINOR = 3000;

/** Keeps which versions of clients may log in, and which one the network's own page names. Held in memory. */
export class ClientVersions {
  /** The revision below which a client gets 405. */
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

  /** Answers the page; false: the request asks for something else. */
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
