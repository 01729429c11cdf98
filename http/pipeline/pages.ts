import { type MaybePromise, mapMaybePromise } from '../../runtime/maybe-promise.ts';
import { errorReply } from '../contract/envelope.ts';
import { type HeaderLines, headerLines, type ReplyValue, type RequestValue } from '../contract/exchange.ts';
import { anonymous, type EdgeResponder, isReadMethod } from './edge.ts';

/** A path outside the declared API that takes only GET and HEAD: documents, probes, files of a page. */
export interface Page {
  readonly path: string;
  answer(request: RequestValue): MaybePromise<ReplyValue>;
}

/** Answers these pages. The edge answers every other call. */
export function withPages(pages: readonly Page[]): EdgeResponder {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  return (call, ids, wait) => {
    const { request } = call;
    const page = byPath.get(request.path);
    if (page === undefined) return call.answer(ids, wait);
    if (!isReadMethod(request.method)) {
      return anonymous(
        errorReply({ code: 'METHOD_NOT_ALLOWED' }, headerLines({ Allow: 'GET, HEAD' })),
        page.path,
      );
    }
    return mapMaybePromise(page.answer(request), (reply) => anonymous(reply, page.path));
  };
}

/** Headers of each page for browsers. It loads only from our own host; `sources` allows more kinds of content. */
export function shownPageHeaders(sources: string): HeaderLines {
  return headerLines({
    'Content-Security-Policy': `default-src 'none'; script-src 'self'; connect-src 'self'; ${sources}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  });
}

const NOT_SNIFFED = headerLines({ 'X-Content-Type-Options': 'nosniff' });

/** Makes a page that never changes while the process runs. */
export function fixedPage(
  path: string,
  contentType: string,
  body: string | Uint8Array,
  headers: HeaderLines = NOT_SNIFFED,
): Page {
  const reply: ReplyValue = { status: 200, contentType, headers, body };
  return { path, answer: () => reply };
}

/** Makes a fixed page that is made on its first request. */
export function pageOnRequest(path: string, make: () => Omit<ReplyValue, 'status'>): Page {
  let reply: ReplyValue | undefined;
  return {
    path,
    answer() {
      reply ??= { status: 200, ...make() };
      return reply;
    },
  };
}
