import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { MINUTE_MS } from '../../runtime/durations.ts';
import type { ApiAnswer, ApiClient } from '../e2e/stack/api-client.ts';
import { sendText } from '../e2e/stack/shop-steps.ts';
import { until } from '../testbed/waiting.ts';

/** How often something is asked for that another process does, and how long it may take on a busy machine. */
export const PATIENTLY = { everyMs: 300, withinMs: 5 * MINUTE_MS };

/** How often a call is made whose idle connection the service closed. */
const TRIES = 3;

/** The calls of a shop's program. Each resolves once it had the expected end. */
export class ShopCalls {
  readonly #api: ApiClient;
  readonly #shopId: string;

  constructor(api: ApiClient, shopId: string) {
    this.#api = api;
    this.#shopId = shopId;
  }

  async untilConnected(): Promise<void> {
    const isConnected = async (): Promise<boolean> =>
      (await this.#get('/channels/msgapp')).data.status === 'connected';
    await until('the shop is connected', isConnected, PATIENTLY);
  }

  async send(to: string, text: string): Promise<void> {
    const message = { to, text, idempotencyKey: randomUUID() };
    await this.#untilSent(await again(() => sendText({ api: this.#api }, this.#shopId, message)));
  }

  async postStatus(caption: string): Promise<void> {
    const key = { 'idempotency-key': randomUUID() };
    const post = () => this.#api.post(`/shops/${this.#shopId}/statuses`, { caption }, key);
    await this.#untilSent(await again(post));
  }

  /** A message to that number is refused at once. */
  async refused(to: string, code: string): Promise<void> {
    const { status, error } = await again(() =>
      sendText({ api: this.#api }, this.#shopId, { to, text: 'Hello' }),
    );
    assert.deepEqual([status, error?.code], [429, code]);
  }

  async untilOptedOut(to: string): Promise<void> {
    const isOut = async (): Promise<boolean> =>
      (await this.#get(`/policy?to=${encodeURIComponent(to)}`)).data.code === 'RECIPIENT_OPTED_OUT';
    await until(`the STOP of ${to} is heard`, isOut, PATIENTLY);
  }

  async untilRestricted(isRestricted: boolean): Promise<void> {
    const isSo = async (): Promise<boolean> => {
      const network = (await this.#get('/policy')).data.network as { readonly restriction: string | null };
      return (network.restriction !== null) === isRestricted;
    };
    await until(`the number is ${isRestricted ? '' : 'not '}restricted`, isSo, PATIENTLY);
  }

  #get(path: string): Promise<ApiAnswer> {
    return again(() => this.#api.get(`/shops/${this.#shopId}${path}`));
  }

  async #untilSent({ status, data, error }: ApiAnswer): Promise<void> {
    assert.equal(status, 202, JSON.stringify(error));
    const ended = await until(
      `message ${data.id} ends`,
      async () => {
        const { data: message } = await again(() => this.#api.get(`/messages/${data.id}`));
        return ['sent', 'failed', 'rejected'].includes(String(message.status)) && message;
      },
      PATIENTLY,
    );
    assert.deepEqual([ended.status, ended.reason], ['sent', null]);
  }
}

/**
 * Repeats a call whose connection was closed before the answer. The service closes idle connections, and this process
 * is at times too busy to notice before it calls again. A send carries an idempotency key, so it is accepted once.
 */
async function again(call: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof TypeError) || tries === TRIES) throw error;
    }
  }
}
