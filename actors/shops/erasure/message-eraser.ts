import type { Clock } from '../../../runtime/clock.ts';
import type { Store, Write } from '../../../runtime/store.ts';
import { isFinal } from '../../message-status.ts';
import { bodyWrite, dayOfMessage, messageErasure, readMessages } from '../records/message-days.ts';
import { type MessageBody, withoutRecipient } from '../records/message-record.ts';
import { idempotencyRedisKey } from '../records/shop-keys.ts';
import { strayMessages } from '../records/stray-messages.ts';
import { messageIdOf } from '../state/accepted-list.ts';

/**
 * Messages that one commit erases, so that it takes Redis about half a millisecond. A message takes at most two writes,
 * and one that a shop of the pool carried takes three.
 */
export const ERASED_AT_ONCE = 50;

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
  async eraseListed(shard: number, listKey: string): Promise<void> {
    const { store } = this.#options;
    for (;;) {
      const [elements] = await store.read([['LRANGE', listKey, 0, ERASED_AT_ONCE - 1]]);
      if (elements.length === 0) return;
      const ids = elements.map(messageIdOf).filter((id) => id !== undefined);
      await store.commit(shard, [
        ...(await this.#erasures(shard, ids)),
        ['LTRIM', listKey, elements.length, -1],
      ]);
    }
  }

  /** Erases messages that no list names, if messages were kept for longer before. */
  async eraseStrays(shard: number, isErased: (body: MessageBody) => boolean): Promise<void> {
    const { store, clock, retentionMs } = this.#options;
    for await (const strays of strayMessages(shard, { store, retentionMs, nowMs: clock.wallMs() })) {
      const bodies = strays.map(({ body }) => body).filter(isErased);
      if (bodies.length === 0) continue;
      await store.commit(
        shard,
        bodies.flatMap((body) => erasuresOf(shard, body.id, body)),
      );
    }
  }

  /**
   * Removes recipient, text and attachment from ended messages in a shop's list that went to a forgotten person. The
   * records stay, so that a repeated idempotency key sends nothing.
   */
  async redactListed(
    shard: number,
    listKey: string,
    isForgotten: (body: MessageBody) => boolean,
  ): Promise<void> {
    const { store } = this.#options;
    // The walk begins at the end. So it skips none if elements are cut from the head or added meanwhile.
    for (let offset = 0; ; offset += ERASED_AT_ONCE) {
      const [elements] = await store.read([['LRANGE', listKey, -offset - ERASED_AT_ONCE, -offset - 1]]);
      if (elements.length === 0) return;
      const ids = elements.map(messageIdOf).filter((id) => id !== undefined);
      await this.#redact(shard, ids, isForgotten);
    }
  }

  /** Does the same for messages that no list names, if messages were kept for longer before. */
  async redactStrays(shard: number, isForgotten: (body: MessageBody) => boolean): Promise<void> {
    const { store, clock, retentionMs } = this.#options;
    for await (const strays of strayMessages(shard, { store, retentionMs, nowMs: clock.wallMs() })) {
      const ids = strays.filter(({ body }) => isForgotten(body)).map(({ body }) => body.id);
      await this.#redact(shard, ids, isForgotten);
    }
  }

  async #redact(
    shard: number,
    ids: readonly string[],
    isForgotten: (body: MessageBody) => boolean,
  ): Promise<void> {
    const { store } = this.#options;
    const messages = await readMessages(shard, ids, store);
    const writes = messages.flatMap((message) => {
      const { body, state } = message ?? {};
      if (!body || !state || !isFinal(state.status) || !isForgotten(body)) return [];
      return [bodyWrite(shard, dayOfMessage(body.id), withoutRecipient(body))];
    });
    if (writes.length > 0) await store.commit(shard, writes);
  }

  async #erasures(shard: number, ids: readonly string[]): Promise<Write[]> {
    const messages = await readMessages(shard, ids, this.#options.store);
    return ids.flatMap((id, index) => erasuresOf(shard, id, messages[index]?.body));
  }
}

/** Returns the writes that erase a message. `body` is undefined if the message is erased, completely or in part. */
function erasuresOf(shard: number, id: string, body: MessageBody | undefined): Write[] {
  const writes: Write[] = [messageErasure(shard, id)];
  if (body?.idempotencyKey) writes.push(['DEL', idempotencyRedisKey(shard, body, body.idempotencyKey)]);
  return writes;
}
