import { ask, type Draft, freshDraft, note, type Shop, type Tenant } from './shop.ts';

/**
 * An operator pauses the shop, and lets it continue after `meanwhile`. Until then a message waits that was accepted in
 * the pause.
 */
export async function holdMessage(
  tenant: Tenant,
  shop: Shop,
  meanwhile: (heldDraft: Draft) => Promise<void>,
): Promise<void> {
  const { id, fleet } = tenant;
  const actor = `/actors/${id}/${shop.id}`;
  const { status } = await fleet.admin.post(`${actor}/pause`, {});
  if (status >= 300) throw new Error(`a pause was answered ${status}`);
  try {
    const draft = freshDraft(tenant, shop);
    note(tenant, shop, draft, await ask(tenant, shop, draft));
    await meanwhile(draft);
  } finally {
    await fleet.admin.post(`${actor}/resume`, {});
  }
}
