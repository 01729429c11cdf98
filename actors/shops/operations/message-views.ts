import { LRUCache } from 'lru-cache';
import { decodeMessage, type MessageFields, messageView } from '../records/message-record.ts';
import type { MessageView } from '../shop-operations.ts';

/** How many views are cached, about 3 KB each with the results derived from them. */
const REMEMBERED_VIEWS = 4_096;

/** A message as the API shows it, and its tenant. */
interface OwnedView {
  readonly tenantId: string;
  readonly view: MessageView;
}

interface Remembered extends OwnedView {
  readonly fields: MessageFields;
}

/** Returns the view of a message's stored fields; undefined if it is gone. */
export function viewOf(id: string, fields: MessageFields): OwnedView | undefined {
  const message = decodeMessage(id, fields);
  return message && { tenantId: message.body.tenantId, view: messageView(message) };
}

/**
 * Caches messages as the API shows them: the same object as long as the stored message is the same. Callers poll, and
 * parsing and writing the JSON again is the largest cost of a read.
 */
export class MessageViews {
  readonly #remembered = new LRUCache<string, Remembered>({ max: REMEMBERED_VIEWS });

  /**
   * Like `viewOf`, cached as long as the store returns the same fields. Not for single reads: caching costs more than
   * making the view.
   */
  of(id: string, fields: MessageFields): OwnedView | undefined {
    const known = this.#remembered.get(id);
    if (known?.fields === fields) return known;
    const made = viewOf(id, fields);
    if (made === undefined) {
      this.#remembered.delete(id);
      return undefined;
    }
    const remembered = { fields, ...made };
    this.#remembered.set(id, remembered);
    return remembered;
  }
}
