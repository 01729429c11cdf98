import type { Store } from '../../../runtime/store.ts';
import type { MessageStatus } from '../../message-status.ts';
import type { CursorPage } from '../../tenant/tenant-operations.ts';
import { decodeMessage, messageView } from '../record/message-record.ts';
import { messageKey } from '../record/shop-keys.ts';
import type { MessageView } from '../record/shop-operations.ts';
import type { ShopState } from '../record/shop-state.ts';

const BATCH = 100;

/** Messages one page looks at. With thirty days of messages behind a filter, all of them would be ten thousand. */
const MOST_SCANNED = 1_000;

/**
 * A page of a shop's messages, newest first. A cursor names an id, so that messages that come in meanwhile neither
 * shift nor repeat what follows it. Each status but `sent` has an index of its own; `sent` reads along all.
 * A page that has looked at 1,000 messages ends there, short or empty, with a cursor that goes on behind them.
 */
export async function listMessages(
  shop: Pick<ShopState, 'keys' | 'shard'>,
  store: Store,
  query: {
    readonly status: MessageStatus | undefined;
    readonly limit: number;
    readonly cursor: string | undefined;
  },
): Promise<CursorPage<MessageView>> {
  const index = indexOf(shop, query.status);
  const items: MessageView[] = [];
  let scanned = 0;
  let from = query.cursor === undefined ? '+' : `(${query.cursor.toLowerCase()}`;
  for (;;) {
    const [ids] = (await store.read([['ZREVRANGEBYLEX', index, from, '-', 'LIMIT', 0, BATCH]])) as [string[]];
    for (const message of await read(shop.shard, ids, store)) {
      if (query.status !== undefined && message.status !== query.status) continue;
      if (items.length === query.limit) return { items, nextCursor: items.at(-1)?.id ?? null };
      items.push(message);
    }
    if (ids.length < BATCH) return { items, nextCursor: null };
    scanned += ids.length;
    const lastId = ids.at(-1) ?? null;
    if (scanned >= MOST_SCANNED) return { items, nextCursor: lastId };
    from = `(${lastId}`;
  }
}

function indexOf({ keys }: Pick<ShopState, 'keys'>, status: MessageStatus | undefined): string {
  if (status === 'queued' || status === 'sending') return keys.queue;
  return status === 'failed' || status === 'rejected' ? keys[status] : keys.messages;
}

async function read(shard: number, ids: readonly string[], store: Store): Promise<MessageView[]> {
  if (ids.length === 0) return [];
  const found = await store.read(ids.map((id) => ['HMGET', messageKey(shard, id), 'body', 'state']));
  return found.flatMap((fields) => {
    const message = decodeMessage(fields as (string | null)[]);
    return message ? [messageView(message.body, message.state)] : [];
  });
}
