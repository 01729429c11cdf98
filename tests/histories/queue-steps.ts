import { pause } from '../testbed/waiting.ts';
import { pickOne } from './faults.ts';
import { accept, freshDraft, type Shop, type Tenant } from './shop.ts';

/** An operator pauses the shop, which recalls what has not left, and lets it go on. */
export async function pauseAndResume({ id, fleet, random }: Tenant, shop: Shop): Promise<void> {
  await fleet.admin.post(`/actors/${id}/${shop.id}/pause`, {});
  await pause(random() * 500);
  await fleet.admin.post(`/actors/${id}/${shop.id}/resume`, {});
}

/** A caller cancels a message, which may have left. Its end shows the result. */
export async function cancelOne({ api, random }: Tenant, shop: Shop): Promise<void> {
  const newestMessages = shop.messages.slice(-2);
  if (newestMessages.length > 0) await api.post(`/messages/${pickOne(newestMessages, random).id}/cancel`);
}

/** A caller cancels all that waits with a key that begins so. */
export async function cancelQueue({ api }: Tenant, shop: Shop): Promise<void> {
  const newestMessage = shop.messages.at(-1);
  if (newestMessage === undefined) return;
  await api.post(`/shops/${shop.id}/queue/cancel`, { idempotencyKeyPrefix: newestMessage.key.slice(0, -1) });
}

/** How far ahead a send is scheduled, in milliseconds: longer than what refuses a time that has passed. */
const AHEAD_MS = { least: 2_000, most: 12_000 };

/** A caller schedules a send. */
export async function schedule(tenant: Tenant, shop: Shop): Promise<void> {
  const { api, history, random } = tenant;
  const { to, text, key } = freshDraft(tenant, shop);
  const aheadMs = AHEAD_MS.least + random() * (AHEAD_MS.most - AHEAD_MS.least);
  const sendAt = new Date(Date.now() + aheadMs).toISOString();
  const body = { channel: 'msgapp', to, text, idempotencyKey: key, sendAt };
  const { status, data, error } = await api.post(`/shops/${shop.id}/scheduled`, body);
  if (status === 201 || status === 200) shop.scheduled.push({ id: String(data.id), to, text });
  else history.add({ kind: 'refused', shop: shop.id, text, to, code: error?.code ?? '' });
}

/** A caller takes back what is scheduled. */
export async function cancelScheduled({ api, history, random }: Tenant, shop: Shop): Promise<void> {
  if (shop.scheduled.length === 0) return;
  const send = pickOne(shop.scheduled, random);
  const { data } = await api.delete(`/shops/${shop.id}/scheduled/${send.id}`);
  if (data.status !== 'cancelled') return;
  history.add({ kind: 'cancelled', shop: shop.id, text: send.text });
  shop.scheduled.splice(shop.scheduled.indexOf(send), 1);
}

/** Recipients of a batch: few, since a young number may send ten messages an hour. */
const RECIPIENTS = 2;

/** A caller has one text sent to several. */
export async function startBatch(tenant: Tenant, shop: Shop): Promise<void> {
  const { api, nextName } = tenant;
  if (shop.batches.length > 0) return;
  const fresh = shop.customers.filter((to) => !shop.messages.some((message) => message.to === to));
  const texts = new Map(fresh.slice(0, RECIPIENTS).map((to) => [to, nextName()]));
  if (texts.size === 0) return;
  const name = nextName();
  const recipients = [...texts].map(([to, text]) => ({ to, fields: { name: text } }));
  const body = { name, text: '{{name}}', share: 0.9, recipients, idempotencyKey: name };
  const { status, data } = await api.post(`/shops/${shop.id}/batches`, body);
  if (status === 201 || status === 200) shop.batches.push({ id: String(data.id), texts });
}

/**
 * Cancels the sends that still wait, and records the result of each. A temporary refusal may otherwise keep a scheduled
 * send for an hour.
 */
export async function endScheduled({ api, history }: Tenant, shop: Shop): Promise<void> {
  for (const { id, to, text } of shop.scheduled) {
    const path = `/shops/${shop.id}/scheduled/${id}`;
    await api.delete(path);
    const { data } = await api.get(path);
    if (data.status === 'accepted')
      accept(history, shop, { id: String(data.messageId), key: text, to, text });
    else if (data.status === 'cancelled') history.add({ kind: 'cancelled', shop: shop.id, text });
    else if (data.status !== 'refused')
      history.add({ kind: 'gave_up', shop: shop.id, what: `the scheduled send ${id} is ${data.status}` });
  }
}

/** Ends the batches and writes down the messages that were made of them: no more are made afterwards. */
export async function endBatches({ api, history }: Tenant, shop: Shop): Promise<void> {
  for (const { id, texts } of shop.batches) {
    await api.post(`/shops/${shop.id}/batches/${id}/cancel`);
    const { data } = await api.get(`/shops/${shop.id}/messages?limit=100`);
    const items = data.items as { readonly id: string; readonly to: string; readonly batchId?: string }[];
    for (const message of items.filter(({ batchId }) => batchId === id)) {
      const key = `batch ${id} ${message.to}`;
      accept(history, shop, { id: message.id, key, to: message.to, text: texts.get(message.to) ?? '' });
    }
    const made = new Set(items.map(({ to, batchId }) => (batchId === id ? to : '')));
    for (const [to, text] of texts)
      if (!made.has(to)) history.add({ kind: 'cancelled', shop: shop.id, text });
  }
}
