import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Outcome } from '../../../../actors/failure.ts';
import type { PoolReply } from '../../../../actors/shops/protocol/pool-protocol.ts';
import type { CancelReply } from '../../../../actors/shops/protocol/shop-replies.ts';
import type { QueueFilter } from '../../../../actors/shops/shop-operations.ts';
import { pacingState } from '../../../../actors/shops/state/shop-state.ts';
import { resolveSettings } from '../../../../policy/tenant-settings.ts';
import { DAY_MS, HOUR_MS } from '../../../../runtime/durations.ts';
import { propertyRuns } from '../../../testbed/property-runs.ts';
import { PoolExchange, poolShop } from '../pool/pool-exchange.ts';
import { ShopHarness, textDraft } from '../shop-harness.ts';

const NOTHING: QueueFilter = { idempotencyKeyPrefix: undefined, to: undefined, acceptedBeforeMs: undefined };

async function cancel(shop: ShopHarness, messageId: string): Promise<string> {
  const reply = (await shop.ask({ type: 'cancel', messageId })) as Outcome<CancelReply>;
  if (!reply.ok) return reply.failure.code;
  return reply.value.atPool.length > 0 ? 'at the pool' : 'ended';
}

async function cancelAll(shop: ShopHarness, filter: Partial<QueueFilter>): Promise<number> {
  const command = { type: 'cancel_queue', filter: { ...NOTHING, ...filter } } as const;
  const reply = (await shop.ask(command)) as Outcome<CancelReply>;
  assert.ok(reply.ok);
  return reply.value.ended;
}

/** Returns the counts of the shop's windows, from the verdict of its next send. */
function counted(shop: ShopHarness): number {
  return shop.state.ledger.size;
}

function events(shop: ShopHarness): string[] {
  return shop.writes.filter(([command]) => command === 'XADD').map((write) => write.join(' '));
}

describe('a cancelled message', () => {
  test('ends as failed, is published once, and a second cancel gets the same answer', async () => {
    const shop = await ShopHarness.connected();
    shop.send('+33601000000');
    const waiting = shop.send('+33601000001');
    assert.equal(await cancel(shop, waiting), 'ended');
    assert.equal(shop.statusOf(waiting), 'failed CANCELLED');
    assert.equal(await cancel(shop, waiting), 'ended');
    const told = events(shop).filter((event) => event.includes(waiting));
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', /message\.failed/);
    shop.pass(HOUR_MS);
    assert.equal(shop.statusOf(waiting), 'failed CANCELLED');
  });

  test('is recalled while it is being prepared, and continues once it is being sent', async () => {
    const shop = await ShopHarness.connected();
    const prepared = shop.send('+33601000000');
    shop.passFirstLook(prepared);
    assert.equal(await cancel(shop, prepared), 'ended');
    assert.deepEqual(shop.idsOf('recall'), [prepared]);
    const sending = shop.send('+33601000001');
    shop.toWire(sending);
    assert.equal(pacingState(shop.state), 'sending');
    assert.equal(await cancel(shop, sending), 'NOT_CANCELLABLE');
    shop.outcome(sending, { kind: 'acknowledged' });
    assert.equal(await cancel(shop, sending), 'NOT_CANCELLABLE');
    assert.equal(shop.statusOf(sending), 'sent');
  });

  test('does not count for its recipient: the same person may be written to at once', async () => {
    const shop = await ShopHarness.connected();
    shop.send('+33601000009');
    const first = shop.send('+33601000000');
    assert.equal(shop.send('+33601000000'), 'RECIPIENT_RATE_LIMITED');
    await cancel(shop, first);
    const second = shop.send('+33601000000');
    assert.equal(shop.statusOf(second), 'queued');
    const after = await shop.successor('store');
    assert.equal(after.send('+33601000000'), 'RECIPIENT_RATE_LIMITED');
    assert.equal(counted(after), counted(shop));
  });

  test('does not count in the network’s quota of new chats, and the others still do', async () => {
    const shop = await ShopHarness.connected();
    const newChats = { quota: 2, used: 0, warning: null, endsAtMs: shop.nowMs + DAY_MS };
    shop.session({ type: 'session.limits', newChats });
    shop.send('+33601000000');
    const second = shop.send('+33601000001');
    assert.equal(shop.send('+33601000002'), 'COLD_RECIPIENT_CAP_REACHED');
    await cancel(shop, second);
    assert.equal(shop.statusOf(shop.send('+33601000002')), 'queued');
    assert.equal(shop.send('+33601000003'), 'COLD_RECIPIENT_CAP_REACHED');
  });
});

