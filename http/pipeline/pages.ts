import { type MaybePromise, mapMaybePromise } from '../../runtime/maybe-promise.ts';
import { errorReply } from '../contract/envelope.ts';
import { type HeaderLines, headerLines, type ReplyValue, type RequestValue } from '../contract/exchange.ts';
import { anonymous, type EdgeHandler, isRead } from './edge.ts';

/** A path outside the declared API, answered to GET and HEAD alone: documents, probes, files of a page. */
export interface Page {
  readonly path: string;
  answer(request: RequestValue): MaybePromise<ReplyValue>;
}

/** Answers these pages, and lets every other request answer itself. */
export function withPages(pages: readonly Page[]): EdgeHandler {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  return (entered, call) => {
    const { request } = entered;
    const page = byPath.get(request.path);
    if (page === undefined) return entered.answer(call);
    if (!isRead(request.method)) {
      return anonymous(
        errorReply({ code: 'METHOD_NOT_ALLOWED' }, headerLines({ Allow: 'GET, HEAD' })),
        page.path,
      );
    }
    return mapMaybePromise(page.answer(request), (reply) => anonymous(reply, page.path));
  };
}

/** Headers of each page for browsers. `contentSecurityPolicy` limits what the page may load. */
export function shownPageHeaders(contentSecurityPolicy: string): HeaderLines {
  return headerLines({
    'Content-Security-Policy': contentSecurityPolicy,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  });
}

/** A page that never changes while the process runs. */
export function fixedPage(path: string, contentType: string, body: string | Uint8Array): Page {
  const reply: ReplyValue = {
    status: 200,
    contentType,
    headers: headerLines({ 'X-Content-Type-Options': 'nosniff' }),
    body,
  };
  return { path, answer: () => reply };
}
