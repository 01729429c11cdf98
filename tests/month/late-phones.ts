import assert from 'node:assert/strict';
import type { SimulatorControl } from '../testbed/simulator-control.ts';

/**
 * The days on which both phones are switched off, and on which each comes back. Every other shop is a day later. None
 * of them is in the restriction, when the network would refuse the answer to a retry in any case.
 */
const DAYS = { off: 3, within: 8, after: 13 } as const;

/**
 * Two customers whose phones are off for days, and cannot read what waited for them. One comes back within the week for
 * which texts are kept, and one after it.
 */
export class LatePhones {
  /** Requests of the phones for a text that they could not read. */
  retries = 0;
  readonly #network: SimulatorControl;
  readonly #shop: string;
  readonly #soon: string;
  readonly #late: string;
  readonly #offset: number;

  constructor(
    network: SimulatorControl,
    customers: {
      readonly shop: string;
      readonly soon: string;
      readonly late: string;
      readonly offset: number;
    },
  ) {
    this.#network = network;
    this.#shop = customers.shop;
    this.#soon = customers.soon;
    this.#late = customers.late;
    this.#offset = customers.offset;
  }

  async day(day: number, send: (to: string, text: string) => Promise<void>): Promise<void> {
    const own = day - this.#offset;
    if (own === DAYS.off) {
      for (const phone of [this.#soon, this.#late]) await this.#network.setHandset(phone, false);
      await send(this.#soon, 'Read within a week');
      await send(this.#late, 'Not read within a week');
    }
    if (own === DAYS.within) await this.#comesBack(this.#soon);
    if (own === DAYS.after) await this.#comesBack(this.#late);
  }

  async check(): Promise<void> {
    const expected = this.retries > 0 ? ['Read within a week'] : [];
    assert.deepEqual(await this.#texts(this.#soon), expected, 'a text was asked for within a week');
    assert.deepEqual(await this.#texts(this.#late), [], 'the text was kept for longer than a week');
  }

  async #comesBack(phone: string): Promise<void> {
    await this.#network.fault(this.#shop, 'unreadable', 1);
    await this.#network.setHandset(phone, true);
    await this.#network.fault(this.#shop, 'unreadable', 0);
    this.retries += 1;
  }

  async #texts(phone: string): Promise<(string | null)[]> {
    const { items } = await this.#network.inbox(phone);
    return items.map(({ text }) => text);
  }
}
