import { writeTo } from './customer-steps.ts';
import { untilErased } from './erasures.ts';
import type { Shop, Tenant } from './shop.ts';

/** A stranger writes once, and an operator erases them, unless the receipt comes too late. */
export async function erasePerson(tenant: Tenant, shop: Shop): Promise<void> {
  const { history, nextPhone, nextName } = tenant;
  const sender = nextPhone();
  const text = nextName();
  shop.visitors.push(sender);
  const wroteMs = Date.now();
  const isReceipted = await writeTo(tenant, shop, { by: sender, text }, () => {
    history.add({ kind: 'wrote', shop: shop.id, text, by: sender, receiptedMs: Date.now() }, wroteMs);
  });
  // Until the end of this step nobody answers them: a message to them would keep their number.
  if (isReceipted) await erase(tenant, shop, { by: sender, text });
}

interface Inbound {
  readonly id: string;
  readonly text: string;
  readonly fromId: string;
}

async function erase(
  { id: tenantId, api, fleet, history }: Tenant,
  shop: Shop,
  { by, text }: { readonly by: string; readonly text: string },
): Promise<void> {
  const list = async (): Promise<Inbound[]> =>
    (await api.get(`/shops/${shop.id}/inbound?limit=100`)).data.items as Inbound[];
  const writtenInbound = (await list()).find((message) => message.text === text);
  if (writtenInbound === undefined) throw new Error(`${text} has a receipt and is not in the list`);
  const { id, fromId: person } = writtenInbound;
  const { status: answered } = await fleet.admin.delete(`/tenants/${tenantId}/people/${person}`);
  // If an answer was cut off, the erasure may be over when it is asked for again.
  if (![200, 202, 404].includes(answered)) throw new Error(`an erasure was answered ${answered}`);
  await untilErased(fleet, tenantId, person);
  history.add({ kind: 'erased_person', tenant: tenantId, person, by, text });
  const left = (remainder: string): void =>
    history.add({ kind: 'left_after_erasure', of: 'person', name: person, what: remainder });
  const { status } = await api.get(`/inbound/${id}`);
  if (status !== 404) left(`${id}: ${status}`);
  if ((await list()).some((message) => message.fromId === person)) left(`${id} is in the list`);
}
