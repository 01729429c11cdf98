/**
 * The pool over two real nodes. The message's shop is on one, the shop of the platform on the other, so every message
 * between them crosses. Either is killed at random moments. Nothing is lost, nothing is sent twice. TEST_SEED repeats a
 * run; TEST_RUNS sets the number of kills. The pool shop's own cap allows four.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { customer } from '../../testbed/customer.ts';
import { listening } from '../../testbed/listening.ts';
import { seededRandom } from '../../testbed/seeded-random.ts';
import { testEnvironment } from '../../testbed/test-environment.ts';
import { pause, until } from '../../testbed/waiting.ts';
import { type Account, makeAccount } from '../stack/account.ts';
import { apiClient } from '../stack/api-client.ts';
import type { FleetNode } from '../stack/fleet.ts';
import { sharedFleet } from '../stack/shared-fleet.ts';
import { connectShop, sendText, untilConnected, untilEnded, untilStatus } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110001';
const POOL_PHONE = '+33611119999';
const POOL_LINE = '\n\nSent for Corner bakery via Tenant Messaging';
const GROUP = '120363000000000077@g.us';
const SENDS_PER_ROUND = 2;
const KILL_WITHIN_MS = 2_500;
const { seed, runs: rounds = 4 } = testEnvironment();
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let media: Server;
let origin: Account;
let pool: Account;
const fleet = sharedFleet({ nodes: 2 }, async () => {
  media = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'image/png' }).end(picture),
  );
  await listening(media);
  origin = await disconnectedShop('Bakeries', SHOP_PHONE);
  const home = await nodeOf(origin);
  pool = await makeAccount(fleet.admin, 'Platform');
  for (let tries = 0; (await nodeOf(pool)) === home; tries += 1) {
    assert.ok(tries < 30, 'no tenant of thirty came to the other node');
    pool = await makeAccount(fleet.admin, `Platform ${tries}`);
  }
  await fleet.admin.patch(`/tenants/${pool.tenantId}`, { platform: true });
  await connectShop(stackOf(pool), pool.shopId, POOL_PHONE);
});
after(() => media?.close());

test('text and media go through the other node’s pool shop, with the line; a group never does', async () => {
  const body = { channel: 'msgapp', to: customer(0), text: 'Look', mediaUrl: mediaUrl(), mediaType: 'image' };
  const acceptedAnswer = await stackOf(origin).api.post(`/shops/${origin.shopId}/messages`, body);
  assert.equal(acceptedAnswer.status, 202, JSON.stringify(acceptedAnswer.error));
  const record = await untilStatus(stackOf(origin), String(acceptedAnswer.data.id), 'sent');
  assert.deepEqual([record.via, record.text], ['pool', 'Look']);
  const [entry] = (await fleet.network.inbox(customer(0))).items;
  const sha256 = createHash('sha256').update(picture).digest('hex');
  assert.deepEqual([entry?.from, entry?.text, entry?.mediaSha256], [POOL_PHONE, `Look${POOL_LINE}`, sha256]);
  await fleet.network.setGroup(GROUP, { name: 'Regulars', participants: [POOL_PHONE], admins: [POOL_PHONE] });
  // Asked without retrying: a refusal with 503 is what is expected.
  const group = await sendText({ api: directly(origin) }, origin.shopId, { to: GROUP, text: 'All of you' });
  assert.ok([422, 503].includes(group.status), JSON.stringify(group.error));
  assert.ok(['GROUP_CONTEXT_REQUIRED', 'MSGAPP_NOT_CONNECTED'].includes(group.error?.code ?? ''));
});

test('either node killed while messages are handed over: none is lost, none is sent twice', async (context) => {
  context.diagnostic(`TEST_SEED=${seed}`);
  const random = seededRandom(seed);
  for (let round = 0; round < rounds; round += 1) {
    const victim = round % 2 === 0 ? 'origin' : 'pool';
    const pauseMs = Math.round(random() * KILL_WITHIN_MS);
    const node = await nodeOf(victim === 'origin' ? origin : pool);
    const sends = Array.from({ length: SENDS_PER_ROUND }, (_, index) => ({
      to: customer(1 + round * SENDS_PER_ROUND + index),
      text: `round ${round} message ${index}`,
      idempotencyKey: `${round}-${index}`,
    }));
    const sending = sends.map((send) => sendText(stackOf(origin), origin.shopId, send));
    await Promise.race(sending);
    await pause(pauseMs);
    await node.end('SIGKILL');
    await node.start();
    const answers = await Promise.all(sending);
    const outcomes: string[] = [];
    for (const [index, answer] of answers.entries()) {
      assert.ok([200, 202].includes(answer.status), JSON.stringify(answer.error));
      outcomes.push(await outcomeOf(String(answer.data.id), sends[index]?.to ?? ''));
    }
    context.diagnostic(`${victim}'s node ${node.nodeId} killed after ${pauseMs} ms: ${outcomes.join(', ')}`);
    await fleet.spread();
    await untilConnected(stackOf(pool), pool.shopId);
  }
});

test('messages carried for others count in the pool shop’s hourly cap, and at the cap another tenant gets 503', async () => {
  const otherAccount = await disconnectedShop('Florists', '+33611110002');
  const refusals: string[] = [];
  for (let index = 0; index < 10 && refusals.length === 0; index += 1) {
    const send = { to: customer(20 + index), text: `flowers ${index}` };
    const answer = await sendText({ api: directly(otherAccount) }, otherAccount.shopId, send);
    if (answer.status === 202) await untilEnded(stackOf(otherAccount), String(answer.data.id));
    else refusals.push(`${answer.status} ${answer.error?.code}`);
  }
  assert.deepEqual(refusals, ['503 MSGAPP_NOT_CONNECTED'], 'its tenant’s own caps had room for all ten');
});

/** Returns the end of a message, which must be valid: sent once, or given up and read at most once. */
async function outcomeOf(messageId: string, to: string): Promise<string> {
  const { status, reason } = await untilEnded(stackOf(origin), messageId);
  const { items } = await fleet.network.inbox(to);
  const copies = items.reduce((sum, { duplicates }) => sum + 1 + duplicates, 0);
  const outcome = `${status}${reason === null ? '' : ` ${reason}`}, read ${copies} times`;
  if (status === 'sent') {
    assert.equal(copies, 1, outcome);
  } else {
    assert.ok(['BOT_RESTARTED', 'DELIVERY_UNKNOWN'].includes(String(reason)), outcome);
    assert.ok(copies <= 1, outcome);
  }
  return outcome;
}

