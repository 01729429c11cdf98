/** The payloads of requests between two shops, whose nodes may run different versions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PoolClient } from '../../../../actors/shops/pool-link/pool-client.ts';
import { poolService } from '../../../../actors/shops/pool-link/pool-service.ts';
import type { PoolSessions } from '../../../../actors/shops/pool-link/pool-sessions.ts';
import type { CommandOf, ShopCommand } from '../../../../actors/shops/protocol/shop-commands.ts';
import { dayKey, dayOfMessage } from '../../../../actors/shops/records/message-days.ts';
import { shopAddress, shopKeys } from '../../../../actors/shops/records/shop-keys.ts';
import type { ShopState } from '../../../../actors/shops/state/shop-state.ts';
import type { TenantRecord } from '../../../../actors/tenants/tenant-record.ts';
import type { TenantState } from '../../../../actors/tenants/tenant-state.ts';
import { resolveSettings } from '../../../../policy/tenant-settings.ts';
import type { Actors } from '../../../../runtime/actors.ts';
import type { Address } from '../../../../runtime/address.ts';
import { MemoryRedis } from '../../../runtime/memory-redis.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';
import { QuietLog } from '../../../testbed/quiet-log.ts';
import { storeOf } from '../store-of.ts';

const origin = { tenantId: '65f000000000000000000001', shopId: '65f000000000000000000002' };
const pool = { tenantId: '65f000000000000000000003', shopId: '65f000000000000000000004' };
const messageId = '65f0000000000000000000aa';
const to = '+33600000010';
const attributed = 'hello\n\nSent for Bakery via Market Square';
const state = { status: 'sent', reason: null, updatedAtMs: 3, sentAtMs: 2 } as const;
const notice = { from: to, lid: '5@lid', wireId: '3EB0', atMs: 1 };

const ORIGIN = '{"tenantId":"65f000000000000000000001","shopId":"65f000000000000000000002"}';
const POOL = '{"tenantId":"65f000000000000000000003","shopId":"65f000000000000000000004"}';
const OFFERED = '"to":"+33600000010","text":"hello\\n\\nSent for Bakery via Market Square","mediaUrl":null';
const POLICY =
  '{"recipientClass":"known","warmupDay":20,"caps":{"perDay":9,"perHour":8,"coldPerDay":7,"declaredPerDay":6},' +
  '"usage":{"today":1,"lastHour":1,"coldToday":0,"declaredToday":0}}';
const ACCEPTED =
  `"tenantId":"65f000000000000000000001","shopId":"65f000000000000000000002","kind":"message","via":"pool",` +
  `"createdAtMs":1,"wireId":"3EB0","policy":${POLICY},"requestId":"r"`;
const BODY = `{"id":"${messageId}",${ACCEPTED},${OFFERED},"mediaType":null,"idempotencyKey":null,"traceparent":null}`;
const STATE = '{"status":"sent","reason":null,"updatedAtMs":3,"sentAtMs":2}';
const ANSWER = `{"kind":"ended","fate":${STATE}}`;
const NOTICE = `{"origin":${ORIGIN},"from":"+33600000010","lid":"5@lid","wireId":"3EB0","atMs":1,"repeatAtMs":5}`;

/** The payloads are texts, because values of type `PoolRequest` would follow a renamed field. */
const PAYLOADS = {
  offer: `{"ask":"offer","pool":${POOL},"offer":{${OFFERED},"recipientClass":"known","messageId":"${messageId}"}}`,
  take: `{"ask":"take","pool":${POOL},"body":${BODY},"known":true}`,
  withdraw: `{"ask":"withdraw","pool":${POOL},"messageId":"${messageId}","createdAtMs":1,"reason":"CANCELLED"}`,
  note: `{"ask":"note","pool":${POOL},"origin":${ORIGIN},"messageId":"${messageId}","answer":${ANSWER}}`,
  opt_out: `{"ask":"opt_out","notice":${NOTICE}}`,
} as const;