test('cancelling a queue ends all matching messages, and no others', async () => {
  const shop = await ShopHarness.connected();
  const settings = resolveSettings({});
  const send = async (to: string, key: string): Promise<string> => {
    const draft = { ...textDraft(to, `to ${to} ${key}`), idempotencyKey: key };
    const reply = (await shop.ask({ type: 'send', draft, settings, pool: undefined })) as Outcome<{
      accepted: { id: string };
    }>;
    assert.ok(reply.ok, JSON.stringify(reply));
    return reply.value.accepted.id;
  };
  const ofA = [await send('+33601000000', 'a-1'), await send('+5531996348800', 'a-2')];
  const midMs = shop.nowMs + 1;
  shop.nowMs += 5_000;
  const ofB = [await send('+33601000002', 'b-1'), await send('+33601000003', 'b-2')];
  assert.equal(await cancelAll(shop, { to: '+553196348800' }), 1, 'either form of a number is the person');
  assert.equal(shop.statusOf(ofA[1] ?? ''), 'failed CANCELLED');
  assert.equal(await cancelAll(shop, { idempotencyKeyPrefix: 'b', acceptedBeforeMs: midMs }), 0);
  assert.equal(await cancelAll(shop, { idempotencyKeyPrefix: 'b-2' }), 1);
  assert.equal(await cancelAll(shop, { acceptedBeforeMs: midMs }), 1, 'the message in progress as well');
  assert.deepEqual(
    [...ofA, ...ofB].map((id) => shop.statusOf(id)),
    ['failed CANCELLED', 'failed CANCELLED', 'queued', 'failed CANCELLED'],
  );
  assert.equal(counted(shop), 1);
});

describe('a cancelled message at the pool', () => {
  test('ends if the pool shop gives it back, in the windows of both', async () => {
    const exchange = await PoolExchange.start(1, 1);
    const { origin } = exchange;
    const [pool] = exchange.pools;
    assert.ok(pool);
    pool.send('+33601000009');
    const id = origin.send('+33601000000', 'hello', poolShop(0));
    assert.equal(exchange.take(pool, id).kind, 'taken');
    const before = { origin: counted(origin), pool: counted(pool) };
    assert.equal(await cancel(origin, id), 'at the pool');
    const { createdAtMs } = exchange.body(id);
    const answer = (await pool.ask({
      type: 'pool.withdraw',
      messageId: id,
      createdAtMs,
      reason: 'CANCELLED',
    })) as PoolReply;
    await origin.ask({ type: 'pool.answered', messageId: id, pool: poolShop(0), answer });
    assert.equal(origin.statusOf(id), 'failed CANCELLED');
    assert.deepEqual(
      { origin: counted(origin), pool: counted(pool) },
      { origin: before.origin - 1, pool: before.pool - 1 },
    );
    const [secondHarness, poolAgain] = [await origin.successor('store'), await pool.successor('store')];
    assert.deepEqual([counted(secondHarness), counted(poolAgain)], [counted(origin), counted(pool)]);
    assert.equal(exchange.take(pool, id, true).kind, 'ended', 'it is never taken again');
    assert.equal(await cancel(origin, id), 'ended');
  });

  test('continues if it is on the wire', async () => {
    const exchange = await PoolExchange.start(1, 1);
    const [pool] = exchange.pools;
    assert.ok(pool);
    const id = exchange.origin.send('+33601000000', 'hello', poolShop(0));
    exchange.take(pool, id);
    pool.toWire(id);
    const { createdAtMs } = exchange.body(id);
    const command = { type: 'pool.withdraw', messageId: id, createdAtMs, reason: 'CANCELLED' } as const;
    assert.deepEqual(await pool.ask(command), { kind: 'taken' });
    pool.outcome(id, { kind: 'acknowledged' });
    assert.equal(pool.statusOf(id), 'sent');
  });

  for (const reason of ['CANCELLED', undefined] as const) {
    test(`gives back its one new chat at the pool, and not after an opt-out: ${reason}`, async () => {
      const exchange = await PoolExchange.start(1, 1);
      const [pool] = exchange.pools;
      assert.ok(pool);
      const newChats = { quota: 9, used: 0, warning: null, endsAtMs: pool.nowMs + DAY_MS };
      pool.session({ type: 'session.limits', newChats });
      const ids = [0, 1, 2].map((last) => exchange.origin.send(`+3360100000${last}`, 'hello', poolShop(0)));
      for (const id of ids) assert.equal(exchange.take(pool, id).kind, 'taken');
      const [, messageId = ''] = ids;
      const { createdAtMs } = exchange.body(messageId);
      const withdraw = { type: 'pool.withdraw', messageId, createdAtMs } as const;
      for (let time = 0; time < 2; time += 1) {
        await pool.ask(reason === undefined ? withdraw : { ...withdraw, reason });
        assert.equal(pool.state.limits.newChats?.accepted, reason === undefined ? 3 : 2);
      }
    });
  }

  for (const answered of ['taken', 'refused'] as const) {
    test(`never counted in its own shop's quota of new chats, which stays as it is: ${answered}`, async () => {
      const exchange = await PoolExchange.start(1, 1);
      const { origin } = exchange;
      const [pool] = exchange.pools;
      assert.ok(pool);
      const id = origin.send('+33601000000', 'hello', poolShop(0));
      if (answered === 'refused') pool.command({ type: 'pause' });
      const answer = exchange.take(pool, id);
      assert.equal(answer.kind, answered);
      origin.command({ type: 'pool.answered', messageId: id, pool: poolShop(0), answer });
      exchange.connectOrigin();
      const newChats = { quota: 1, used: 0, warning: null, endsAtMs: origin.nowMs + DAY_MS };
      origin.session({ type: 'session.limits', newChats });
      assert.equal(origin.statusOf(origin.send('+33601000001')), 'queued');
      assert.equal(origin.sendTo('+33601000002', {}), 'COLD_RECIPIENT_CAP_REACHED');
      await cancel(origin, id);
      if (answered === 'taken') {
        const { createdAtMs } = exchange.body(id);
        const withdraw = { messageId: id, createdAtMs, reason: 'CANCELLED' } as const;
        const endedAnswer = (await pool.ask({ type: 'pool.withdraw', ...withdraw })) as PoolReply;
        await origin.ask({ type: 'pool.answered', messageId: id, pool: poolShop(0), answer: endedAnswer });
      }
      assert.equal(origin.statusOf(id), 'failed CANCELLED');
      assert.equal(origin.sendTo('+33601000002', {}), 'COLD_RECIPIENT_CAP_REACHED');
    });
  }
});

