import type { Store } from '../../../runtime/store.ts';
import type { MessageStatus } from '../../message-status.ts';
import type { CursorPage, PageQuery } from '../../reply-schemas/reply-fields.ts';
import { readMessages } from '../records/message-days.ts';
import { messageView } from '../records/message-record.ts';
import type { ShopKeys } from '../records/shop-keys.ts';
import type { MessageView } from '../shop-operations.ts';
import { messageIdOf } from '../state/accepted-list.ts';
import type { ShopState } from '../state/shop-state.ts';

/** Messages that are read at a time. */
const READ_AT_A_TIME = 100;
/** Elements that are searched at a time for the position of a cursor. */
const SEARCH_AT_A_TIME = 1_000;

/** Messages that one page reads. With a filter over thirty days, all of them would be ten thousand. */
const MOST_SCANNED = 1_000;

/**
 * Returns a page of a shop's messages, newest first. A cursor names an id, so that new messages neither shift nor
 * repeat what follows it. Waiting messages are at the list's end. Failed and rejected ones have separate indexes;
 * `sent` reads all. A page that has read 1,000 messages ends there, short or empty, with a cursor that continues after
 * them.
 */
export async function listMessages(
  shop: Pick<ShopState, 'keys' | 'shard'>,
  store: Store,
  query: PageQuery & { readonly status: MessageStatus | undefined },
): Promise<CursorPage<MessageView>> {
  const { status, limit } = query;
  const items: MessageView[] = [];
  let scanned = 0;
  for await (const ids of idsOf(shop.keys, store, { status, cursor: query.cursor })) {
    for (const message of await readMessages(shop.shard, ids, store)) {
      if (message === undefined || (status !== undefined && message.state.status !== status)) continue;
      if (items.length === limit) return { items, nextCursor: items.at(-1)?.id ?? null };
      items.push(messageView(message));
    }
    scanned += ids.length;
    if (scanned >= MOST_SCANNED) return { items, nextCursor: ids.at(-1) ?? null };
  }
  return { items, nextCursor: null };
}

/** Yields ids, newest first, in groups whose messages are read together. */
function idsOf(
  keys: ShopKeys,
  store: Store,
  { status, cursor }: { readonly status: MessageStatus | undefined; readonly cursor: string | undefined },
): AsyncGenerator<string[]> {
  if (status === 'queued' || status === 'sending') return waitingIds(keys, store, cursor);
  if (status === 'failed' || status === 'rejected') return indexedIds(keys[status], store, cursor);
  return acceptedIds(keys, store, cursor);
}

/** Yields the messages that may wait: all after those that are known to have ended. */
async function* waitingIds(
  keys: ShopKeys,
  store: Store,
  cursor: string | undefined,
): AsyncGenerator<string[]> {
  const [endedText] = await store.read([['HGET', keys.shop, 'settled']]);
  const [elements] = await store.read([['LRANGE', keys.accepted, Number(endedText ?? 0), -1]]);
  const ids = elements.map(messageIdOf).filter((id) => id !== undefined);
  const idsAfter = ids.filter((id) => cursor === undefined || id < cursor).sort();
  while (idsAfter.length > 0) yield idsAfter.splice(-READ_AT_A_TIME).reverse();
}

async function* indexedIds(
  index: string,
  store: Store,
  cursor: string | undefined,
): AsyncGenerator<string[]> {
  let newestId = cursor === undefined ? '+' : `(${cursor}`;
  for (;;) {
    const [ids] = await store.read([['ZREVRANGEBYLEX', index, newestId, '-', 'LIMIT', 0, READ_AT_A_TIME]]);
    yield ids;
    if (ids.length < READ_AT_A_TIME) return;
    newestId = `(${ids.at(-1)}`;
  }
}

async function* acceptedIds(
  keys: ShopKeys,
  store: Store,
  cursor: string | undefined,
): AsyncGenerator<string[]> {
  const list = keys.accepted;
  let end = await endOfPage(list, store, cursor);
  const listedIds = new Set<string>();
  while (end > 0) {
    const start = Math.max(0, end - READ_AT_A_TIME);
    const ids = (await readIds(list, store, { start, end })).filter((id) => id !== undefined);
    // If the list is cut meanwhile, the elements read before move towards its head.
    yield ids.filter((id) => !listedIds.has(id)).reverse();
    for (const id of ids) listedIds.add(id);
    end = start;
  }
}

/**
 * Returns how many elements are before the cursor's, or before newer ones if the list has no such id. The list is not
 * sorted by id if two nodes made ids in the same second. So the id itself is searched for.
 */
async function endOfPage(list: string, store: Store, cursor: string | undefined): Promise<number> {
  let [end] = await store.read([['LLEN', list]]);
  if (cursor === undefined) return end;
  let olderIndex: number | undefined;
  while (end > 0) {
    const start = Math.max(0, end - SEARCH_AT_A_TIME);
    const ids = await readIds(list, store, { start, end });
    const foundIndex = ids.lastIndexOf(cursor);
    if (foundIndex !== -1) return start + foundIndex;
    const lastIndex = ids.findLastIndex((id) => id !== undefined && id < cursor);
    if (lastIndex !== -1) olderIndex ??= start + lastIndex + 1;
    end = start;
  }
  return olderIndex ?? 0;
}

/** Returns ids in the order of the list. An entry is undefined if its element is no message of the shop. */
async function readIds(
  list: string,
  store: Store,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<(string | undefined)[]> {
  const [elements] = await store.read([['LRANGE', list, start, end - 1]]);
  return elements.map(messageIdOf);
}
