import assert from 'node:assert/strict';
import { makeAccount } from '../e2e/account.ts';
import type { ApiClient } from '../e2e/api-client.ts';
import { connectShop, sendText, untilStatus } from '../e2e/shop-steps.ts';
import { until } from '../e2e/waiting.ts';
import type { World } from './world.ts';

/** Those who are written to by turns, and behind them the two whose phones are switched off. */
const REGULARS = 10;
const SOON = REGULARS;
const LATE = REGULARS + 1;
const SENDS_A_DAY = 3;
const STATUSES_OF_A_NIGHT = 60;
const TEXTS_OF_A_NIGHT = 10;

/** The days on which two phones are switched off, and on which each comes back and cannot read what waited. */
const RETRIES = { off: 3, within: 8, after: 12 } as const;

/** The counts of a month. */
export interface Counts {
  sent: number;
  posts: number;
  statuses: number;
  stops: number;
  heard: number;
  arrived: number;
}

/** One shop through a month: what it sends, what people write to it, and what must be true of both. */
export class ShopMonth {
  readonly counts: Counts = { sent: 0, posts: 0, statuses: 0, stops: 0, heard: 0, arrived: 0 };
  readonly phone: string;
  readonly #world: World;
  readonly #index: number;
  readonly #api: ApiClient;
  readonly #shopId: string;
  /** The texts that each number is to have once. */
  readonly #texts = new Map<string, string[]>();
  /** A message that came too late to be read. */
  #unread: string | undefined;

  private constructor(world: World, index: number, account: { api: ApiClient; shopId: string }) {
    this.#world = world;
    this.#index = index;
    this.#api = account.api;
    this.#shopId = account.shopId;
    this.phone = `+336110000${String(index).padStart(2, '0')}`;
  }

  /** A tenant with a connected shop, its customers, and a group that it administers. */
  static async begin(world: World, index: number): Promise<ShopMonth> {
    const { tenantId, shopId, apiKey } = await makeAccount(world.admin, `Tenant ${index}`);
    const shop = new ShopMonth(world, index, { api: world.api(apiKey), shopId });
    const phones = Array.from({ length: LATE + 1 }, (_, customer) => shop.#customer(customer));
    await world.admin.post(`/tenants/${tenantId}/customers`, { phones });
    await connectShop({ api: shop.#api, network: world.network }, shopId, shop.phone);
    await world.network.setGroup(shop.#group, {
      name: 'Regulars',
      participants: [shop.phone, ...phones.slice(0, 3)],
      admins: [shop.phone],
    });
    return shop;
  }

  get #group(): string {
    return `12036300000000${String(1_000 + this.#index)}@g.us`;
  }

  #customer(index: number): string {
    return `+33622${String(this.#index).padStart(2, '0')}00${String(index).padStart(2, '0')}`;
  }

