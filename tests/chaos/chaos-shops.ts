import { MINUTE_MS } from '../../runtime/durations.ts';
import { makeAccount } from '../e2e/stack/account.ts';
import type { ApiClient } from '../e2e/stack/api-client.ts';
import type { Fleet } from '../e2e/stack/fleet.ts';
import { connectShop, untilConnected } from '../e2e/stack/shop-steps.ts';

/** A connected shop, and numbers that are its tenant's customers. */
export interface ChaosShop {
  readonly id: string;
  readonly tenantId: string;
  readonly apiKey: string;
  readonly phone: string;
  /** Asks one node after the other, and again if none answers. */
  readonly api: ApiClient;
  /** Customers who got nothing yet. A sender removes those that it uses. */
  readonly freshRecipients: string[];
}

const MESSAGES_PER_HOUR = 10;

let lastNumber = 0;
/** A number that was not given out before. */
export function nextPhone(): string {
  lastNumber += 1;
  return `+3366${String(lastNumber).padStart(7, '0')}`;
}

/**
 * Makes tenants with a connected shop each. Each has as many customers as a young number may write to within an hour
 * (docs/contract.md, Send policy). Their ids are random, so they lie on shards of all nodes.
 */
export async function openShops(fleet: Fleet, count: number): Promise<ChaosShop[]> {
  const shops: ChaosShop[] = [];
  for (let index = 0; index < count; index += 1) {
    const account = await makeAccount(fleet.admin, `Tenant ${index}`);
    const freshRecipients = Array.from({ length: MESSAGES_PER_HOUR }, nextPhone);
    await fleet.admin.post(`/tenants/${account.tenantId}/customers`, { phones: freshRecipients });
    const shop = {
      id: account.shopId,
      tenantId: account.tenantId,
      apiKey: account.apiKey,
      phone: nextPhone(),
      api: fleet.api(account.apiKey),
      freshRecipients,
    };
    await connectShop({ api: shop.api, network: fleet.network }, shop.id, shop.phone);
    shops.push(shop);
  }
  return shops;
}

/** Waits until each shop reports that it is connected. */
export async function allConnected(shops: readonly ChaosShop[], withinMs = MINUTE_MS): Promise<void> {
  await Promise.all(shops.map((shop) => untilConnected(shop, shop.id, { withinMs })));
}
