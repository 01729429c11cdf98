/**
 * A question for a shop's groups waits for a session that is reconnecting, as long as the caller can. It waits for no
 * other session.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionOrder } from '../../../../actors/sessions/session-host.ts';
import { ChannelWaiters } from '../../../../actors/shops/effects/channel-waiters.ts';
import { groupQuestions } from '../../../../actors/shops/effects/group-questions.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { ShopHarness } from '../shop-harness.ts';

const [KNOWN, NEW] = ['120363000000000001@g.us', '120363000000000002@g.us'];

const opened = { type: 'session.connected', phone: '33600000001', pairedAtMs: 1 } as const;
const told = {
  type: 'session.groups',
  groups: [{ id: KNOWN, name: 'Regulars', participantCount: 12, isAdmin: true, announce: false }],
} as const;

/** A shop after a restart, its session on its way back, that is asked for a group. */
class Asked {
  readonly clock = new FakeClock();
  readonly waiters = new ChannelWaiters(this.clock);
  readonly shop: ShopHarness;
  readonly askedFor: (string | undefined)[] = [];
  isAnswered = false;

  private constructor(shop: ShopHarness) {
    this.shop = shop;
  }

  static async for(groupId: string): Promise<Asked> {
    const asked = new Asked(await (await ShopHarness.connected()).successor('store'));
    const { clock, waiters, shop } = asked;
    const actors = { state: <State>() => shop.state as State };
    const host = {
      order(_: unknown, order: SessionOrder): void {
        assert.equal(order.type, 'refresh_groups');
        if (order.type === 'refresh_groups') asked.askedFor.push(order.groupId);
      },
    };
    void groupQuestions({ actors, clock, host, waiters })(shop.state.shop, groupId).then(() => {
      asked.isAnswered = true;
    });
    await clock.advance(0);
    return asked;
  }

  /** Takes an event of the session and notifies the calls that wait for a change. */
  async says(event: Parameters<ShopHarness['session']>[0]): Promise<void> {
    this.shop.session(event);
    this.waiters.notify(this.shop.state.shop.shopId);
    await this.clock.advance(0);
  }
}

test('the request is answered once the session is back and has reported its groups, without a second request', async () => {
  const asked = await Asked.for(KNOWN);
  assert.equal(asked.isAnswered, false);
  await asked.says(opened);
  assert.equal(asked.isAnswered, false, 'an open session alone knows no groups');
  await asked.says(told);
  assert.deepEqual([asked.isAnswered, asked.askedFor], [true, []]);
});

test('a group that the returning session did not report is asked for in the remaining time', async () => {
  const asked = await Asked.for(NEW);
  await asked.clock.advance(1_000);
  await asked.says(opened);
  await asked.says(told);
  assert.deepEqual([asked.isAnswered, asked.askedFor], [false, [NEW]]);
  await asked.clock.advance(499);
  assert.equal(asked.isAnswered, false);
  await asked.clock.advance(1);
  assert.equal(asked.isAnswered, true);
});

test('a request waits 1.5 s for a session that does not come back in time, under any changes meanwhile', async () => {
  const asked = await Asked.for(KNOWN);
  await asked.clock.advance(800);
  await asked.says({ type: 'session.closed', end: 'transient', statusCode: 503, detail: '' });
  await asked.clock.advance(699);
  assert.equal(asked.isAnswered, false);
  await asked.clock.advance(1);
  assert.deepEqual([asked.isAnswered, asked.askedFor], [true, []]);
});

test('a call stops waiting for a session that is lost meanwhile', async () => {
  const asked = await Asked.for(KNOWN);
  await asked.says({ type: 'session.closed', end: 'logged_out', statusCode: 401, detail: '' });
  assert.deepEqual([asked.isAnswered, asked.askedFor], [true, []]);
});
