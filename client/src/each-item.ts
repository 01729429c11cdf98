import type { Call, CallOptions, Params } from './methods.ts';
import type { Operations, Shop } from './operations.ts';

/** Items a page: the most that the API gives. */
const LIMIT = 100;

/** Yields every shop once, newest first. A shop that is created meanwhile may be missing. */
export async function* eachShop(call: Call, options?: CallOptions): AsyncGenerator<Shop, void, void> {
  const given = new Set<string>();
  let lastTotal = 0;
  for (let page = 1; ; page += 1) {
    const { data } = await call('listShops', { page, limit: LIMIT }, options);
    const wasErased = data.total < lastTotal;
    lastTotal = data.total;
    // An erased shop moves later ones to the page before, perhaps to one that was read already.
    if (wasErased && page > 1) {
      page = 0;
      continue;
    }
    for (const shop of data.items) {
      // A new shop moves later ones to the next page.
      if (!given.has(shop.id)) yield shop;
      given.add(shop.id);
    }
    if (data.items.length === 0 || page * data.limit >= data.total) return;
  }
}

/** The operations that return a page of a list by a cursor. */
type ListName = 'listMessages' | 'listInbound' | 'listScheduled' | 'listBatches' | 'listContacts';

type ItemOf<Name extends ListName> = Operations[Name]['data']['items'][number];

/** Reads all pages of a list, and yields its items. */
export type EachItem<Name extends ListName> = (
  params: Omit<Params<Name>, 'cursor'>,
  options?: CallOptions,
) => AsyncIterable<ItemOf<Name>>;

/** Makes the flow that yields every item of a list. */
export function eachItem<Name extends ListName>(call: Call, name: Name): EachItem<Name> {
  return async function* (params, options) {
    let cursor: string | undefined;
    do {
      const { data } = await call(name, { limit: LIMIT, ...params, cursor } as Params<Name>, options);
      yield* data.items as readonly ItemOf<Name>[];
      // A page may be short or empty and still have a cursor: only null is the end.
      cursor = data.nextCursor ?? undefined;
    } while (cursor !== undefined);
  };
}
