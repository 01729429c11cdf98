import { Redis } from 'ioredis';
import type { Random } from '../../runtime/random.ts';
import type { ApiAnswer, ApiClient } from '../e2e/api-client.ts';
import type { Fleet } from '../e2e/fleet.ts';
import { sendText } from '../e2e/shop-steps.ts';
import { until } from '../e2e/waiting.ts';
import { connectAtLast } from './connect-at-last.ts';
import { pause, pickOne } from './faults.ts';
import type { History } from './history.ts';

/** A tenant whose callers act, and what they need. */
export interface Tenant {
  readonly id: string;
  readonly api: ApiClient;
  readonly fleet: Fleet;
  readonly history: History;
  readonly random: Random;
  nextPhone(): string;
  nextName(): string;
}

/** A connected shop in its life. */
export interface Shop {
  readonly id: string;
  readonly phone: string;
  readonly customers: string[];
  /** Those whose STOP was acknowledged. */
  readonly stopped: Set<string>;
  readonly messages: {
    readonly id: string;
    readonly key: string;
    readonly to: string;
    readonly text: string;
  }[];
}

/** More than a young number may write to within an hour, so that the cap is reached. */
const CUSTOMERS = 14;
const STEPS = 24;
/** How long a caller thinks at most between two steps. */
const THINKS_MS = 400;

/**
 * One shop from its creation: callers send, repeat, and read; customers write STOP; operators pause and resume. In the end
 * its messages are followed to their ends, and half of the shops are erased, some of them with messages waiting.
 * Returns the shop, whose handsets are still to be looked at.
 */
export async function liveShop(tenant: Tenant): Promise<Shop> {
  const { random } = tenant;
  const shop = await openShop(tenant);
  const steps = [send, send, send, sendTwice, repeat, stop, pauseAndResume, askAfterStop];
  for (let step = 0; step < STEPS; step += 1) {
    await pickOne(steps, random)(tenant, shop);
    await pause(random() * THINKS_MS);
  }
  const hastens = random() < 0.25;
  if (!hastens) await Promise.all(shop.messages.map((message) => followMessage(tenant, shop, message.id)));
  if (hastens || random() < 0.5) await eraseShop(tenant, shop);
  return shop;
}

async function openShop({ id: tenantId, api, fleet, history, nextPhone, nextName }: Tenant): Promise<Shop> {
  const phone = nextPhone();
  const customers = Array.from({ length: CUSTOMERS }, nextPhone);
  // An answer that was cut off is asked for again, and makes another shop of that name.
  const made = await fleet.admin.post(`/tenants/${tenantId}/shops`, { name: nextName() });
  if (made.status !== 201) throw new Error(`a new shop was answered ${made.status} ${made.error?.code}`);
  const id = String(made.data.id);
  await fleet.admin.post(`/tenants/${tenantId}/customers`, { phones: customers });
  await connectAtLast({
    surroundings: { api, network: fleet.network },
    ...{ fleet, history, tenant: tenantId, shop: id, phone },
  });
  history.add({ kind: 'connected', shop: id, phone });
  return { id, phone, customers, stopped: new Set(), messages: [] };
}

async function send(tenant: Tenant, shop: Shop): Promise<void> {
  const fresh = shop.customers.filter((to) => !shop.messages.some((message) => message.to === to));
  const to = pickOne(fresh.length > 0 ? fresh : shop.customers, tenant.random);
  const key = tenant.nextName();
  note(tenant, shop, { to, text: key, key }, await ask(tenant, shop, { to, text: key, key }));
}

/** Two callers send the same at once, each through another node. */
async function sendTwice(tenant: Tenant, shop: Shop): Promise<void> {
  const key = tenant.nextName();
  const message = { to: pickOne(shop.customers, tenant.random), text: key, key };
  const answers = await Promise.all([ask(tenant, shop, message), ask(tenant, shop, message)]);
  for (const answer of answers) note(tenant, shop, message, answer);
}

async function repeat(tenant: Tenant, shop: Shop): Promise<void> {
  if (shop.messages.length === 0) return;
  const message = pickOne(shop.messages, tenant.random);
  const answer = await ask(tenant, shop, message);
  note(tenant, shop, message, answer);
  const { error } = answer;
  if (error !== undefined)
    tenant.history.add({ kind: 'repeat_refused', shop: shop.id, id: message.id, code: error.code });
}

function ask({ api }: Tenant, { id }: Shop, { to, text, key }: { to: string; text: string; key: string }) {
  return sendText({ api }, id, { to, text, idempotencyKey: key });
}

