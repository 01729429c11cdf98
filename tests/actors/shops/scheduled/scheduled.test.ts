import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Outcome } from '../../../../actors/failure.ts';
import type { IdempotentReply } from '../../../../actors/shops/idempotent-reply.ts';
import { readSchedule, scheduledView } from '../../../../actors/shops/reading/schedule-reading.ts';
import { dayEndsMs, dayOf } from '../../../../actors/shops/records/message-days.ts';
import type { ScheduledView } from '../../../../actors/shops/shop-operations.ts';
import type { ScheduledDraft } from '../../../../actors/shops/state/scheduled-sends.ts';
import { resolveSettings } from '../../../../policy/tenant-settings.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../runtime/durations.ts';
import { ShopHarness, textDraft } from '../shop-harness.ts';
import { storeOf } from '../store-of.ts';

const TO = '+33601000000';
const retentionMs = 30 * DAY_MS;

/** The network bans the shop's number for two hours. */
const BAN = {
  type: 'session.closed',
  end: 'temporarily_banned',
  statusCode: 402,
  detail: '',
  waitMs: 2 * HOUR_MS,
} as const;

async function schedule(
  shop: ShopHarness,
  more: {
    sendAtMs?: number;
    notAfterMs?: number;
    idempotencyKey?: string;
    to?: string;
    mediaUrl?: string;
    text?: string;
  } = {},
): Promise<Outcome<IdempotentReply<ScheduledView>>> {
  const { to = TO, sendAtMs = shop.nowMs + HOUR_MS, notAfterMs, idempotencyKey, mediaUrl } = more;
  const { text = `for ${to}` } = more;
  const draft = { ...textDraft(to, text), sendAtMs, notAfterMs, idempotencyKey, mediaUrl };
  return (await shop.ask({ type: 'schedule', draft })) as Outcome<IdempotentReply<ScheduledView>>;
}

async function scheduledId(shop: ShopHarness, more: Parameters<typeof schedule>[1] = {}): Promise<string> {
  const reply = await schedule(shop, more);
  assert.ok(reply.ok, JSON.stringify(reply));
  return reply.value.accepted.id;
}

async function shown(shop: ShopHarness, id: string): Promise<ScheduledView | undefined> {
  const { keys } = shop.state;
  const storedSchedule = await readSchedule(id, {
    keys,
    store: storeOf(shop.redis),
    nowMs: shop.nowMs,
    retentionMs,
  });
  return storedSchedule && scheduledView(shop.state.shop.shopId, storedSchedule);
}

/**
 * Makes the sends that the shop asked for since, as its node does; how many. With `pool: 'ask'` the tenant may use a
 * pool, which has no free shop.
 */
async function deliver(shop: ShopHarness, pool?: 'ask'): Promise<number> {
  const due = shop.effects.splice(0).filter((effect) => effect.type === 'send_scheduled');
  for (const effect of due) {
    const id = effect.type === 'send_scheduled' ? effect.scheduledId : '';
    const text = shop.redis.run(['HGET', shop.state.keys.scheduledDrafts, id]) as string | null;
    if (text === null) continue;
    const { sendAtMs: _, notAfterMs: __, createdAtMs: ___, ...draft } = JSON.parse(text) as ScheduledDraft;
    const command = { type: 'send', settings: resolveSettings({}), pool } as const;
    await shop.ask({ ...command, draft: { ...draft, scheduledId: id } });
  }
  return due.length;
}

function events(shop: ShopHarness): string[] {
  const told = shop.writes.filter(([command]) => command === 'XADD').map((write) => write.join(' '));
  return told.filter((event) => event.includes('scheduled.'));
}

