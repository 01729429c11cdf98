import {
  decodeMessage,
  type MessageBody,
  type MessageState,
} from '../../../actors/shops/records/message-record.ts';
import { isObjectId } from '../../../runtime/object-id.ts';
import type { Write } from '../../../runtime/store.ts';

/** The messages in the writes of a shop: in the hash of their day, or where they are carried for another shop. */
export class WrittenMessages {
  /** The newest state of each message. */
  readonly states = new Map<string, MessageState>();
  /** The accepted bodies, by message. */
  readonly bodies = new Map<string, MessageBody>();

  /** Takes a write of the shop. Ignores one that is not about a message. */
  note([command, key, field, value]: Write): void {
    if (command !== 'HSET' || /:(scheduled|batch|inbound:)/.test(key)) return;
    const carried = /:carried:(.*)$/.exec(key)?.[1];
    const [id = '', part = 'body'] = carried === undefined ? String(field).split(':') : [carried, field];
    if (part === 'state') this.states.set(id, JSON.parse(String(value)) as MessageState);
    const body = decodeMessage(id, [isObjectId(id) && part === 'body' ? String(value) : null])?.body;
    if (body !== undefined) this.bodies.set(id, body);
  }
}