/** A tenant that lets the pool help, with customers and a shop that was connected once and is not now. */
async function disconnectedShop(name: string, phone: string): Promise<Account> {
  const account = await makeAccount(fleet.admin, name);
  await fleet.admin.patch(`/tenants/${account.tenantId}`, { poolFallback: true });
  const phones = Array.from({ length: 40 }, (_, index) => customer(index));
  await fleet.admin.post(`/tenants/${account.tenantId}/customers`, { phones });
  await connectShop(stackOf(account), account.shopId, phone);
  await stackOf(account).api.post(`/shops/${account.shopId}/channels/msgapp/disconnect`);
  return account;
}

/** The node that owns an account's shard now. */
async function nodeOf({ tenantId, shopId }: Account): Promise<FleetNode> {
  return until('the shop has an owner that runs', async () => {
    const { data } = await fleet.admin.get(`/actors/${tenantId}/${shopId}`);
    const owner = (data.owner as { nodeId?: string } | undefined)?.nodeId;
    return fleet.nodes.find((node) => node.nodeId === owner && node.runs());
  });
}

function stackOf({ apiKey }: Account) {
  return { api: fleet.api(apiKey), network: fleet.network };
}

/** Without retrying, through the first node. */
function directly({ apiKey }: Account) {
  return apiClient(() => fleet.nodes[0]?.apiUrl() ?? '', apiKey);
}

function mediaUrl(): string {
  return `http://127.0.0.1:${(media.address() as AddressInfo).port}/bread.png`;
}
