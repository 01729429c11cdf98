/**
 * `npm run screenshots`: the pictures in the README, of a real service with a little life in it. With `--smoke` those
 * of one window after ten seconds, in a folder that goes again: only to see that they can be made.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../runtime/clock.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import { type ServiceStack, startServiceStack } from '../e2e/stack/service-stack.ts';
import { connectShop, sendText } from '../e2e/stack/shop-steps.ts';
import { root } from '../testbed/root.ts';
import { pause } from '../testbed/waiting.ts';
import { type ConsoleSession, openConsole } from './console-session.ts';

const isSmoke = process.argv.includes('--smoke');
const FOLDER = isSmoke
  ? mkdtempSync(join(tmpdir(), 'screenshots-'))
  : join(root, 'tests/console/screenshots');
const SHOPS = [
  'Corner bakery',
  'Harbour café',
  'Old town florist',
  'Lighthouse books',
  'North pharmacy',
  'Mill cheese',
];
const CUSTOMERS = Array.from({ length: 60 }, (_, index) => `+3362222${1_000 + index}`);
const TRAFFIC_MS = isSmoke ? 10_000 : 100_000;

const phoneOf = (index: number): string => `+3361111000${index}`;

/**
 * Six shops: four connected, of which the network slows one and an operator holds one; one lost; one never connected.
 */
async function openShops(stack: ServiceStack): Promise<string[]> {
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones: CUSTOMERS });
  const shopIds = [stack.shopId];
  for (const name of SHOPS.slice(1)) {
    const shop = await stack.admin.post(`/tenants/${stack.tenantId}/shops`, { name });
    shopIds.push(String(shop.data.id));
  }
  for (const [index, shopId] of shopIds.slice(0, 5).entries())
    await connectShop(stack, shopId, phoneOf(index));
  return shopIds;
}

/** Makes a tenant's traffic in a minute and a half: reads, sends, and a few calls too many. */
async function traffic(stack: ServiceStack, shopIds: readonly string[]): Promise<void> {
  const endMs = performance.now() + TRAFFIC_MS;
  for (let round = 0; performance.now() < endMs; round += 1) {
    const shopId = shopIds[round % 4] ?? stack.shopId;
    const to = round % 23 === 7 ? '+33699999999' : (CUSTOMERS[round % CUSTOMERS.length] ?? '');
    if (round % 5 === 0) await sendText(stack, shopId, { to, text: `Order ${round} is ready` });
    if (round % 17 === 3) await stack.api.get('/shops/nowhere');
    const asking = 2 + Math.round(3 * (1 + Math.sin(round / 25)));
    await Promise.all(Array.from({ length: asking }, () => stack.api.get('/shops')));
    await pause(150);
  }
}

/** Makes a batch with parts, and two scheduled sends. */
async function planned(stack: ServiceStack): Promise<void> {
  const dateAfter = (days: number): string => new Date(systemClock.wallMs() + days * DAY_MS).toISOString();
  const path = `/shops/${stack.shopId}`;
  for (const [index, to] of CUSTOMERS.slice(0, 2).entries()) {
    await stack.api.post(`${path}/scheduled`, {
      channel: 'msgapp',
      to,
      text: 'See you',
      sendAt: dateAfter(index + 1),
    });
  }
  const batch = {
    name: 'Spring opening hours',
    text: 'Hello {{ name }}, we open at seven.',
    notBefore: dateAfter(1),
  };
  const recipients = CUSTOMERS.slice(0, 40).map((to) => ({ to, fields: { name: to } }));
  await stack.api.post(`${path}/batches`, { ...batch, recipients });
}

async function trouble(stack: ServiceStack, shopIds: readonly string[]): Promise<void> {
  const [, , slowed = '', held = '', lost = ''] = shopIds;
  await stack.network.ackErrors(phoneOf(2), 429);
  await sendText(stack, slowed, { to: CUSTOMERS[0] ?? '', text: 'Fresh tulips' });
  await stack.admin.post(`/actors/${stack.tenantId}/${held}/pause`, {});
  await stack.network.fault(phoneOf(4), 'logged_out');
  await stack.admin.get(`/actors/${stack.tenantId}/${lost}`);
}

type Shot = 'overview' | 'shops' | 'shop' | 'tenant' | 'requests' | 'audit' | 'dead-letters';

async function shots(
  session: ConsoleSession,
  stack: ServiceStack,
  { name, pages }: { readonly name: string; readonly pages: readonly Shot[] },
): Promise<void> {
  const { page, visit } = session;
  const places: Readonly<Record<Shot, string>> = {
    overview: '/',
    shops: '/shops',
    shop: `/shops/${stack.tenantId}/${stack.shopId}`,
    tenant: `/tenants/${stack.tenantId}`,
    requests: '/requests',
    audit: '/audit',
    'dead-letters': '/dead-letters',
  };
  for (const shot of pages) {
    await visit(places[shot]);
    await pause(2_500);
    const fullPage = name !== 'phone' && (shot === 'shop' || shot === 'tenant');
    await page.screenshot({ path: join(FOLDER, `${name}-${shot}.png`), fullPage });
  }
}

mkdirSync(FOLDER, { recursive: true });
const stack = await startServiceStack({ gapMs: '900-2500' });
try {
  const shopIds = await openShops(stack);
  await stack.network.setNumber('+33699999999', false);
  await planned(stack);
  const busy = traffic(stack, shopIds);
  await pause(8_000);
  await trouble(stack, shopIds);
  await pause(TRAFFIC_MS * 0.55);
  const service = { adminUrl: stack.adminUrl(), adminToken: stack.adminToken };
  const windows = [
    ['desktop-light', {}, ['shops', 'shop', 'tenant', 'requests', 'audit', 'dead-letters']],
    ['desktop-dark', { colorScheme: 'dark' }, ['overview']],
    ['phone', { size: 'phone' }, ['overview', 'shops', 'shop']],
  ] as const;
  for (const [name, options, pages] of windows.slice(0, isSmoke ? 1 : windows.length)) {
    const session = await openConsole(service, options);
    await shots(session, stack, { name, pages });
    if (name === 'desktop-light') {
      await session.visit(`/shops/${stack.tenantId}/${shopIds[5]}`);
      await session.page.getByRole('button', { name: 'Connect', exact: true }).click();
      await session.page.getByRole('img', { name: 'QR code' }).waitFor();
      await session.page.screenshot({ path: join(FOLDER, 'desktop-light-connect.png') });
    }
    await session.stop();
  }
  await busy;
} finally {
  await stack.stop();
  if (isSmoke) rmSync(FOLDER, { recursive: true, force: true });
}
