/** One tenant sends images that are made to take much time or memory, while the shop of another tenant sends. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { after, test } from 'node:test';
import {
  interlacedPng,
  jpegOfScans,
  png,
  pngOfTexts,
} from '../../actors/sessions/attachments/media-samples.ts';
import { customer } from '../../testbed/customer.ts';
import { listening } from '../../testbed/listening.ts';
import { makeAccount } from '../stack/account.ts';
import { type ApiClient, apiClient } from '../stack/api-client.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop, untilStatus } from '../stack/shop-steps.ts';

const HOSTILE_PHONE = '+33611110001';
const OTHER_PHONE = '+33611110002';
const othersCustomer = (index: number): string => `+3363333000${index}`;

const hostile = new Map([
  ['/texts.png', pngOfTexts(100, 7_900_000)],
  ['/scans.jpg', jpegOfScans(800, 5_000)],
  ['/interlaced.png', interlacedPng(5_000, 5_000)],
  ['/pixels.png', png(60_000, 60_000, false)],
  ['/row.png', png(20_000_000, 1)],
]);
const photo = png(400, 200);

let files: Server;
let filesUrl: string;
after(() => files.close());
const stack = sharedStack({ environment: { SESSION_WORKERS: '1' } }, async () => {
  files = createServer((request, answer) => void answer.end(hostile.get(request.url ?? '') ?? photo));
  filesUrl = `http://127.0.0.1:${await listening(files)}`;
});

interface Shop {
  readonly api: ApiClient;
  readonly shopId: string;
}

async function send({ api, shopId }: Shop, to: string, content: object): Promise<string> {
  const { status, error, data } = await api.post(`/shops/${shopId}/messages`, {
    channel: 'msgapp',
    to,
    ...content,
  });
  assert.equal(status, 202, JSON.stringify(error));
  return String(data.id);
}

test('hostile images go as images, and the messages of another tenant do not wait for them', async () => {
  const account = await makeAccount(stack.admin, 'Others');
  const other = { api: apiClient(stack.apiUrl, account.apiKey), shopId: account.shopId };
  const paths = [...hostile.keys()];
  for (const [tenantId, phones] of [
    [stack.tenantId, paths.map((_, index) => customer(index))],
    [account.tenantId, [0, 1].map(othersCustomer)],
  ] as const)
    await stack.admin.post(`/tenants/${tenantId}/customers`, { phones });
  await connectShop(stack, stack.shopId, HOSTILE_PHONE);
  await connectShop({ ...stack, ...other }, other.shopId, OTHER_PHONE);
  const images: string[] = [];
  for (const [index, path] of paths.entries())
    images.push(await send(stack, customer(index), { mediaUrl: filesUrl + path, mediaType: 'image' }));
  const done: string[] = [];
  const last = untilStatus(stack, images.at(-1) ?? '', 'sent').then(() => done.push('the last image'));
  const ordinary = [
    await send(other, othersCustomer(0), { text: 'Your bread is ready' }),
    await send(other, othersCustomer(1), { mediaUrl: `${filesUrl}/photo`, mediaType: 'image' }),
  ];
  for (const id of ordinary) await untilStatus(other, id, 'sent');
  done.push('the others');
  await last;
  assert.deepEqual(done, ['the others', 'the last image']);
  const [shownEntry] = (await stack.network.inbox(othersCustomer(1))).items;
  assert.ok(shownEntry?.media?.thumbnail, 'the photo has its thumbnail');
  for (const id of images) await untilStatus(stack, id, 'sent');
  const receivedPages = await Promise.all(paths.map((_, index) => stack.network.inbox(customer(index))));
  const sizes = receivedPages.map(({ items: [item] }) => [
    item?.mediaType,
    item?.media?.width,
    item?.media?.height,
  ]);
  assert.deepEqual(sizes, [
    ['image', 8, 8],
    ['image', 5_000, 5_000],
    ['image', 5_000, 5_000],
    ['image', 60_000, 60_000],
    ['image', 20_000_000, 1],
  ]);
  assert.doesNotMatch(stack.serviceLog(), /a session worker was lost/);
});
