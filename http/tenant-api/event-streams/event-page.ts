import type { ReplyValue } from '../../contract/exchange.ts';

/** The fields of a page of events that its stream reads. Each item is passed on unchanged. */
export interface StreamedPage {
  readonly items: readonly { readonly id: string; readonly type: string }[];
  readonly nextCursor: string;
}

/** Returns the page in the body of a reply. */
export function pageOf({ body }: ReplyValue): StreamedPage {
  return (JSON.parse(String(body)) as { readonly data: StreamedPage }).data;
}

/**
 * Returns the events of a page as server-sent events. The page's position follows if the reader would not know it. The
 * reader knows the position of the last event, or its own if the page has no events.
 */
export function writePage({ items, nextCursor }: StreamedPage, place: string | undefined): string {
  const events = items.map(
    (item) => `id: ${item.id}\nevent: ${item.type}\ndata: ${JSON.stringify(item)}\n\n`,
  );
  const isAtCursor = nextCursor === (items.at(-1)?.id ?? place);
  return events.join('') + (isAtCursor ? '' : `id: ${nextCursor}\n\n`);
}