describe('a scheduled send', () => {
  test('becomes one message at its time, and none before, also after restarts', async () => {
    const first = await ShopHarness.connected();
    const id = await scheduledId(first, { idempotencyKey: 'k' });
    assert.equal(first.state.ledger.size, 0);
    const shop = await first.successor('store');
    shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: shop.nowMs - 20 * DAY_MS });
    shop.pass(HOUR_MS - 1);
    assert.equal(await deliver(shop), 0);
    shop.pass(1);
    assert.equal(await deliver(shop), 1);
    const end = await shown(shop, id);
    assert.deepEqual([end?.status, end?.text, end?.code], ['accepted', null, null]);
    assert.equal(shop.bodies.get(end?.messageId ?? '')?.text, `for ${TO}`);
    assert.equal(shop.bodies.get(end?.messageId ?? '')?.idempotencyKey, 'k');
    assert.deepEqual(
      events(shop).map((event) => /scheduled\.\w+/.exec(event)?.[0]),
      ['scheduled.accepted'],
    );
    const secondHarness = await shop.successor('store');
    secondHarness.pass(DAY_MS);
    assert.equal(await deliver(secondHarness), 0);
    assert.equal(secondHarness.state.ledger.size, 1);
  });

  test('that is made twice at its time becomes one message', async () => {
    const shop = await ShopHarness.connected();
    await scheduledId(shop);
    shop.pass(HOUR_MS);
    const [effect] = shop.effects.filter(({ type }) => type === 'send_scheduled');
    assert.ok(effect);
    await deliver(shop);
    shop.effects.push(effect, effect);
    await deliver(shop);
    assert.equal(shop.state.ledger.size, 1);
  });

  test('waits for the end of its refusal until notAfter, and ends with the last code', async () => {
    const shop = await ShopHarness.connected();
    shop.command({ type: 'disconnect' });
    const id = await scheduledId(shop);
    shop.pass(HOUR_MS);
    for (let step = 0; step < 10; step += 1) {
      await deliver(shop);
      shop.pass(60_000);
    }
    assert.equal((await shown(shop, id))?.status, 'scheduled');
    for (let step = 0; step < 60; step += 1) {
      await deliver(shop);
      shop.pass(60_000);
    }
    const end = await shown(shop, id);
    assert.deepEqual([end?.status, end?.code], ['refused', 'MSGAPP_NOT_CONNECTED']);
    assert.equal(events(shop).length, 1);
  });

  test('ends with the last code, too, if a pool was asked each time and had no free shop', async () => {
    const shop = await ShopHarness.connected();
    const { customers } = shop.state.people;
    shop.redis.run(['SADD', customers, TO]);
    shop.command({ type: 'disconnect' });
    const id = await scheduledId(shop, { notAfterMs: shop.nowMs + HOUR_MS + MINUTE_MS });
    shop.pass(HOUR_MS);
    for (let step = 0; step < 4; step += 1) {
      assert.equal(await deliver(shop, 'ask'), 1);
      shop.pass(30_000);
    }
    const end = await shown(shop, id);
    assert.deepEqual([end?.status, end?.code], ['refused', 'MSGAPP_NOT_CONNECTED']);
  });

  test('is tried again after 30 s, whether the session is away or the tenant inactive', async () => {
    for (const [isOver, code] of [
      [(shop: ShopHarness) => shop.command({ type: 'disconnect' }), 'MSGAPP_NOT_CONNECTED'],
      [(shop: ShopHarness) => shop.session(BAN), 'MSGAPP_NOT_CONNECTED'],
      [(shop: ShopHarness) => shop.command({ type: 'tenant_active', isActive: false }), 'TENANT_INACTIVE'],
    ] as const) {
      const shop = await ShopHarness.connected();
      const id = await scheduledId(shop, { notAfterMs: shop.nowMs + HOUR_MS + 59_999 });
      isOver(shop);
      shop.pass(HOUR_MS);
      assert.equal(await deliver(shop), 1);
      shop.pass(29_999);
      assert.equal(await deliver(shop), 0);
      shop.pass(1);
      assert.equal(await deliver(shop), 1);
      const end = await shown(shop, id);
      assert.deepEqual([end?.status, end?.code], ['refused', code]);
    }
  });

  test('is tried at its time beside more than one turn tries, and hides no later one', async () => {
    const shop = await ShopHarness.connected();
    const sendAtMs = shop.nowMs + HOUR_MS;
    const ids: string[] = [];
    for (let count = 0; count < 40; count += 1) ids.push(await scheduledId(shop, { sendAtMs }));
    const later = await scheduledId(shop, { sendAtMs: sendAtMs + 10_000 });
    const tried = () =>
      shop.effects
        .splice(0)
        .flatMap((effect) => (effect.type === 'send_scheduled' ? effect.scheduledId : []));
    shop.pass(HOUR_MS - 1);
    assert.deepEqual(tried(), []);
    shop.pass(10);
    assert.deepEqual(tried().sort(), ids.sort());
    shop.pass(9_990);
    assert.deepEqual(tried(), []);
    shop.pass(1);
    assert.deepEqual(tried(), [later]);
  });

  test('is tried again after the wait that a refusal names, if that is in time', async () => {
    const shop = await ShopHarness.connected();
    const atMs = shop.nowMs + HOUR_MS;
    const patient = await scheduledId(shop, { sendAtMs: atMs });
    const hasty = await scheduledId(shop, { sendAtMs: atMs + 1, notAfterMs: atMs + 60_000 });
    shop.pass(HOUR_MS - 60_000);
    shop.send(TO);
    shop.pass(60_001);
    await deliver(shop);
    const [kept, ended] = [await shown(shop, patient), await shown(shop, hasty)];
    assert.deepEqual([kept?.status, ended?.status], ['scheduled', 'refused']);
    assert.equal(ended?.code, 'RECIPIENT_RATE_LIMITED');
    shop.pass(10 * MINUTE_MS);
    await deliver(shop);
    assert.equal((await shown(shop, patient))?.status, 'accepted');
  });

  test('never tried in time is never sent late', async () => {
    const first = await ShopHarness.connected();
    const id = await scheduledId(first);
    first.nowMs += 3 * HOUR_MS;
    const shop = await first.successor('store');
    await deliver(shop);
    const end = await shown(shop, id);
    assert.deepEqual([end?.status, end?.code], ['refused', 'SERVICE_UNAVAILABLE']);
  });

  test('is cancelled before its time, and not after', async () => {
    const shop = await ShopHarness.connected();
    const [removedId, sentId] = [await scheduledId(shop), await scheduledId(shop, { to: '+33601000001' })];
    const cancel = async (id: string): Promise<string> => {
      const command = { type: 'unschedule', scheduledId: id } as const;
      const reply = (await shop.ask(command)) as Outcome<ScheduledView>;
      return reply.ok ? reply.value.status : reply.failure.code;
    };
    assert.equal(await cancel(removedId), 'cancelled');
    assert.equal(await cancel(removedId), 'cancelled');
    shop.pass(HOUR_MS);
    await deliver(shop);
    assert.equal(await cancel(sentId), 'NOT_CANCELLABLE');
    assert.equal(await cancel('65f000000000000000000009'), 'SCHEDULED_NOT_FOUND');
    assert.equal(shop.state.ledger.size, 1);
  });

  test('is kept without an end until it has ended, and then as long as messages and without its text', async () => {
    const shop = await ShopHarness.connected();
    const { keys } = shop.state;
    const ofSchedules = () =>
      shop.writes.filter(
        ([command, key]) => command === 'PEXPIREAT' && String(key).startsWith(`${keys.shop}:scheduled`),
      );
    const id = await scheduledId(shop);
    assert.deepEqual(ofSchedules(), []);
    await shop.ask({ type: 'unschedule', scheduledId: id });
    const day = dayOf(shop.nowMs);
    const ended = `${keys.shop}:scheduled-ended:${day}`;
    assert.deepEqual(ofSchedules(), [['PEXPIREAT', ended, dayEndsMs(day, retentionMs)]]);
    assert.equal(shop.redis.run(['HGET', keys.scheduledDrafts, id]), null);
    assert.doesNotMatch(String(shop.redis.run(['HGET', ended, id])), /"text"/);
  });

  test('is made once for its idempotency key, also when it has ended', async () => {
    const shop = await ShopHarness.connected();
    const id = await scheduledId(shop, { idempotencyKey: 'k' });
    const again = await schedule(shop, { idempotencyKey: 'k' });
    assert.ok(again.ok);
    assert.deepEqual([again.value.isReplayed, again.value.accepted.id], [true, id]);
    const empty = await schedule(shop, { idempotencyKey: 'k', text: ' ' });
    assert.ok(empty.ok && empty.value.isReplayed && empty.value.differs);
    const refused = await schedule(shop, { idempotencyKey: 'another', text: ' ' });
    assert.equal(!refused.ok && refused.failure.code, 'EMPTY_MESSAGE');
    shop.pass(HOUR_MS);
    await deliver(shop);
    const later = await schedule(shop, { idempotencyKey: 'k', to: '+33601000005' });
    assert.ok(later.ok);
    const { isReplayed, differs, accepted } = later.value;
    assert.deepEqual([isReplayed, differs, accepted.id, accepted.status], [true, true, id, 'accepted']);
  });

  test('is compared with all of its body when it is asked for again, waiting and ended', async () => {
    const shop = await ShopHarness.connected();
    const sendAtMs = shop.nowMs + HOUR_MS;
    const asked = { idempotencyKey: 'k', sendAtMs, text: 'Your table is ready' };
    const id = await scheduledId(shop, asked);
    const differs = async (more: object): Promise<boolean> => {
      const again = await schedule(shop, { ...asked, ...more });
      assert.ok(again.ok && again.value.accepted.id === id);
      return again.value.differs;
    };
    const compare = async (): Promise<void> => {
      assert.equal(await differs({}), false);
      assert.equal(await differs({ notAfterMs: sendAtMs + HOUR_MS }), false, 'the default, written out');
      const others = [
        ...[{ text: 'Your table is late' }, { mediaUrl: 'https://example.com/a.png' }],
        ...[{ to: '+33601000005' }, { notAfterMs: sendAtMs + 1 }, { sendAtMs: sendAtMs + 1 }],
      ];
      for (const other of others) assert.equal(await differs(other), true, JSON.stringify(other));
    };
    await compare();
    shop.pass(HOUR_MS);
    await deliver(shop);
    assert.equal((await shown(shop, id))?.status, 'accepted');
    await compare();
    assert.ok(!JSON.stringify(await shown(shop, id)).includes('table'));
    assert.deepEqual(
      shop.effectsOf('count_scheduled').map(({ code }) => code),
      [null],
    );
  });

  test('has a possible time, and a shop has at most 1,000', async () => {
    const shop = await ShopHarness.connected();
    const { nowMs } = shop;
    const impossible = [
      { sendAtMs: nowMs },
      { sendAtMs: nowMs + 90 * DAY_MS + 1 },
      { sendAtMs: nowMs + HOUR_MS, notAfterMs: nowMs + HOUR_MS - 1 },
      { sendAtMs: nowMs + HOUR_MS, notAfterMs: nowMs + HOUR_MS + 7 * DAY_MS + 1 },
    ];
    for (const times of impossible) {
      const reply = await schedule(shop, times);
      assert.equal(reply.ok || reply.failure.code, 'VALIDATION_ERROR');
    }
    for (let count = 0; count < 1_000; count += 1) await scheduledId(shop);
    const reply = await schedule(shop);
    assert.equal(reply.ok || reply.failure.code, 'SCHEDULED_LIMIT_REACHED');
  });
});