test('after any cancellation, the windows are those of a shop that never had it, also after a restart', async (context) => {
  const person = fc.integer({ min: 0, max: 9 }).map((index) => `+3360100000${index}`);
  const step = fc.oneof(
    fc.record({ do: fc.constant('send' as const), to: person, text: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ do: fc.constant('cancel' as const), which: fc.nat(30) }),
    fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 8 * HOUR_MS }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
      const shop = await ShopHarness.connected();
      shop.command({ type: 'pause' });
      const twin = await ShopHarness.connected();
      twin.command({ type: 'pause' });
      const accepted: { id: string; to: string; text: string; atMs: number; gone: boolean }[] = [];
      for (const taken of steps) {
        if (taken.do === 'pass') {
          shop.pass(taken.ms);
        } else if (taken.do === 'send') {
          const id = shop.send(taken.to, taken.text);
          if (/^[0-9a-f]{24}$/.test(id))
            accepted.push({ id, to: taken.to, text: taken.text, atMs: shop.nowMs, gone: false });
        } else {
          const one = accepted[taken.which];
          if (one !== undefined && (await cancel(shop, one.id)) === 'ended') one.gone = true;
        }
      }
      for (const { to, text, atMs } of accepted.filter(({ gone }) => !gone)) {
        twin.pass(atMs - twin.nowMs);
        assert.match(twin.send(to, text), /^[0-9a-f]{24}$/, 'what was admitted without them is admitted');
      }
      twin.pass(shop.nowMs - twin.nowMs);
      const successor = await shop.successor('store');
      for (let index = 0; index < 10; index += 1) {
        const to = `+3360100000${index}`;
        const timesOf = ({ state, nowMs }: ShopHarness) =>
          state.ledger.messageTimesMs({ recipient: Number(to.slice(1)), nowMs });
        assert.deepEqual(timesOf(shop), timesOf(twin));
        assert.deepEqual(timesOf(successor), timesOf(twin));
      }
    }),
    propertyRuns(context, 60),
  );
});

test('after a restart, a shop that cancelled many messages in a day still counts all others', async () => {
  const shop = await ShopHarness.connected();
  shop.command({ type: 'pause' });
  const kept: string[] = [];
  for (let round = 0; kept.length < 41 && round < 2_000; round += 1) {
    const id = shop.send(`+3360${1_000_000 + round}`, `text ${round}`);
    assert.match(id, /^[0-9a-f]{24}$/);
    if (round % 20 === 0) kept.push(id);
    else await cancel(shop, id);
  }
  assert.equal(shop.redis.run(['LLEN', shop.state.keys.accepted]), 801);
  const successor = await shop.successor('store');
  assert.equal(counted(successor), 41);
  assert.equal(successor.send('+33602000000'), 'HOURLY_CAP_REACHED');
});
