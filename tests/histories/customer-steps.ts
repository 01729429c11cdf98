import { MINUTE_MS } from '../../runtime/durations.ts';
import { until } from '../testbed/waiting.ts';
import { pickOne } from './faults.ts';
import { holdMessage } from './held-message.ts';
import { note, type Shop, type Tenant } from './shop.ts';

/** Longer than several faults one after the other, and a login behind them. */
const RECEIPT_MS = 4 * MINUTE_MS;

/** A customer writes STOP. It counts once the phone has the receipt. */
export async function stop(tenant: Tenant, shop: Shop): Promise<void> {
  const sender = pickOne(shop.customers, tenant.random);
  if (shop.silent.has(sender)) return;
  shop.silent.add(sender);
  await writeTo(tenant, shop, { by: sender, text: 'STOP' }, () => {
    tenant.history.add({ kind: 'stopped', shop: shop.id, by: sender });
    shop.stopped.add(sender);
  });
}

/** A message waits, since an operator paused the shop, when its recipient writes STOP. */
export async function stopWhileHeld(tenant: Tenant, shop: Shop): Promise<void> {
  await holdMessage(tenant, shop, async ({ to: sender, text }) => {
    let isHeld = true;
    shop.silent.add(sender);
    await writeTo(tenant, shop, { by: sender, text: 'STOP' }, () => {
      tenant.history.add({ kind: 'stopped', shop: shop.id, by: sender, ...(isHeld ? { held: text } : {}) });
      shop.stopped.add(sender);
    });
    // A receipt that comes later comes while the message may be on its way.
    isHeld = false;
  });
}

/** A customer writes something. */
export async function write(tenant: Tenant, shop: Shop): Promise<void> {
  const talking = shop.customers.filter((phone) => !shop.silent.has(phone));
  if (talking.length === 0) return;
  const sender = pickOne(talking, tenant.random);
  const text = tenant.nextName();
  const wroteMs = Date.now();
  await writeTo(tenant, shop, { by: sender, text }, () =>
    tenant.history.add({ kind: 'wrote', shop: shop.id, text, by: sender, receiptedMs: Date.now() }, wroteMs),
  );
}

/** A caller answers the last thing that a customer wrote. */
export async function reply(tenant: Tenant, shop: Shop): Promise<void> {
  const { data } = await tenant.api.get(`/shops/${shop.id}/inbound?limit=1`);
  const [newest] = (data.items ?? []) as { readonly id: string; readonly from: string | null }[];
  if (newest === undefined || newest.from === null || shop.stopped.has(newest.from)) return;
  const text = tenant.nextName();
  const draft = { to: newest.from, text, key: text };
  const body = { text, idempotencyKey: text };
  note(tenant, shop, draft, await tenant.api.post(`/inbound/${newest.id}/reply`, body));
}

/**
 * A customer writes to the shop. Calls `receipted` once their phone has the receipt. If that is late, calls it once the
 * shop has the message. The shop's life waits for this at its end. Returns whether the receipt came at once.
 */
export async function writeTo(
  { api, fleet, history }: Tenant,
  shop: Shop,
  { by, text }: { readonly by: string; readonly text: string },
  receipted: () => void,
): Promise<boolean> {
  const { delivered } = await fleet.network.write(by, { to: shop.phone, text, wait: true });
  if (delivered) {
    receipted();
    return true;
  }
  const later = until(
    `what ${by} wrote has come`,
    async () => {
      // The network keeps it for a device that was linked by a scan which its node lost, and which never comes back.
      const { data } = await api.get(`/shops/${shop.id}/inbound?limit=100`);
      const items = data.items as { readonly from: string; readonly text: string }[] | undefined;
      return items?.some((message) => message.from === by && message.text === text);
    },
    { withinMs: RECEIPT_MS, everyMs: 500 },
  ).then(receipted, (error: Error) => history.add({ kind: 'gave_up', shop: shop.id, what: error.message }));
  shop.awaited.push(later);
  return false;
}
