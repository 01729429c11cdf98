import { proto } from '@whiskeysockets/baileys';
import { shardOf } from '../../../runtime/address.ts';
import type { SealedStore } from './sealed-store.ts';

/**
 * The last messages a shop put on the wire, kept so that a handset that could not read one can be sent it again, after
 * a restart too. A fixed number of places, each message's chosen by its wire
 * id, so that the space is bounded without any order being kept.
 */
export class SentMessages {
  readonly #sealed: SealedStore;

  constructor(sealed: SealedStore) {
    this.#sealed = sealed;
  }

  /** Resolves when the message stands in the store; writes keep their order, so whoever writes later may rely on it. */
  remember(wireId: string, message: proto.IMessage): Promise<void> {
    const value = Buffer.concat([Buffer.from(`${wireId}\n`), proto.Message.encode(message).finish()]);
    return this.#sealed.write({ hash: 'sent', fields: new Map([[placeOf(wireId), value]]) });
  }

  /** The message of that wire id, unless a later one took its place. */
  async find(wireId: string): Promise<proto.IMessage | undefined> {
    const [value] = await this.#sealed.read('sent', [placeOf(wireId)]);
    const head = Buffer.from(`${wireId}\n`);
    if (value === undefined || !value.subarray(0, head.length).equals(head)) return undefined;
    return proto.Message.decode(value.subarray(head.length));
  }
}

// The hash that places shards spreads wire ids just as well, and has as many places as are wanted here.
const placeOf = (wireId: string): string => String(shardOf(wireId));
