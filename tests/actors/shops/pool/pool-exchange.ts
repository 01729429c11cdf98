import { offerOf, type PoolReply } from '../../../../actors/shops/protocol/pool-protocol.ts';
import type { ShopCommand } from '../../../../actors/shops/protocol/shop-commands.ts';
import type { ShopReplies } from '../../../../actors/shops/protocol/shop-replies.ts';
import { carriedRead, decodeCarried } from '../../../../actors/shops/records/carried-message.ts';
import { messageLookup } from '../../../../actors/shops/records/message-days.ts';
import {
  decodeMessage,
  type MessageBody,
  type MessageFields,
} from '../../../../actors/shops/records/message-record.ts';
import type { ShopReference } from '../../../../actors/shops/shop-operations.ts';
import { pacingState } from '../../../../actors/shops/state/shop-state.ts';
import { resolveSettings } from '../../../../policy/tenant-settings.ts';
import type { Random } from '../../../../runtime/random.ts';
import { seededRandom } from '../../../testbed/seeded-random.ts';
import { ShopHarness } from '../shop-harness.ts';

const settings = resolveSettings({});

type PoolCommand = Extract<ShopCommand, { type: `pool.${'take' | 'offer' | 'withdraw'}` }>;

/** A shop whose session is away, shops of a pool, and a network between them that loses, doubles and delays. */
export class PoolExchange {
  readonly origin: ShopHarness;
  readonly pools: readonly ShopHarness[];
  readonly #random: Random;
  /** The probability that a message between shops is lost, and that it comes twice. */
  trouble = 0;
  readonly #inFlight: (() => void)[] = [];
  readonly #seen = new Map<ShopHarness, number>();

  private constructor(origin: ShopHarness, pools: readonly ShopHarness[], random: Random) {
    this.origin = origin;
    this.pools = pools;
    this.#random = random;
  }

  static async start(seed: number, poolCount: number): Promise<PoolExchange> {
    const origin = await ShopHarness.connected(seed);
    origin.command({ type: 'disconnect' });
    const pools: ShopHarness[] = [];
    for (let index = 0; index < poolCount; index += 1)
      pools.push(await ShopHarness.connected(index + 2, poolShop(index)));
    return new PoolExchange(origin, pools, seededRandom(seed));
  }

  /** The message as the pool gets it. */
  body(messageId: string): MessageBody {
    const fields = this.origin.redis.run(messageLookup(this.origin.state.shard, messageId));
    const message = decodeMessage(messageId, fields as MessageFields);
    if (message === undefined) throw new Error('the origin has no such message');
    return message.body;
  }

  /** Asks a pool shop, as its node would. */
  ask<Command extends PoolCommand>(pool: ShopHarness, command: Command): ShopReplies[Command['type']] {
    const facts = { record: this.record(pool, subjectOf(command)), writer: undefined };
    return pool.command<PoolCommand>(command, facts) as ShopReplies[Command['type']];
  }

  take(pool: ShopHarness, messageId: string, isTaken = false): PoolReply {
    const body = this.body(messageId);
    return this.ask(pool, { type: 'pool.take', body, isTaken, settings, isPoolOpen: true });
  }

  /** The origin's own session opens. */
  connectOrigin(): void {
    this.origin.command({ type: 'connect' });
    this.origin.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 1 });
  }

  /** Returns the pool shop's stored record of a message. */
  record(pool: ShopHarness, messageId: string): ReturnType<typeof decodeCarried> {
    const fields = pool.redis.run(carriedRead(pool.state.shard, messageId));
    return decodeCarried(fields as MessageFields);
  }

  /** Puts the shops' new questions on their way, then delivers one message. Returns false if there was none. */
  deliverOne(): boolean {
    for (const shop of [this.origin, ...this.pools]) this.#gather(shop);
    const [word] = this.#inFlight.splice(Math.floor(this.#random() * this.#inFlight.length), 1);
    word?.();
    return word !== undefined;
  }

  /** Does the next step of a shop with the message that it is sending. */
  work(shop: ShopHarness): void {
    const messageId = shop.state.currentMessage?.messageId;
    if (messageId === undefined) return;
    if (pacingState(shop.state) === 'preparing') shop.toWire(messageId);
    else if (pacingState(shop.state) === 'sending') shop.outcome(messageId, { kind: 'acknowledged' });
  }

  pass(durationMs: number): void {
    for (const shop of [this.origin, ...this.pools]) shop.pass(durationMs);
  }

  #say(word: () => void): void {
    if (this.#random() < this.trouble) return;
    this.#inFlight.push(word);
    if (this.#random() < this.trouble) this.#inFlight.push(word);
  }

  #gather(shop: ShopHarness): void {
    for (const effect of shop.effects.slice(this.#seen.get(shop) ?? 0)) {
      if (effect.type === 'ask_pool') {
        const { messageId, pool, isTaken } = effect;
        this.#say(() => {
          const answer = this.take(this.#shop(pool), messageId, isTaken);
          this.#say(() => this.origin.command({ type: 'pool.answered', messageId, pool, answer }));
        });
      } else if (effect.type === 'find_pool') {
        this.#say(() => this.#find(effect.messageId));
      } else if (effect.type === 'requeue') {
        const { messageId } = effect;
        const requeue = { body: this.body(messageId), writer: undefined };
        this.#say(() => this.origin.command({ type: 'requeue', messageId }, requeue));
      } else if (effect.type === 'note_end') {
        const { messageId, answer } = effect;
        const pool = shop.state.shop;
        this.#say(() => this.origin.command({ type: 'pool.answered', messageId, pool, answer }));
      }
    }
    this.#seen.set(shop, shop.effects.length);
  }

  #find(messageId: string): void {
    const offer = offerOf(this.body(messageId));
    const willing = this.pools.find(
      (pool) => this.ask(pool, { type: 'pool.offer', offer, settings, isPoolOpen: true }).kind === 'willing',
    );
    if (willing === undefined) return;
    this.#say(() => this.origin.command({ type: 'pool.found', messageId, pool: willing.state.shop }));
  }

  #shop({ shopId }: ShopReference): ShopHarness {
    const foundHarness = this.pools.find((pool) => pool.state.shop.shopId === shopId);
    if (foundHarness === undefined) throw new Error(`no pool shop ${shopId}`);
    return foundHarness;
  }
}

function subjectOf(command: PoolCommand): string {
  if (command.type === 'pool.take') return command.body.id;
  return (command.type === 'pool.offer' ? command.offer.messageId : command.messageId) ?? '';
}

/** The names of the pool's shops. */
export function poolShop(index: number): ShopReference {
  return { tenantId: '65f0000000000000000000aa', shopId: `65f0000000000000000000b${index}` };
}
