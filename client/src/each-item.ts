import type { Call, CallOptions, Params } from './methods.ts';
import type { Batch, ConsentedContact, InboundMessage, Message, Operations, Shop } from './operations.ts';

/** A send at a later time, with its result. */
export type ScheduledSend = Operations['readScheduled']['data'];

/** Items a page: the most that the API gives. */
const LIMIT = 100;

/** Every shop once, newest first. A shop that is created meanwhile may be missing. */
export async function* eachShop(call: Call, options?: CallOptions): AsyncGenerator<Shop, void, void> {
  const given = new Set<string>();
  for (let page = 1; ; page += 1) {
    const { data } = await call('listShops', { page, limit: LIMIT }, options);
    for (const shop of data.items) {
      // A new shop moves later ones to the next page.
      if (!given.has(shop.id)) yield shop;
      given.add(shop.id);
    }
    if (data.items.length === 0 || page * data.limit >= data.total) return;
  }
}

/** Every message of a shop, newest first. */
export function eachMessage(
  call: Call,
  params: Omit<Params<'listMessages'>, 'cursor'>,
  options?: CallOptions,
): AsyncGenerator<Message, void, void> {
  return eachOfPages(async (cursor) => {
    const { data } = await call('listMessages', { limit: LIMIT, ...params, cursor }, options);
    return data;
  });
}

/** Every message that people wrote to a shop, newest first. */
export function eachInbound(
  call: Call,
  params: Omit<Params<'listInbound'>, 'cursor'>,
  options?: CallOptions,
): AsyncGenerator<InboundMessage, void, void> {
  return eachOfPages(async (cursor) => {
    const { data } = await call('listInbound', { limit: LIMIT, ...params, cursor }, options);
    return data;
  });
}

/** Every send of a shop that waits for its time, newest first. */
export function eachScheduled(
  call: Call,
  params: Omit<Params<'listScheduled'>, 'cursor'>,
  options?: CallOptions,
): AsyncGenerator<ScheduledSend, void, void> {
  return eachOfPages(async (cursor) => {
    const { data } = await call('listScheduled', { limit: LIMIT, ...params, cursor }, options);
    return data;
  });
}

/** Every batch of a shop, newest first, without forecasts. */
export function eachBatch(
  call: Call,
  params: Omit<Params<'listBatches'>, 'cursor'>,
  options?: CallOptions,
): AsyncGenerator<Batch, void, void> {
  return eachOfPages(async (cursor) => {
    const { data } = await call('listBatches', { limit: LIMIT, ...params, cursor }, options);
    return data;
  });
}

/** Every declared contact of the tenant. */
export function eachContact(
  call: Call,
  params: Omit<Params<'listContacts'>, 'cursor'>,
  options?: CallOptions,
): AsyncGenerator<ConsentedContact, void, void> {
  return eachOfPages(async (cursor) => {
    const { data } = await call('listContacts', { limit: LIMIT, ...params, cursor }, options);
    return data;
  });
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** A page may be short or empty and still have a cursor: only `nextCursor: null` is the end. */
async function* eachOfPages<Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, void> {
  let page = await read(undefined);
  for (;;) {
    yield* page.items;
    if (page.nextCursor === null) return;
    page = await read(page.nextCursor);
  }
}
