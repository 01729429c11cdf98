import { pickOne } from './faults.ts';
import { ask, freshDraft, note, type Shop, secondDraft, type Tenant } from './shop.ts';

/** A caller sends to one customer. */
export async function send(tenant: Tenant, shop: Shop): Promise<void> {
  const draft = freshDraft(tenant, shop);
  note(tenant, shop, draft, await ask(tenant, shop, draft));
}

/** A caller sends to each customer, so that the shop reaches the cap of an hour. */
export async function sendToAll(tenant: Tenant, shop: Shop): Promise<void> {
  for (const to of shop.customers) {
    const text = tenant.nextName();
    const draft = { to, text, key: text };
    note(tenant, shop, draft, await ask(tenant, shop, draft));
  }
}

/** A caller sends to a customer who has a message: too soon, unless they wrote. */
export async function sendAgain(tenant: Tenant, shop: Shop): Promise<void> {
  const draft = secondDraft(tenant, shop);
  note(tenant, shop, draft, await ask(tenant, shop, draft));
}

/** Two callers send the same at once, each through another node. */
export async function sendTwice(tenant: Tenant, shop: Shop): Promise<void> {
  const text = tenant.nextName();
  const draft = { to: pickOne(shop.customers, tenant.random), text, key: text };
  const answers = await Promise.all([ask(tenant, shop, draft), ask(tenant, shop, draft)]);
  for (const answer of answers) note(tenant, shop, draft, answer);
}

/** A caller asks again for what was accepted. */
export async function repeat(tenant: Tenant, shop: Shop): Promise<void> {
  if (shop.messages.length === 0) return;
  const message = pickOne(shop.messages, tenant.random);
  const answer = await ask(tenant, shop, message);
  note(tenant, shop, message, answer);
  const { error } = answer;
  if (error !== undefined)
    tenant.history.add({ kind: 'repeat_refused', shop: shop.id, id: message.id, code: error.code });
}

/** A caller posts to the shop's group. */
export async function postToGroup(tenant: Tenant, shop: Shop): Promise<void> {
  const text = tenant.nextName();
  const draft = { to: shop.group, text, key: text };
  note(tenant, shop, draft, await ask(tenant, shop, draft));
}

/** A caller writes to somebody whose STOP was acknowledged. */
export async function askAfterStop(tenant: Tenant, shop: Shop): Promise<void> {
  if (shop.stopped.size === 0) return;
  const to = pickOne([...shop.stopped], tenant.random);
  const text = tenant.nextName();
  const { error, status } = await ask(tenant, shop, { to, text, key: text });
  const code = status === 202 ? 'ACCEPTED' : (error?.code ?? '');
  tenant.history.add({ kind: 'answered_after_stop', shop: shop.id, to, code });
}
