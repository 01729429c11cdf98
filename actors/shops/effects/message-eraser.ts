import type { Clock } from '../../../runtime/clock.ts';
import type { Store, Write } from '../../../runtime/store.ts';
import { messageIdOf } from '../state/accepted-list.ts';
import { messageErasure, readMessages } from '../state/message-days.ts';
import type { MessageBody } from '../state/message-record.ts';
import { idempotencyKey } from '../state/shop-keys.ts';
import { strayMessages } from '../state/stray-messages.ts';

/** Messages that one commit erases: some hundred commands, about a millisecond of Redis. */
const BATCH = 100;

/** The store, and how long messages are kept. */
interface MessageEraserOptions {
  readonly store: Store;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly retentionMs: number;
}

/** Erases messages with their idempotency keys, in short steps. */
export class MessageEraser {
  readonly #options: MessageEraserOptions;

  constructor(options: MessageEraserOptions) {
    this.#options = options;
  }

  /** Erases the messages that a shop's list names, the oldest first. */
  async eraseListed(shard: number, accepted: string): Promise<void> {
    const { store } = this.#options;
    for (;;) {
      const [elements] = (await store.read([['LRANGE', accepted, 0, BATCH - 1]])) as [string[]];
      if (elements.length === 0) return;
      const ids = elements.map(messageIdOf).filter((id) => id !== undefined);
      await store.commit(shard, [
        ...(await this.#erasures(shard, ids)),
        ['LTRIM', accepted, elements.length, -1],
      ]);
    }
  }

  /** Erases those that no list names, where messages were kept for longer before. */
  async eraseStrays(shard: number, isErased: (body: MessageBody) => boolean): Promise<void> {
    const { store, clock, retentionMs } = this.#options;
    for await (const found of strayMessages(shard, { store, retentionMs, nowMs: clock.wallMs() })) {
      const bodies = found.map(({ body }) => body).filter(isErased);
      if (bodies.length === 0) continue;
      await store.commit(
        shard,
        bodies.flatMap((body) => erasuresOf(shard, body.id, body)),
      );
    }
  }

  async #erasures(shard: number, ids: readonly string[]): Promise<Write[]> {
    const messages = await readMessages(shard, ids, this.#options.store);
    return ids.flatMap((id, index) => erasuresOf(shard, id, messages[index]?.body));
  }
}

/** Returns the writes that erase a message; `body` undefined: it is gone, or was half gone. */
function erasuresOf(shard: number, id: string, body: MessageBody | undefined): Write[] {
  const writes: Write[] = [messageErasure(shard, id)];
  if (body?.idempotencyKey) writes.push(['DEL', idempotencyKey(shard, body, body.idempotencyKey)]);
  return writes;
}
