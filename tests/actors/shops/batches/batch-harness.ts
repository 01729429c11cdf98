import type { Failure, Outcome } from '../../../../actors/failure.ts';
import type { BatchRequest, BatchView } from '../../../../actors/shops/batch-operations.ts';
import { batchSender } from '../../../../actors/shops/effects/due-senders.ts';
import { NO_DRAFT } from '../../../../actors/shops/message-content.ts';
import { batchOperations } from '../../../../actors/shops/operations/batching.ts';
import type { ShopEffect } from '../../../../actors/shops/protocol/shop-effect.ts';
import type { BatchReply, ShopReplies } from '../../../../actors/shops/protocol/shop-replies.ts';
import type { MessageDraft } from '../../../../actors/shops/shop-operations.ts';
import type { Batch } from '../../../../actors/shops/state/batches.ts';
import { resolveSettings, type TenantSettings } from '../../../../policy/tenant-settings.ts';
import type { Actors } from '../../../../runtime/actors.ts';
import { DAY_MS } from '../../../../runtime/durations.ts';
import { QuietLog } from '../../../testbed/quiet-log.ts';
import { ShopHarness } from '../shop-harness.ts';
import { storeOf } from '../store-of.ts';

/** The number of the recipient at a place. */
export function numberAt(place: number): string {
  return `+3360${String(1_000_000 + place)}`;
}

/** A shop whose batches send as on its node, in virtual time. */
export class BatchHarness {
  shop: ShopHarness;
  readonly settings: TenantSettings;
  /** Recipient, time and batch of each message that left. */
  readonly sent: {
    readonly to: string;
    readonly text: string | null;
    readonly batchId: string | undefined;
    readonly atMs: number;
  }[] = [];

  constructor(shop: ShopHarness, settings: TenantSettings = resolveSettings({})) {
    this.shop = shop;
    this.settings = settings;
  }