  #regular(turn: number): string {
    return this.#customer(turn % REGULARS);
  }

  /** Runs the events of an open shop. */
  async day(day: number): Promise<void> {
    const { network } = this.#world;
    const writer = this.#regular(day);
    const { delivered } = await network.write(writer, { to: this.phone, text: `Question of day ${day}` });
    assert.equal(delivered, true, 'a question was not heard');
    this.counts.heard += 1;
    await this.#arrive();
    for (let index = 0; index < SENDS_A_DAY; index += 1)
      await this.#send(this.#regular(day * SENDS_A_DAY + index), `Offer ${index} of day ${day}`);
    await this.#post(day);
    await this.#stop(day, 'day');
    if (this.#index === 0) await this.#retries(day);
  }

  /** Writes the messages that wait for the shop after a night. `STOP` is the last of them. */
  async night(day: number): Promise<void> {
    const { network } = this.#world;
    const from = this.#customer(0);
    await network.arrive(this.phone, { kind: 'status_message', from, readable: false });
    await network.arrive(this.phone, { kind: 'status', from, readable: false, count: STATUSES_OF_A_NIGHT });
    this.counts.arrived += 1 + STATUSES_OF_A_NIGHT;
    for (let index = 0; index < TEXTS_OF_A_NIGHT; index += 1) {
      const text = `At night ${index} of day ${day}`;
      await network.write(this.#regular(index), { to: this.phone, text, wait: false });
      this.counts.heard += 1;
    }
    await network.write(stranger(this.#index, day, 'night'), { to: this.phone, text: 'STOP', wait: false });
  }

  /** The STOP of the night is heard. */
  async morning(day: number): Promise<void> {
    await this.untilConnected();
    await this.#optedOut(stranger(this.#index, day, 'night'));
  }

  /** The line is cut; the session comes back by itself. */
  async cut(): Promise<void> {
    const before = this.#world.logins();
    await this.#world.network.fault(this.phone, 'drop');
    await until('the session is back', async () => this.#world.logins() > before);
    await this.untilConnected();
  }

  async untilConnected(): Promise<void> {
    const path = `/shops/${this.#shopId}/channels/msgapp`;
    await until('the shop is connected', async () => (await this.#api.get(path)).data.status === 'connected');
  }

  /** Resolves once the network waits for no answer of the shop. */
  async untilAnswered(): Promise<void> {
    await until(`the network has all answers of ${this.phone}`, async () => {
      const { waiting, unacknowledged } = await this.#world.network.unanswered(this.phone);
      return waiting.length === 0 && unacknowledged.length === 0;
    });
  }

  /** Everything that was sent is on its phone, once. */
  async check(): Promise<void> {
    const { network } = this.#world;
    for (const [phone, expected] of this.#texts) {
      const { items } = await network.inbox(phone, { limit: 500 });
      const own = items
        .filter(({ from, group }) => from === this.phone && group === null)
        .map(({ text }) => text);
      assert.deepEqual(own.sort(), [...expected].sort(), `the inbox of ${phone}`);
    }
    if (this.#unread !== undefined) {
      const all = (await network.inbox(this.#customer(LATE), { limit: 500 })).items.map(({ text }) => text);
      assert.equal(all.includes(this.#unread), false, 'the text was kept for longer than a week');
    }
    const posts = (await network.inbox(this.#customer(0), { limit: 500 })).items.filter(
      ({ group }) => group === this.#group,
    );
    assert.equal(posts.length, this.counts.posts, 'posts to the group');
    assert.equal(new Set(posts.map(({ text }) => text)).size, this.counts.posts, 'posts to the group');
  }

  async #arrive(): Promise<void> {
    const { network } = this.#world;
    const from = this.#customer(1);
    for (const kind of ['status', 'status_message'] as const) {
      await network.arrive(this.phone, { kind, from, readable: false });
      await network.arrive(this.phone, { kind, from });
    }
    await network.arrive(this.phone, { kind: 'newsletter' });
    await network.arrive(this.phone, { kind: 'appdata' });
    this.counts.arrived += 6;
  }

  async #send(to: string, text: string): Promise<void> {
    const { status, data, error } = await sendText({ api: this.#api }, this.#shopId, { to, text });
    assert.equal(status, 202, JSON.stringify(error));
    await untilStatus({ api: this.#api }, String(data.id), 'sent');
    this.#texts.set(to, [...(this.#texts.get(to) ?? []), text]);
    this.counts.sent += 1;
  }

  async #post(day: number): Promise<void> {
    const to = this.#group;
    const { status, data, error } = await sendText({ api: this.#api }, this.#shopId, {
      to,
      text: `News of day ${day}`,
    });
    assert.equal(status, 202, JSON.stringify(error));
    await untilStatus({ api: this.#api }, String(data.id), 'sent');
    this.counts.posts += 1;
    const posted = await this.#api.post(`/shops/${this.#shopId}/statuses`, {
      caption: `Status of day ${day}`,
    });
    assert.equal(posted.status, 202, JSON.stringify(posted.error));
    await untilStatus({ api: this.#api }, String(posted.data.id), 'sent');
    this.counts.statuses += 1;
  }

  async #stop(day: number, when: string): Promise<void> {
    const by = stranger(this.#index, day, when);
    await this.#world.network.write(by, { to: this.phone, text: 'STOP' });
    await this.#optedOut(by);
  }

  async #optedOut(to: string): Promise<void> {
    await until(`the STOP of ${to} is heard`, async () => {
      const { data } = await this.#api.get(`/shops/${this.#shopId}/policy?to=${encodeURIComponent(to)}`);
      return data.code === 'RECIPIENT_OPTED_OUT';
    });
    this.counts.stops += 1;
  }

  /** Two phones are off; one comes back within the week for which texts are kept, one after it, and neither can read. */
  async #retries(day: number): Promise<void> {
    const { network } = this.#world;
    const [soon, late] = [this.#customer(SOON), this.#customer(LATE)] as const;
    if (day === RETRIES.off) {
      for (const phone of [soon, late]) await network.setHandset(phone, false);
      await this.#send(soon, 'Read within a week');
      await this.#send(late, 'Not read within a week');
      this.#unread = 'Not read within a week';
      this.#texts.set(late, this.#texts.get(late)?.filter((text) => text !== this.#unread) ?? []);
    } else if (day === RETRIES.within || day === RETRIES.after) {
      const phone = day === RETRIES.within ? soon : late;
      await network.fault(this.phone, 'unreadable', 1);
      await network.setHandset(phone, true);
      await network.fault(this.phone, 'unreadable', 0);
    }
  }
}

/** Somebody who writes to the shop on that day alone. */
function stranger(shop: number, day: number, when: string): string {
  return `+3369${when === 'day' ? 1 : 2}${String(shop).padStart(2, '0')}${String(day).padStart(4, '0')}`;
}
