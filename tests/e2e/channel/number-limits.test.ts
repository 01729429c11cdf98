/** The network restricts a number: from the wire to the API, the feed, the metrics and the next process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { listening } from '../../testbed/listening.ts';
import { until } from '../../testbed/waiting.ts';
import { webhookServer } from '../../testbed/webhook-server.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop, sendText, untilConnected, untilEnded, untilStatus } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110001';
const CUSTOMER = '+33622220001';
const DECLARED = '+33622220002';
const WEEK_SECONDS = 7 * 86_400;
let strangers = 0;
const stranger = (): string => `+3369999${String(1_000 + strangers++)}`;

interface Network {
  readonly restrictedUntil: string | null;
  readonly restriction: string | null;
  readonly newChats: { readonly quota: number; readonly used: number; readonly endsAt: string | null } | null;
}

const stack = sharedStack({}, async () => {
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones: [CUSTOMER] });
  await connectShop(stack, stack.shopId, SHOP_PHONE);
  await stack.api.post(`/shops/${stack.shopId}/contacts/consented`, { contacts: [{ phone: DECLARED }] });
});

test('a restriction that the network announces bars new chats until it ends, also over a kill', async () => {
  const { nextCursor } = (await stack.api.get('/events')).data;
  const hook = await webhookOf('number.restricted', 'number.unrestricted');
  await stack.network.restrict(SHOP_PHONE, { active: true, endsInSeconds: WEEK_SECONDS });
  await untilNetwork(({ restriction }) => restriction === 'RESTRICT_ALL_COMPANIONS');
  const { type, data: restricted } = await until('the webhook', async () => hook.events[0]);
  assert.deepEqual([type, restricted.shopId], ['number.restricted', stack.shopId]);
  assert.equal(restricted.restriction, 'RESTRICT_ALL_COMPANIONS');
  const leftMs = Date.parse(String(restricted.restrictedUntil)) - Date.now();
  assert.ok(leftMs > (WEEK_SECONDS - 300) * 1_000 && leftMs <= WEEK_SECONDS * 1_000, `${leftMs} ms`);
  await refused(stranger(), 'COLD_RECIPIENT_CAP_REACHED', WEEK_SECONDS);
  await refused(CUSTOMER, 'COLD_RECIPIENT_CAP_REACHED', WEEK_SECONDS);
  await refused(DECLARED, 'DECLARED_RECIPIENT_CAP_REACHED', WEEK_SECONDS);
  await answered();
  await counted('restricted');
  await stack.end('SIGKILL');
  await stack.start();
  await untilConnected(stack, stack.shopId);
  await refused(stranger(), 'COLD_RECIPIENT_CAP_REACHED', WEEK_SECONDS);
  const askedAnswer = await stack.api.get(
    `/shops/${stack.shopId}/policy?to=${encodeURIComponent(stranger())}`,
  );
  assert.equal(askedAnswer.data.code, 'COLD_RECIPIENT_CAP_REACHED');
  await answered();
  await stack.network.restrict(SHOP_PHONE, { active: false });
  await untilNetwork(({ restrictedUntil }) => restrictedUntil === null);
  await sentTo(stranger());
  const { data } = await stack.api.get(
    `/events?cursor=${String(nextCursor)}&types=number.restricted,number.unrestricted`,
  );
  const events = data.items as readonly { readonly type: string; readonly data: Record<string, unknown> }[];
  assert.deepEqual(
    events.map(({ type }) => type),
    ['number.restricted', 'number.unrestricted'],
  );
  assert.equal(events[0]?.data.restriction, 'RESTRICT_ALL_COMPANIONS');
  const endedEvent = await until('the webhook of the end', async () => hook.events[1]);
  assert.deepEqual([endedEvent.type, endedEvent.data], ['number.unrestricted', { shopId: stack.shopId }]);
  await hook.remove();
});

test('a restriction ends by itself at the end that the network named', async () => {
  await stack.network.restrict(SHOP_PHONE, { active: true, endsInSeconds: 3 });
  await untilNetwork(({ restriction }) => restriction !== null);
  const { status } = await sendText(stack, stack.shopId, { to: stranger(), text: 'Hi' });
  assert.equal(status, 429);
  await untilNetwork(({ restrictedUntil }) => restrictedUntil === null);
  await sentTo(stranger());
});

test('after a 463 the shop asks, and follows the end that the network then names', async () => {
  await stack.network.restrict(SHOP_PHONE, { active: true, announce: false });
  const first = await sendText(stack, stack.shopId, { to: stranger(), text: 'Hello' });
  const { status, reason } = await untilEnded(stack, String(first.data.id));
  assert.deepEqual([status, reason], ['failed', 'SEND_REFUSED']);
  await untilNetwork(({ restriction }) => restriction === 'RESTRICT_ALL_COMPANIONS');
  await refused(stranger(), 'COLD_RECIPIENT_CAP_REACHED', WEEK_SECONDS);
  await stack.network.restrict(SHOP_PHONE, { active: false });
  await untilNetwork(({ restrictedUntil }) => restrictedUntil === null);
});

test('the quota of new chats is shown, warned of, and bounds first contacts', async () => {
  const { nextCursor } = (await stack.api.get('/events')).data;
  const hook = await webhookOf('number.warned');
  const quota = { quota: 10, used: 9, status: 'FIRST_WARNING', endsInSeconds: WEEK_SECONDS } as const;
  await stack.network.limitNewChats(SHOP_PHONE, quota);
  const { newChats } = await untilNetwork((network) => network.newChats !== null);
  assert.deepEqual([newChats?.quota, newChats?.used], [10, 9]);
  await counted('warned');
  await sentTo(stranger());
  await refused(stranger(), 'COLD_RECIPIENT_CAP_REACHED', WEEK_SECONDS);
  await answered();
  const { data } = await stack.api.get(`/events?cursor=${String(nextCursor)}&types=number.warned`);
  const [warned] = data.items as readonly { readonly data: Record<string, unknown> }[];
  assert.deepEqual([warned?.data.warning, warned?.data.quota, warned?.data.used], ['first', 10, 9]);
  const { type, data: hooked } = await until('the webhook', async () => hook.events[0]);
  assert.deepEqual([type, hooked], ['number.warned', warned?.data]);
  await hook.remove();
});

interface TenantEvent {
  readonly type: string;
  readonly data: Record<string, unknown>;
}

/** A webhook of the tenant for some types of events, and the events that came, each with a right signature. */
async function webhookOf(
  ...types: string[]
): Promise<{ readonly events: TenantEvent[]; remove(): Promise<void> }> {
  const events: TenantEvent[] = [];
  const server = webhookServer(({ headers, body }, response) => {
    events.push(new Webhook(String(data.secret)).verify(body, headers) as TenantEvent);
    response.writeHead(204, { connection: 'close' }).end();
  });
  const url = `http://127.0.0.1:${await listening(server)}/`;
  const { data } = await stack.admin.post(`/tenants/${stack.tenantId}/webhooks`, { url, types });
  return {
    events,
    async remove() {
      await stack.admin.delete(`/tenants/${stack.tenantId}/webhooks/${String(data.id)}`);
      server.close();
    },
  };
}

