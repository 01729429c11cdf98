import type { Call } from '../load/http-calls.ts';
import { type LiveShop, type LiveSide, startLiveSide } from './live-side.ts';

const SHOPS_PER_TENANT = 10;
const CUSTOMERS = 200;

/** Links and connects this number of shops, `atOnce` at a time; their customers are known recipients. */
export async function liveShops(
  side: LiveSide,
  count: number,
  atOnce?: number,
): Promise<readonly LiveShop[]> {
  const shops = await unlinkedShops(side, count);
  await side.connect(shops, atOnce === undefined ? {} : { atOnce });
  return shops;
}

/** Makes this number of shops with known recipients. None of them has a session. */
export async function unlinkedShops(side: LiveSide, count: number): Promise<readonly LiveShop[]> {
  const fleet = await side.makeFleet({
    tenants: Math.ceil(count / SHOPS_PER_TENANT),
    shopsPerTenant: Math.min(count, SHOPS_PER_TENANT),
    customers: CUSTOMERS,
    isConnected: false,
    isPaused: false,
  });
  return fleet.shops.slice(0, count).map((shop, index) => ({ ...shop, phone: ownerPhone(index) }));
}

/** Runs `measure` on a new side and always stops it. */
export async function onLiveSide(
  options: Parameters<typeof startLiveSide>[0],
  measure: (side: LiveSide) => Promise<void>,
): Promise<void> {
  const side = await startLiveSide(options);
  try {
    await measure(side);
  } finally {
    await side.stop();
  }
}

/**
 * Returns the next message of the shops in rotation, each with its own text and to another customer than the shop's
 * last.
 */
export function orderText(shops: readonly LiveShop[], turn: number, text = textOf(turn)): Call {
  const { id, key } = shops[turn % shops.length] as LiveShop;
  const body = { channel: 'msgapp', to: recipientOf(shops, turn), text };
  return { method: 'POST', path: `/api/v1/shops/${id}/messages`, token: key, body };
}

/** Returns the recipient of a message by its number in the rotation. */
export function recipientOf(shops: readonly LiveShop[], turn: number): string {
  return customer((turn % shops.length) + Math.floor(turn / shops.length));
}

/** Returns the text of a message by its number in the rotation. */
export function textOf(turn: number): string {
  return `Your order ${turn} waits at the counter.`;
}

/** Returns the numbers that every tenant of a bench has as customers. */
export function customers(): string[] {
  return Array.from({ length: CUSTOMERS }, (_, index) => customer(index));
}

/** Returns the number of the phone that a session is linked to. */
export function ownerPhone(index: number): string {
  return `+3361${String(index).padStart(7, '0')}`;
}

/** Returns the number of a customer by its place in the rotation. */
export function customer(index: number): string {
  return `+4179${1_000_000 + (index % CUSTOMERS)}`;
}
