import { decodeMessage, messageView } from './message-record.ts';
import type { MessageView } from './shop-operations.ts';

/** How many are remembered, about 3 KB each with what is made of them. */
const REMEMBERED_VIEWS = 4_096;

interface Remembered {
  readonly body: string;
  readonly state: string | null;
  readonly tenantId: string;
  readonly view: MessageView;
}

/**
 * Messages as the API shows them: the same object for as long as what is stored of a message is the same, since
 * callers poll, and reading and writing its JSON anew costs more than all else about a read.
 */
export class MessageViews {
  readonly #remembered = new Map<string, Remembered>();

  /** The view of what the two stored fields of a message hold, and whose it is; undefined when it is gone. */
  of(
    key: string,
    fields: readonly (string | null)[],
  ): { readonly tenantId: string; readonly view: MessageView } | undefined {
    const [body = null, state = null] = fields;
    const known = this.#remembered.get(key);
    if (known !== undefined && known.body === body && known.state === state) return known;
    this.#remembered.delete(key);
    const message = decodeMessage(fields);
    if (message === undefined || body === null) return undefined;
    const view = messageView(message.body, message.state);
    const remembered = { body, state, tenantId: message.body.tenantId, view };
    // The oldest goes: a Map keeps its order of insertion.
    const [oldest] = this.#remembered.size < REMEMBERED_VIEWS ? [] : this.#remembered.keys();
    if (oldest !== undefined) this.#remembered.delete(oldest);
    this.#remembered.set(key, remembered);
    return remembered;
  }
}
