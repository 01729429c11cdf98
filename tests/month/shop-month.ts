import assert from 'node:assert/strict';
import { makeAccount } from '../e2e/stack/account.ts';
import { connectShop } from '../e2e/stack/shop-steps.ts';
import { until } from '../testbed/waiting.ts';
import { LatePhones } from './late-phones.ts';
import { PATIENTLY, ShopCalls } from './shop-calls.ts';
import type { World } from './world.ts';

/** The number of contacts in the history of a phone, and of those who have a chat with it. */
const HISTORY = { mappings: 10_000, tokens: 1_000 };
/** The groups that the number is in, and the posts of other members on a day, which take turns in them. */
const GROUPS = 50;
const POSTS_OF_A_DAY = 10;
/** Stanzas that wait for a shop at the login after a deployment, and after a cut line: 1,000 with the STOP. */
const WAITING = {
  night: { statuses: 848, posts: 100, texts: 50 },
  // Fewer are written one by one: after some time the session would notice that the line is dead.
  cut: { statuses: 978, posts: 10, texts: 10 },
} as const;
/** The number of customers who get messages by turns. After them come two whose phones are switched off. */
const REGULARS = 10;
const SOON = REGULARS;
const LATE = REGULARS + 1;
const SENDS_A_DAY = 3;
/** Stanzas that come to an open shop in a night. */
const NIGHT = { statuses: 58, posts: 5, texts: 10 } as const;
/** Every so many days the network gives a customer another LID. */
const LID_CHANGE_DAYS = 4;
/** The day on which the network restricts the number, its length, and the days on which it is seen to be over. */
const RESTRICTION = { day: 10, endsInDays: 2, over: 13 } as const;
const DAY_SECONDS = 86_400;

/** The counts of a month. */
export interface Counts {
  sent: number;
  posts: number;
  statuses: number;
  stops: number;
  heard: number;
  /** Questions of a day without a receipt within the network's wait of some seconds. A busy machine makes them. */
  heardLate: number;
  arrived: number;
  groupPosts: number;
  newLids: number;
  restrictions: number;
  retries: number;
  /** Stanzas that waited at a login. */
  waited: number;
}

/** One shop through a month: what it sends, what people write to it, and what must be true of both. */
export class ShopMonth {
  readonly counts: Counts = {
    sent: 0,
    posts: 0,
    statuses: 0,
    stops: 0,
    heard: 0,
    heardLate: 0,
    arrived: 0,
    groupPosts: 0,
    newLids: 0,
    restrictions: 0,
    retries: 0,
    waited: 0,
  };
  readonly phone: string;
  readonly #world: World;
  readonly #index: number;
  readonly #calls: ShopCalls;
  readonly #latePhones: LatePhones;
  /** The texts that each number is to have once. */
  readonly #texts = new Map<string, string[]>();

