import { LRUCache } from 'lru-cache';
import type { MessageView } from '../shop-operations.ts';
import { decodeMessage, type MessageFields, messageView } from '../state/message-record.ts';

/** How many are remembered, about 3 KB each with what is made of them. */
const REMEMBERED_VIEWS = 4_096;

/** A message as the API shows it, and its tenant. */
interface OwnedView {
  readonly tenantId: string;
  readonly view: MessageView;
}

interface Remembered extends OwnedView {
  readonly fields: MessageFields;
}

/** The view of what the stored fields of a message hold; undefined when it is gone. */
export function viewOf(id: string, fields: MessageFields): OwnedView | undefined {
  const message = decodeMessage(id, fields);
  return message && { tenantId: message.body.tenantId, view: messageView(message) };
}

/**
 * Messages as the API shows them: the same object for as long as what is stored of a message is the same, since
 * callers poll, and reading and writing its JSON anew costs more than all else about a read.
 */
export class MessageViews {
  readonly #remembered = new LRUCache<string, Remembered>({ max: REMEMBERED_VIEWS });

  /**
   * As `viewOf`, remembered for as long as the store answers with the same fields. Not for what is asked for once: to
   * keep it for a while costs more than to make it.
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