async function untilNetwork(isReached: (network: Network) => boolean): Promise<Network> {
  let network: Network | undefined;
  await until('the network is heard', async () => {
    const { data } = await stack.api.get(`/shops/${stack.shopId}/policy`);
    network = data.network as Network;
    return isReached(network);
  });
  assert.ok(network);
  return network;
}

/** Somebody writes in, and is answered. */
async function answered(): Promise<void> {
  const friend = stranger();
  await stack.network.write(friend, { to: SHOP_PHONE, text: 'Do you bake on Sundays?' });
  await sentTo(friend);
}

async function sentTo(to: string): Promise<void> {
  const sentAnswer = await sendText(stack, stack.shopId, { to, text: `Your bread is ready, ${to}` });
  assert.equal(sentAnswer.status, 202, JSON.stringify(sentAnswer.error));
  await untilStatus(stack, String(sentAnswer.data.id), 'sent');
}

async function refused(to: string, code: string, mostSeconds: number): Promise<void> {
  const { status, error, headers } = await sendText(stack, stack.shopId, { to, text: 'Hi' });
  assert.deepEqual([status, error?.code], [429, code]);
  const seconds = Number(headers.get('retry-after'));
  assert.ok(seconds > mostSeconds - 300 && seconds <= mostSeconds, `${seconds} s`);
  assert.equal(error?.retryAfter, seconds);
}

async function counted(trouble: string): Promise<void> {
  await until(`the shop is counted as ${trouble}`, async () => {
    const answer = await fetch(`${stack.adminUrl()}/metrics`, {
      headers: { authorization: `Bearer ${stack.adminToken}` },
    });
    return (await answer.text()).includes(`msgapi_shops_in_trouble{trouble="${trouble}"} 1\n`);
  });
}