  private constructor(world: World, index: number, calls: ShopCalls) {
    this.#world = world;
    this.#index = index;
    this.#calls = calls;
    this.phone = `+336110000${String(index).padStart(2, '0')}`;
    const [soon, late] = [this.#customer(SOON), this.#customer(LATE)] as const;
    this.#latePhones = new LatePhones(world.network, { shop: this.phone, soon, late, offset: index % 2 });
  }

  /** A tenant with a connected shop, its customers, the history of an old account, and groups that it administers. */
  static async begin(world: World, index: number): Promise<ShopMonth> {
    const { tenantId, shopId, apiKey } = await makeAccount(world.admin, `Tenant ${index}`);
    const api = world.api(apiKey);
    const shop = new ShopMonth(world, index, new ShopCalls(api, shopId));
    const phones = Array.from({ length: LATE + 1 }, (_, customer) => shop.#customer(customer));
    await world.admin.post(`/tenants/${tenantId}/customers`, { phones });
    await connectShop({ api, network: world.network }, shopId, shop.phone);
    for (let group = 0; group < GROUPS; group += 1) {
      await world.network.setGroup(shop.#group(group), {
        name: `Regulars ${group}`,
        participants: [shop.phone, ...phones.slice(0, 3)],
        admins: [shop.phone],
      });
    }
    const before = await world.storedKeys(shopId);
    await world.network.sendHistory(shop.phone, HISTORY);
    await until(
      'the history is stored',
      async () => (await world.storedKeys(shopId)) >= before + HISTORY.mappings,
      PATIENTLY,
    );
    return shop;
  }

  #group(group: number): string {
    return `1203630000${String(1_000 + this.#index)}${String(1_000 + (group % GROUPS))}@g.us`;
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
    this.counts.heard += 1;
    if (!delivered) this.counts.heardLate += 1;
    await this.#arrive();
    await this.#othersPost(day, POSTS_OF_A_DAY);
    if (day % LID_CHANGE_DAYS === 0 && !this.#isRestricted(day)) await this.#newLid(day);
    await this.#limits(day);
    for (let index = 0; index < SENDS_A_DAY; index += 1)
      await this.#send(this.#regular(day * SENDS_A_DAY + index), `Offer ${index} of day ${day}`);
    await this.#post(day);
    await this.#stop(day);
    await this.#latePhones.day(day, (to, text) => this.#calls.send(to, text));
    this.counts.retries = this.#latePhones.retries;
  }

  /** Writes the messages of a night. They wait for a shop that is away. */
  async night(day: number, isAway: boolean): Promise<void> {
    await this.#others(day, 'night', isAway ? WAITING.night : NIGHT);
    if (isAway) this.counts.waited += sumOf(WAITING.night);
  }

  /** Others write to the shop. `STOP` is the last of it. */
  async #others(
    day: number,
    moment: 'night' | 'cut',
    { statuses, posts, texts }: { readonly [kind in keyof typeof NIGHT]: number },
  ): Promise<void> {
    const { network } = this.#world;
    const from = this.#customer(0);
    await network.arrive(this.phone, { kind: 'status_message', from, readable: false });
    await network.arrive(this.phone, { kind: 'status', from, readable: false, count: statuses });
    this.counts.arrived += 1 + statuses;
    await this.#othersPost(day, posts);
    for (let index = 0; index < texts; index += 1) {
      const text = `${moment} ${index} of day ${day}`;
      await network.write(this.#regular(index), { to: this.phone, text, wait: false });
      this.counts.heard += 1;
    }
    await network.write(stranger(this.#index, day, moment), { to: this.phone, text: 'STOP', wait: false });
  }

  /** The STOP of the night is heard. */
  async morning(day: number): Promise<void> {
    await this.#calls.untilConnected();
    await this.#optedOut(stranger(this.#index, day, 'night'));
  }

  /** The line is dead, and then cut. The session comes back by itself, and hears the STOP behind all that waited. */
  async cut(day: number): Promise<void> {
    const before = this.#world.logins();
    await this.#world.network.fault(this.phone, 'deaf');
    await this.#others(day, 'cut', WAITING.cut);
    this.counts.waited += sumOf(WAITING.cut);
    await this.#world.network.fault(this.phone, 'drop');
    await until('the session is back', async () => this.#world.logins() > before, PATIENTLY);
    await this.#calls.untilConnected();
    await this.#optedOut(stranger(this.#index, day, 'cut'));
  }

  /** Resolves once the network waits for no answer of the shop. */
  async untilAnswered(): Promise<void> {
    const answered = async (): Promise<boolean> => {
      const { waiting, unacknowledged } = await this.#world.network.unanswered(this.phone);
      return waiting.length === 0 && unacknowledged.length === 0;
    };
    await until(`the network has all answers of ${this.phone}`, answered, PATIENTLY);
  }

  /** A STOP is heard, and a message is sent. Returns the milliseconds from the STOP to its receipt. */
  async stillWorks(): Promise<number> {
    const sender = stranger(this.#index, 0, 'day');
    const startedMs = performance.now();
    const { delivered } = await this.#world.network.write(sender, { to: this.phone, text: 'STOP' });
    const tookMs = performance.now() - startedMs;
    assert.equal(delivered, true, `${this.phone} does not hear a STOP`);
    await this.#optedOut(sender);
    await this.#send(this.#regular(0), 'The last offer');
    return tookMs;
  }

  /** Everything that was sent is on its phone, once. */
  async check(): Promise<void> {
    const { network } = this.#world;
    for (const [phone, expected] of this.#texts) {
      const { items } = await network.inbox(phone, { limit: 10_000 });
      const own = items
        .filter(({ from, group }) => from === this.phone && group === null)
        .map(({ text }) => text);
      assert.deepEqual(own.sort(), [...expected].sort(), `the inbox of ${phone}`);
    }
    await this.#latePhones.check();
    const posts = (await network.inbox(this.#customer(0), { limit: 10_000 })).items.filter(
      ({ group, from }) => group === this.#group(0) && from === this.phone,
    );
    assert.equal(posts.length, this.counts.posts, 'posts to the group');
    assert.equal(new Set(posts.map(({ text }) => text)).size, this.counts.posts, 'posts to the group');
    const statuses = (await network.statuses(this.phone, { limit: 10_000 })).items;
    const seen = statuses.filter(({ audience }) => audience.length > 0).map(({ text }) => text);
    assert.deepEqual([seen.length, new Set(seen).size], Array(2).fill(this.counts.statuses), 'statuses');
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

  /** Other members post in the groups, which take turns. */
  async #othersPost(day: number, posts: number): Promise<void> {
    const { network } = this.#world;
    for (let index = 0; index < posts; index += 1) {
      const to = this.#group(day * POSTS_OF_A_DAY + index);
      await network.write(this.#customer(index % 3), {
        to,
        text: `Post ${index} of day ${day}`,
        wait: false,
      });
    }
    this.counts.groupPosts += posts;
  }

  /** A customer who is written to today gets another LID. */
  async #newLid(day: number): Promise<void> {
    await this.#world.network.changeLid(this.#regular(day * SENDS_A_DAY));
    this.counts.newLids += 1;
  }

  #isRestricted(day: number): boolean {
    return day >= RESTRICTION.day && day < RESTRICTION.over;
  }

  /** The network restricts the number for some days. Strangers are then refused, and customers are written to. */
  async #limits(day: number): Promise<void> {
    const { network } = this.#world;
    if (day === RESTRICTION.day) {
      const endsInSeconds = RESTRICTION.endsInDays * DAY_SECONDS;
      await network.restrict(this.phone, { active: true, endsInSeconds });
      await this.#calls.untilRestricted(true);
      await this.#calls.refused(stranger(this.#index, day, 'cold'), 'COLD_RECIPIENT_CAP_REACHED');
      this.counts.restrictions += 1;
    } else if (day === RESTRICTION.over) {
      await network.restrict(this.phone, { active: false });
      await this.#calls.untilRestricted(false);
    }
  }

  async #send(to: string, text: string): Promise<void> {
    await this.#calls.send(to, text);
    this.#texts.set(to, [...(this.#texts.get(to) ?? []), text]);
    this.counts.sent += 1;
  }

  async #post(day: number): Promise<void> {
    await this.#calls.send(this.#group(0), `News of day ${day}`);
    this.counts.posts += 1;
    await this.#calls.postStatus(`Status of day ${day}`);
    this.counts.statuses += 1;
  }

  async #stop(day: number): Promise<void> {
    const sender = stranger(this.#index, day, 'day');
    await this.#world.network.write(sender, { to: this.phone, text: 'STOP' });
    await this.#optedOut(sender);
  }

  async #optedOut(to: string): Promise<void> {
    await this.#calls.untilOptedOut(to);
    this.counts.stops += 1;
  }
}

/** The occasions on which somebody new is met. */
const WHEN = ['day', 'night', 'cold', 'cut'] as const;

/** Somebody who is met on that day alone. */
function stranger(shop: number, day: number, moment: (typeof WHEN)[number]): string {
  return `+3369${WHEN.indexOf(moment)}${String(shop).padStart(2, '0')}${String(day).padStart(4, '0')}`;
}

/** The number of stanzas, with one status in its second form and the STOP. */
function sumOf({ statuses, posts, texts }: { readonly [kind in keyof typeof NIGHT]: number }): number {
  return statuses + posts + texts + 2;
}
