import { LRUCache } from 'lru-cache';
import type { Address } from '../../../runtime/address.ts';
import { decodeMessage, type MessageFields, messageView } from '../records/message-record.ts';
import { shopAddress } from '../records/shop-keys.ts';
import type { MessageView } from '../shop-operations.ts';
import type { ShopState } from '../state/shop-state.ts';

/** How many views are cached, about 3 KB each with the results derived from them. */
const REMEMBERED_VIEWS = 4_096;

/** A stored message as the API shows it, its tenant and its shop. */
export interface OwnedView {
  readonly tenantId: string;
  readonly shop: Address;
  readonly view: MessageView;
  /**
   * The view with the message's place in the queue, as last shown, and what it was made from. The
   * state is held weakly, because it has texts and codes of a shop that may be gone.
   */
  placed:
    | { readonly state: WeakRef<ShopState>; readonly secondMs: number; readonly view: MessageView }
    | undefined;
}

interface RememberedView extends OwnedView {
  readonly fields: MessageFields;
}

/** Returns the view of a message's stored fields; undefined if it is gone. */
export function viewOf(id: string, fields: MessageFields): OwnedView | undefined {
  const message = decodeMessage(id, fields);
  if (message === undefined) return undefined;
  const { tenantId } = message.body;
  return { tenantId, shop: shopAddress(message.body), view: messageView(message), placed: undefined };
}

/**
 * Caches messages as the API shows them: the same object as long as the stored message is the same. Callers poll, and
 * parsing and writing the JSON again is the largest cost of a read.
 */
export class MessageViews {
  readonly #remembered = new LRUCache<string, RememberedView>({ max: REMEMBERED_VIEWS });

  /**
   * Like `viewOf`, cached as long as the store returns the same fields. Not for single reads: caching costs more than
   * making the view.
   */
  viewOf(id: string, fields: MessageFields): OwnedView | undefined {
    const knownView = this.#remembered.get(id);
    if (knownView?.fields === fields) return knownView;
    const view = viewOf(id, fields);
    if (view === undefined) {
      this.#remembered.delete(id);
      return undefined;
    }
    const entry = { fields, ...view };
    this.#remembered.set(id, entry);
    return entry;
  }
}