/** Statuses of an answer that says nothing about the message: the shop is reconnecting, or a limit is reached. */
const REFUSALS: ReadonlySet<number> = new Set([409, 422, 429]);

function note(
  { history }: Tenant,
  shop: Shop,
  message: { readonly to: string; readonly text: string; readonly key: string },
  { status, data, error }: ApiAnswer,
): void {
  const { to, text, key } = message;
  if (status === 202 || status === 200) {
    const id = String(data.id);
    history.add({ kind: 'accepted', shop: shop.id, text, key, id, to });
    if (!shop.messages.some((known) => known.key === key)) shop.messages.push({ id, key, to, text });
  } else if (REFUSALS.has(status)) {
    history.add({ kind: 'refused', shop: shop.id, text, to, code: error?.code ?? '' });
  } else throw new Error(`a send was answered ${status} ${JSON.stringify(error)}`);
}

/** A customer writes STOP. It counts once the phone has the receipt. */
async function stop({ fleet, history, random }: Tenant, shop: Shop): Promise<void> {
  const by = pickOne(shop.customers, random);
  const { delivered } = await fleet.network.write(by, { to: shop.phone, text: 'STOP', wait: true });
  if (!delivered || shop.stopped.has(by)) return;
  history.add({ kind: 'stopped', shop: shop.id, by });
  shop.stopped.add(by);
}

async function askAfterStop(tenant: Tenant, shop: Shop): Promise<void> {
  if (shop.stopped.size === 0) return;
  const to = pickOne([...shop.stopped], tenant.random);
  const key = tenant.nextName();
  const { error, status } = await ask(tenant, shop, { to, text: key, key });
  const code = status === 202 ? 'ACCEPTED' : (error?.code ?? '');
  tenant.history.add({ kind: 'answered_after_stop', shop: shop.id, to, code });
}

/** An operator pauses the shop, which recalls what has not left, and lets it go on. */
async function pauseAndResume({ id, fleet, random }: Tenant, shop: Shop): Promise<void> {
  await fleet.admin.post(`/actors/${id}/${shop.id}/pause`, {});
  await pause(random() * 500);
  await fleet.admin.post(`/actors/${id}/${shop.id}/resume`, {});
}

async function followMessage({ api, history }: Tenant, shop: Shop, id: string): Promise<void> {
  const record = await until(
    `message ${id} ends`,
    async () => {
      const { data } = await api.get(`/messages/${id}`);
      return ['sent', 'failed', 'rejected'].includes(String(data.status)) && data;
    },
    { withinMs: 180_000, everyMs: 200 },
  );
  history.add({
    kind: 'ended',
    shop: shop.id,
    id,
    status: String(record.status),
    reason: String(record.reason),
  });
}

/** Writes down what the handsets of a shop's customers have. */
export async function lookAtHandsets({ fleet, history }: Tenant, shop: Shop): Promise<void> {
  for (const to of shop.customers) {
    const { items } = await fleet.network.inbox(to);
    for (const { text, from, at } of items)
      if (from === shop.phone) history.add({ kind: 'delivered', from, text: text ?? '', to }, Date.parse(at));
  }
}

async function eraseShop({ id, api, fleet, history }: Tenant, shop: Shop): Promise<void> {
  const { status: answered } = await fleet.admin.delete(`/tenants/${id}/shops/${shop.id}`);
  // Where an answer was cut off the erasure may be over when it is asked for again.
  if (![200, 202, 404].includes(answered)) throw new Error(`an erasure was answered ${answered}`);
  await until(
    'the erasure is over',
    async () => (await fleet.admin.get(`/tenants/${id}/erasure`)).status === 404,
    { withinMs: 180_000, everyMs: 200 },
  );
  history.add({ kind: 'erased', shop: shop.id });
  for (const message of shop.messages.slice(0, 3)) {
    const { status } = await api.get(`/messages/${message.id}`);
    if (status !== 404)
      history.add({ kind: 'left_after_erasure', shop: shop.id, what: `${message.id}: ${status}` });
  }
}

/** Writes down every key of Redis that still names an erased shop. */
export async function lookForErased(fleet: Fleet, history: History): Promise<void> {
  const redis = new Redis(fleet.pair?.master().socketPath ?? '');
  try {
    const keys = await redis.keys('*');
    for (const { shop } of history.of('erased')) {
      for (const key of keys.filter((name) => name.includes(shop)))
        history.add({ kind: 'left_after_erasure', shop, what: key });
    }
  } finally {
    redis.disconnect();
  }
}