/** Returns the first payload that the client sends in this call. */
async function sentBy(send: (client: PoolClient) => void): Promise<unknown> {
  const redis = new MemoryRedis({ monotonicMs: () => 0, wallMs: () => 0 });
  const { shard } = shopAddress(origin);
  const stored = `{${ACCEPTED},"to":"${to}","text":"hello","idempotencyKey":"k"}`;
  redis.run(['HSET', dayKey(shard, dayOfMessage(messageId)), messageId, stored]);
  const payloads: string[] = [];
  const clock = new FakeClock();
  const client = new PoolClient({
    actors: fakeOf<Actors>({
      peek: ({ shard: ofShop }: Address) =>
        fakeOf<ShopState>({ name: 'Bakery', shard: ofShop, keys: shopKeys(ofShop, origin.shopId) }) as never,
      owns: () => false,
    }),
    store: storeOf(redis),
    clock,
    random: () => 0,
    log: new QuietLog(),
    link: {
      async call(_shard, payload) {
        payloads.push(payload);
        return '{"kind":"noted"}';
      },
      serve: () => undefined,
    },
    sessions: fakeOf<PoolSessions>({ listShops: async () => [pool] }),
    platformName: 'Market Square',
  });
  send(client);
  await clock.until(() => payloads.length > 0);
  return JSON.parse(payloads[0] ?? '');
}

test('the client sends each request under the names of the wire', async () => {
  const [atOrigin, atPool] = [shopAddress(origin), shopAddress(pool)];
  const sent = {
    offer: await sentBy((client) => client.perform({ type: 'find_pool', messageId }, atOrigin)),
    take: await sentBy((client) =>
      client.perform({ type: 'ask_pool', messageId, pool, isTaken: true }, atOrigin),
    ),
    withdraw: await sentBy((client) => {
      void client.takeBackCancelled({ messageId, pool, createdAtMs: 1 });
    }),
    note: await sentBy((client) =>
      client.perform({ type: 'note_end', origin, messageId, answer: { kind: 'ended', fate: state } }, atPool),
    ),
    opt_out: await sentBy((client) =>
      client.perform({ type: 'report_opt_out', notice: { origin, ...notice, repeatAtMs: 5 } }, atPool),
    ),
  };
  for (const [name, payload] of Object.entries(PAYLOADS))
    assert.deepEqual(sent[name as keyof typeof PAYLOADS], JSON.parse(payload), name);
});

const settings = resolveSettings({});

/** Returns the command that a shop gets for this payload. Its reply is sent back as it is. */
async function commandFor(payload: string): Promise<{ command: ShopCommand | undefined; reply: string }> {
  const commands: ShopCommand[] = [];
  const tenant = fakeOf<TenantState>({
    erasing: new Set(),
    shops: new Map([[pool.shopId, {} as never]]),
    record: fakeOf<TenantRecord>({ platform: true, active: true, deleted: false }),
    settings,
  });
  const serve = poolService({
    actors: fakeOf<Actors>({
      state: () => tenant as never,
      ask(_shop: Address, command: unknown) {
        commands.push(command as ShopCommand);
        return Promise.resolve({ kind: 'taken' } as never);
      },
      owns: () => true,
    }),
    store: storeOf(new MemoryRedis({ monotonicMs: () => 0, wallMs: () => 0 })),
  });
  const reply = await serve(payload);
  return { command: commands[0], reply };
}

test('the node of a pool shop reads each request under the names of the wire', async () => {
  const tenant = { settings, isPoolOpen: true };
  const offer = { to, text: attributed, mediaUrl: null, recipientClass: 'known', messageId } as const;
  const expected: readonly (readonly [string, ShopCommand, string])[] = [
    [PAYLOADS.offer, { type: 'pool.offer', offer, ...tenant }, 'taken'],
    [PAYLOADS.withdraw, { type: 'pool.withdraw', messageId, createdAtMs: 1, reason: 'CANCELLED' }, 'taken'],
    [
      PAYLOADS.note,
      { type: 'pool.answered', messageId, pool, answer: { kind: 'ended', fate: state } },
      'noted',
    ],
    [PAYLOADS.opt_out, { type: 'pool.opt_out', ...notice }, 'noted'],
  ];
  for (const [payload, command, kind] of expected)
    assert.deepEqual(await commandFor(payload), { command, reply: `{"kind":"${kind}"}` });
});

test('the node of a pool shop reads the message that is to be taken, and that it was taken before', async () => {
  const { command, reply } = await commandFor(PAYLOADS.take);
  const { body, isTaken } = command as CommandOf<'pool.take'>;
  const { id, text, policy, via, wireId, requestId, mediaType } = body;
  assert.deepEqual(
    [body.tenantId, body.shopId, id, body.to, text],
    [origin.tenantId, origin.shopId, messageId, to, attributed],
  );
  assert.deepEqual(
    [policy?.recipientClass, via, wireId, requestId, mediaType],
    ['known', 'pool', '3EB0', 'r', null],
  );
  assert.deepEqual([isTaken, reply], [true, '{"kind":"taken"}']);
});
