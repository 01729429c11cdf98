import { pause, until } from '../testbed/waiting.ts';
import type { Endpoint } from './endpoints.ts';
import { holdMessage } from './held-message.ts';
import type { Shop, Tenant } from './shop.ts';

/** Makes keys and revokes them; a revoked one is tried on every node. */
export async function revokeKeys(
  { id, fleet, history, random, nextName }: Tenant,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const createdAnswer = await fleet.admin.post(`/tenants/${id}/keys`, {
      name: nextName(),
      permissions: [],
    });
    const key = String(createdAnswer.data.key);
    await fleet.api(key).get('/me');
    await fleet.admin.delete(`/tenants/${id}/keys/${String(createdAnswer.data.id)}`);
    history.add({ kind: 'revoked', key: String(createdAnswer.data.id) });
    for (const node of fleet.nodes) {
      const answer = await node
        .api(key)
        .get('/me')
        .catch(() => undefined);
      // A node that is away, or that cannot ask, proves nothing about the key.
      if (answer === undefined || answer.status === 503) continue;
      const code = answer.error?.code ?? 'OK';
      const asked = { key: String(createdAnswer.data.id), status: answer.status, code };
      history.add({ kind: 'answered_after_revocation', ...asked });
    }
    await pause(random() * 2_000);
  }
}

/** How long `suspendAtTimes` suspends at most: longer than what was on its way takes to arrive. */
const SUSPENDED_MS = 8_000;

/** An operator suspends the tenant now and then, and lets it go on. */
export async function suspendAtTimes(tenant: Tenant, signal: AbortSignal): Promise<void> {
  const { random } = tenant;
  while (!signal.aborted) {
    await pause(10_000 + random() * 20_000);
    if (signal.aborted) return;
    await tenant.oneAtATime(() => suspend(tenant, {}, () => pause(random() * SUSPENDED_MS)));
  }
}

/** How long a tenant is suspended at least while a message waits. */
const MEANWHILE_MS = 1_500;
/** How long at most a suspension waits for a shop that is sending, or that is not connected. */
const RESTS_MS = 30_000;

/**
 * A message waits, since one operator paused the shop, when another suspends the tenant. Then the shop may go on. The
 * suspension lasts until the shop has nothing in progress, so a shop that sends during it has sent the message by then.
 */
export async function suspendWhileHeld(tenant: Tenant, shop: Shop): Promise<void> {
  const { id, fleet } = tenant;
  await holdMessage(tenant, shop, ({ text }) =>
    tenant.oneAtATime(() =>
      suspend(tenant, { held: text }, async () => {
        await fleet.admin.post(`/actors/${id}/${shop.id}/resume`, {});
        await pause(MEANWHILE_MS);
        await untilItRests(tenant, shop);
      }),
    ),
  );
}

/** Waits until a shop is connected and has no message in progress, or for half a minute. */
async function untilItRests({ id, fleet }: Tenant, shop: Shop): Promise<void> {
  const rests = async (): Promise<boolean> => {
    const { data } = await fleet.admin.get(`/actors/${id}/${shop.id}`);
    const details = data.details as {
      readonly status: string;
      readonly pacing: { readonly state: string };
    } | null;
    return details?.status === 'connected' && details.pacing.state === 'idle';
  };
  await until('the shop rests', rests, { withinMs: RESTS_MS, everyMs: 100 }).catch(() => undefined);
}

async function suspend(
  { id, fleet, history }: Tenant,
  held: { readonly held?: string },
  meanwhile: () => Promise<void>,
): Promise<void> {
  const { status } = await fleet.admin.patch(`/tenants/${id}`, { active: false });
  if (status >= 300) throw new Error(`a suspension was answered ${status}`);
  history.add({ kind: 'suspended', tenant: id, on: true, ...held });
  try {
    await meanwhile();
  } finally {
    history.add({ kind: 'suspended', tenant: id, on: false });
    await fleet.admin.patch(`/tenants/${id}`, { active: true });
  }
}

/** An operator gives the tenant's webhook another address, or disables it for a while. */
export async function changeWebhook(
  { id, fleet, random }: Tenant,
  endpoint: Endpoint,
  webhook: string,
  signal: AbortSignal,
): Promise<void> {
  const path = `/tenants/${id}/webhooks/${webhook}`;
  for (let move = 1; !signal.aborted; move += 1) {
    await pause(2_000 + random() * 8_000);
    if (random() < 0.5) {
      await fleet.admin.patch(path, { url: endpoint.address(id, move) });
    } else {
      await fleet.admin.patch(path, { disabled: true });
      await pause(random() * 3_000);
      await fleet.admin.patch(path, { disabled: false });
    }
  }
}
