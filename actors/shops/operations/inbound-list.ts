import type { Store } from '../../../runtime/store.ts';
import { isoOrNull } from '../../iso-time.ts';
import type { CursorPage, PageQuery } from '../../reply-schemas/reply-fields.ts';
import type { InboundRecordView, InboundView } from '../inbound-operations.ts';
import { type InboundRecord, readInboundRecords, type StoredInbound } from '../records/inbound-records.ts';
import type { NumberVault } from '../records/number-vault.ts';
import type { ShopKeys } from '../records/shop-keys.ts';

/** Ids that one page reads, if the index names messages that were removed. */
const MOST_SCANNED = 1_000;
/** Messages that are read at a time. */
const READ_AT_A_TIME = 100;

/**
 * Returns a page of inbound messages to a shop, newest first. A cursor names an id, so that new messages neither shift
 * nor repeat the following ones.
 */
export async function listInbound(
  shop: { readonly shard: number; readonly keys: Pick<ShopKeys, 'inbound'> },
  { limit, cursor }: PageQuery,
  sources: { readonly store: Store; readonly vault: Pick<NumberVault, 'open'> },
): Promise<CursorPage<InboundRecordView>> {
  const items: InboundRecordView[] = [];
  let newestId = cursor === undefined ? '+' : `(${cursor}`;
  for (let scanned = 0; scanned < MOST_SCANNED; scanned += READ_AT_A_TIME) {
    const [ids] = await sources.store.read([
      ['ZREVRANGEBYLEX', shop.keys.inbound, newestId, '-', 'LIMIT', 0, READ_AT_A_TIME],
    ]);
    for (const message of await readInboundRecords(shop.shard, ids, sources)) {
      if (message === undefined) continue;
      if (items.length === limit) return { items, nextCursor: items.at(-1)?.id ?? null };
      items.push(inboundRecordView(message));
    }
    const lastId = ids.at(-1);
    if (lastId === undefined || ids.length < READ_AT_A_TIME) return { items, nextCursor: null };
    newestId = `(${lastId}`;
  }
  return { items, nextCursor: newestId.slice(1) };
}

/** Returns the message with the data of its event. */
export function inboundView(record: InboundRecord): InboundView {
  const { id, shopId, from, fromId, name, atMs, kind, text, replyTo, media } = record;
  const receivedAt = new Date(atMs).toISOString();
  const mediaView = media && {
    type: media.type,
    size: media.size,
    fileName: media.fileName,
    sha256: media.sha256,
  };
  return { id, shopId, from, fromId, name, at: receivedAt, kind, text, replyTo, media: mediaView };
}

/** Returns the message with its present state. */
export function inboundRecordView({ record, readAtMs }: StoredInbound): InboundRecordView {
  return { ...inboundView(record), readAt: isoOrNull(readAtMs) };
}
