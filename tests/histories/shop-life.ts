import { MINUTE_MS } from '../../runtime/durations.ts';
import { pause, until } from '../testbed/waiting.ts';
import { connectAtLast } from './connect-at-last.ts';
import { reply, stop, stopWhileHeld, write } from './customer-steps.ts';
import { untilErased } from './erasures.ts';
import { pickOne } from './faults.ts';
import { erasePerson } from './person-steps.ts';
import * as queue from './queue-steps.ts';
import { askAfterStop, postToGroup, repeat, send, sendAgain, sendToAll, sendTwice } from './send-steps.ts';
import type { Shop, Step, Tenant } from './shop.ts';
import { suspendWhileHeld } from './tenant-life.ts';

/** More than a young number may write to within an hour. */
const CUSTOMERS = 14;
const STEPS = 24;
/** How long a caller thinks at most between two steps. */
const THINKS_MS = 400;

/** The steps of a shop. A step that is here twice happens twice as often. */
const steps: readonly Step[] = [
  ...[send, send, send, sendAgain, sendTwice, repeat, postToGroup, askAfterStop],
  ...[write, write, reply, stop, stopWhileHeld, erasePerson],
  ...[queue.pauseAndResume, queue.cancelOne, queue.cancelQueue, suspendWhileHeld],
  ...[queue.schedule, queue.schedule, queue.cancelScheduled, queue.startBatch],
];

/** The end of a shop's life. An erased shop may have had messages waiting. */
export type ShopEnd = 'kept' | 'erased';

/**
 * One shop from its creation: its first message waits while the tenant is suspended. Then callers send, repeat,
 * schedule, cancel and read; customers write, and some STOP; operators pause, resume and erase people. Half of the
 * shops write to each customer at last. Then messages are followed to their ends. Without a given end half of the shops
 * are erased. Some are erased with messages waiting. Returns the shop, whose handsets are still to be looked at.
 */
export async function liveShop(tenant: Tenant, givenEnd?: ShopEnd): Promise<Shop> {
  const { random } = tenant;
  const shop = await openShop(tenant);
  // A later step may find the caps of the number reached.
  await suspendWhileHeld(tenant, shop);
  await act(tenant, shop, STEPS);
  if (random() < 0.5) await sendToAll(tenant, shop);
  const end = givenEnd ?? (random() < 0.5 ? 'erased' : 'kept');
  const hastens = end === 'erased' && random() < 0.5;
  if (!hastens) {
    await queue.endScheduled(tenant, shop);
    await queue.endBatches(tenant, shop);
    await Promise.all(shop.messages.map((message) => followMessage(tenant, shop, message.id)));
  }
  await Promise.all(shop.awaited);
  if (end === 'erased') await eraseShop(tenant, shop);
  return shop;
}

/** A number of steps at random in the life of a shop. */
export async function act(tenant: Tenant, shop: Shop, count: number): Promise<void> {
  const { random } = tenant;
  for (let step = 0; step < count; step += 1) {
    await pickOne(steps, random)(tenant, shop);
    await pause(random() * THINKS_MS);
  }
}

/** Makes a shop with customers and a group, and connects it. */
export async function openShop({
  id: tenantId,
  api,
  fleet,
  history,
  nextPhone,
  nextName,
}: Tenant): Promise<Shop> {
  const phone = nextPhone();
  const customers = Array.from({ length: CUSTOMERS }, nextPhone);
  // An answer that was cut off is asked for again, and makes another shop of that name.
  const createdAnswer = await fleet.admin.post(`/tenants/${tenantId}/shops`, { name: nextName() });
  if (createdAnswer.status !== 201)
    throw new Error(`a new shop was answered ${createdAnswer.status} ${createdAnswer.error?.code}`);
  const id = String(createdAnswer.data.id);
  await fleet.admin.post(`/tenants/${tenantId}/customers`, { phones: customers });
  await connectAtLast({
    surroundings: { api, network: fleet.network },
    fleet,
    history,
    tenant: tenantId,
    shop: id,
    phone,
  });
  history.add({ kind: 'connected', tenant: tenantId, shop: id, phone });
  const group = `120363${phone.slice(1)}@g.us`;
  const participants = [phone, ...customers.slice(0, 2)];
  await fleet.network.setGroup(group, { name: 'Regulars', participants, admins: [phone] });
  const lists = { messages: [], scheduled: [], batches: [], awaited: [] };
  return { id, phone, group, customers, visitors: [], silent: new Set(), stopped: new Set(), ...lists };
}

/** Follows a message to its end. If the end is not seen in time the history has none, and the checker reports it. */
async function followMessage({ api, history }: Tenant, shop: Shop, id: string): Promise<void> {
  const record = await until(
    `message ${id} ends`,
    async () => {
      const { data } = await api.get(`/messages/${id}`);
      return ['sent', 'failed', 'rejected'].includes(String(data.status)) && data;
    },
    { withinMs: 3 * MINUTE_MS, everyMs: 200 },
  ).catch(() => undefined);
  if (record === undefined) return;
  const { to, reason, createdAt } = record;
  if (shop.customers.includes(String(to)) && reason !== 'CANCELLED')
    history.add({ kind: 'made', shop: shop.id, id, to: String(to) }, Date.parse(String(createdAt)));
  history.add({
    kind: 'ended',
    shop: shop.id,
    id,
    status: String(record.status),
    reason: String(reason),
  });
}

/** Writes down what the handsets of a shop's customers and visitors have. */
export async function lookAtHandsets({ fleet, history }: Tenant, shop: Shop): Promise<void> {
  for (const to of [...shop.customers, ...shop.visitors]) {
    const { items } = await fleet.network.inbox(to, { limit: 100 });
    for (const { text, from, at, group } of items) {
      if (from === shop.phone)
        history.add({ kind: 'delivered', from, text: text ?? '', to, group }, Date.parse(at));
    }
  }
}

async function eraseShop({ id, api, fleet, history }: Tenant, shop: Shop): Promise<void> {
  const { status: answered } = await fleet.admin.delete(`/tenants/${id}/shops/${shop.id}`);
  // If an answer was cut off, the erasure may be over when it is asked for again.
  if (![200, 202, 404].includes(answered)) throw new Error(`an erasure was answered ${answered}`);
  await untilErased(fleet, id, shop.id);
  history.add({ kind: 'erased', shop: shop.id });
  for (const message of shop.messages.slice(0, 3)) {
    const { status } = await api.get(`/messages/${message.id}`);
    if (status !== 404) {
      history.add({
        kind: 'left_after_erasure',
        of: 'shop',
        name: shop.id,
        what: `${message.id}: ${status}`,
      });
    }
  }
}