  /** A connected shop; `days`: since its number was connected; `startsAt`: the moment at which it begins. */
  static async connected(days = 20, startsAt?: string): Promise<BatchHarness> {
    const shop = await ShopHarness.start();
    if (startsAt !== undefined) shop.nowMs = Date.parse(startsAt);
    shop.command({ type: 'connect' });
    const pairedAtMs = shop.nowMs - days * DAY_MS;
    shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs });
    return new BatchHarness(shop);
  }

  /** People who are customers of the tenant. */
  know(count: number, from = 0): readonly { readonly to: string }[] {
    const people = Array.from({ length: count }, (_, index) => ({ to: numberAt(from + index) }));
    const { customers } = this.shop.state.people;
    for (const { to } of people) this.shop.redis.run(['SADD', customers, to]);
    return people;
  }

  /** People that the tenant declared. */
  declare(count: number, from = 0): readonly { readonly to: string }[] {
    const people = Array.from({ length: count }, (_, index) => ({ to: numberAt(from + index) }));
    const record = { id: '65f0000000000000000000aa', note: null, expiresAtMs: null, revokedAtMs: null };
    for (const { to } of people) {
      const storedText = JSON.stringify({ ...record, phone: to, source: 'api', createdAtMs: 0 });
      this.shop.redis.run(['HSET', this.shop.state.people.contacts, to, storedText]);
    }
    return people;
  }

  async create(
    asked: Partial<BatchRequest> & Pick<BatchRequest, 'recipients'>,
  ): Promise<Outcome<BatchReply>> {
    const draft: BatchRequest = {
      name: 'news',
      ...NO_DRAFT,
      text: 'hello {{name}}',
      mediaType: 'image',
      share: 0.7,
      notBeforeMs: undefined,
      notAfterMs: undefined,
      quietHours: undefined,
      paused: false,
      idempotencyKey: undefined,
      requestId: 'test',
      ...asked,
      recipients: asked.recipients.map((recipient) => ({ fields: { name: recipient.to }, ...recipient })),
    };
    return (await this.shop.ask({ type: 'create_batch', asked: draft })) as Outcome<BatchReply>;
  }

  /** Creates a batch like `create`, and returns its id. */
  async batch(asked: Parameters<BatchHarness['create']>[0]): Promise<string> {
    const reply = await this.create(asked);
    if (!reply.ok) throw new Error(JSON.stringify(reply.failure));
    return reply.value.batchId;
  }

  async steer(batchId: string, order: 'pause' | 'resume' | 'cancel'): Promise<true | Failure> {
    const reply = (await this.shop.ask({ type: 'steer_batch', batchId, order })) as Outcome<unknown>;
    return reply.ok || reply.failure;
  }

  #processes = 1;

  /** Another process takes the shop over from what is stored, and its session connects. */
  async restart(): Promise<void> {
    const { bodies, messages, state } = this.shop;
    this.#processes += 1;
    this.shop = await this.shop.successor('store', 'activation', this.#processes);
    for (const [id, body] of bodies) this.shop.bodies.set(id, body);
    for (const [id, message] of messages)
      if (!this.shop.messages.has(id)) this.shop.messages.set(id, message);
    const { phone, pairedAtMs } = state.channel.context;
    this.shop.session({ type: 'session.connected', phone: phone ?? '', pairedAtMs: pairedAtMs ?? 0 });
  }

  readonly #effects: ShopEffect[] = [];

  /** Returns the counted changes of batches and recipients, each as words. */
  counted(): string[] {
    return [...this.#effects, ...this.shop.effects].flatMap((effect) => {
      if (effect.type === 'count_batch') return [[effect.change, effect.reason].join(' ').trim()];
      if (effect.type !== 'count_recipients') return [];
      return [[effect.count, effect.outcome, effect.code].join(' ').trim()];
    });
  }

  /** The recipients that opted out. */
  readonly optedOut = new Set<string>();

  /** Somebody asks for no more messages. */
  optOut(from: string): void {
    const { nowMs } = this.shop;
    this.optedOut.add(from);
    const stop = { type: 'session.inbound', wireId: `S${from}${nowMs}`, text: 'STOP', token: 't' } as const;
    this.shop.session({ ...stop, from, atMs: nowMs });
  }

  /** Returns the batch in memory, or undefined if it has ended. */
  live(batchId: string): Batch | undefined {
    return this.shop.state.batches.find(({ id }) => id === batchId);
  }

  async shown(batchId: string): Promise<BatchView> {
    const { shop } = this;
    const actors = {
      ask: () => Promise.reject(new Error('nothing is asked')),
      state: async ({ kind }: { readonly kind: string }) =>
        kind === 'shop' ? shop.state : { settings: this.settings },
    };
    const operations = batchOperations({
      actors: actors as unknown as Pick<Actors, 'ask' | 'state'>,
      store: storeOf(shop.redis),
      clock: { wallMs: () => shop.nowMs },
      times: { sendGap: { minMs: 6_000, maxMs: 20_000 } },
      retentionMs: 30 * DAY_MS,
    });
    const found = await operations.batch(shop.state.shop, batchId);
    if (!found.ok) throw new Error(found.failure.code);
    return found.value;
  }

  /** Turns the clock, and does on the way what the node and its session would. `onSent` may write, send or answer. */
  async pass(durationMs: number, onSent: (to: string) => void = () => undefined): Promise<void> {
    const untilMs = this.shop.nowMs + durationMs;
    for (;;) {
      await this.deliver();
      this.#send(onSent);
      const due = this.shop.timers().map(({ dueAtMs }) => dueAtMs);
      const nextMs = Math.min(...due);
      if (this.shop.effects.some(({ type }) => type === 'send_batched')) continue;
      if (nextMs > untilMs) break;
      this.shop.pass(Math.max(0, nextMs - this.shop.nowMs));
    }
    this.shop.pass(untilMs - this.shop.nowMs);
  }

  /** Makes the sends that the shop asked for since. */
  async deliver(): Promise<void> {
    const { shop } = this;
    const effects = shop.effects.splice(0);
    this.#effects.push(...effects);
    for (const effect of effects) {
      if (effect.type !== 'send_batched') continue;
      await new Promise<void>((resolve) => {
        const send = async (_: unknown, draft: MessageDraft) => {
          const command = { type: 'send', draft, settings: this.settings, pool: undefined } as const;
          const reply = await shop.ask(command);
          resolve();
          return reply as ShopReplies['send'];
        };
        const make = batchSender({ store: storeOf(shop.redis), send, log: new QuietLog() });
        make(shop.state.shop, effect.batchId, effect.place);
      });
    }
  }

  /** Sends the message that is being prepared. */
  #send(onSent: (to: string) => void): void {
    const { shop } = this;
    const { currentMessage } = shop.state;
    if (currentMessage === undefined || shop.state.pacing.value !== 'preparing') return;
    shop.toWire(currentMessage.messageId, this.optedOut.has(currentMessage.to) ? 'STOP' : 'nothing');
    // The last look may have put it back, or ended it.
    if (shop.statusOf(currentMessage.messageId) !== 'sending') return;
    const { text = null } = shop.bodies.get(currentMessage.messageId) ?? {};
    this.sent.push({ to: currentMessage.to, text, batchId: currentMessage.batchId, atMs: shop.nowMs });
    shop.outcome(currentMessage.messageId, { kind: 'acknowledged' });
    onSent(currentMessage.to);
  }
}
