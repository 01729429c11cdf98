/** Replays to an enabled endpoint whose loop is not here: its node stops, or its tenant leaves or is loaded again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TenantState } from '../../../actors/tenants/tenant-state.ts';
import { webhookAccess } from '../../../actors/webhooks/webhook-access.ts';
import { webhookDeliveries } from '../../../actors/webhooks/webhook-deliveries.ts';
import { WebhookPump, type WebhookPumpOptions } from '../../../actors/webhooks/webhook-pump.ts';
import type { Actors } from '../../../runtime/actors.ts';
import { movedAwayFailure } from '../../../runtime/runtime-failure.ts';
import type { Store } from '../../../runtime/store.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { fakeOf } from '../../testbed/fake-of.ts';
import { LineLog } from '../../testbed/line-log.ts';
import { webhookRecord } from './endpoint-world.ts';

const TENANT = '66b1f0a2c3d4e5f607182901';
const EVENTS = [{ streamId: '1-0', shopId: 's' }];
const SELECTION = { kind: 'events', eventIds: ['0'.repeat(24)] } as const;

/** A pump that sends one tenant's events to one endpoint, and replays to it. `onRead` is called before each read. */
function pumpOfOneHook({ active = true } = {}) {
  const clock = new FakeClock();
  const hooks = new Map([['hook', webhookRecord({ id: 'hook' })]]);
  const hook = {
    onRead: (): void => undefined,
    state: async (): Promise<unknown> =>
      fakeOf<TenantState>({ record: { active } as never, webhooks: hooks }),
    load: () => pump.sync(TENANT, active ? hooks : new Map(), Symbol()),
  };
  const read = async (reads: readonly unknown[]): Promise<unknown[]> => {
    hook.onRead();
    return reads.map(() => []);
  };
  const store = { read: read as unknown as Store['read'], readConfirmed: read as unknown as Store['read'] };
  const pump = new WebhookPump(
    fakeOf<WebhookPumpOptions>({
      clock,
      random: () => 0.5,
      log: new LineLog(),
      store,
      actors: fakeOf({ ask: (async () => ({ ok: true, value: true })) as never }),
    }),
  );
  const actors = fakeOf<Actors>({ state: (() => hook.state()) as never });
  const { replay } = webhookDeliveries(
    { store, clock, pump, makeId: () => 'x' },
    webhookAccess({ actors, store }),
  );
  hook.load();
  return { pump, hook, replay: () => replay(TENANT, 'hook', SELECTION) };
}

test('a replay while the node stops is left to the next owner, and the endpoint is not called disabled', async () => {
  const { pump } = pumpOfOneHook();
  assert.equal(await pump.replay(TENANT, 'other', EVENTS), 'disabled');
  assert.equal(await pump.replay(TENANT, 'hook', EVENTS), 'replayed');
  await pump.settle();
  await assert.rejects(pump.replay(TENANT, 'hook', EVENTS), { code: 'SHARD_NOT_OWNED' });
});

test('a replay whose tenant leaves the node meanwhile is left to the next owner', async () => {
  const { pump, hook, replay } = pumpOfOneHook();
  hook.onRead = () => {
    pump.stop(TENANT);
    hook.state = () => Promise.reject(movedAwayFailure());
  };
  await assert.rejects(replay(), { code: 'SHARD_NOT_OWNED' });
});

test('a replay whose tenant is loaded again meanwhile is carried out', async () => {
  const { pump, hook, replay } = pumpOfOneHook();
  const { state } = hook;
  hook.onRead = () => {
    hook.onRead = () => undefined;
    pump.stop(TENANT);
    hook.state = () => {
      hook.load();
      return state();
    };
  };
  assert.deepEqual(await replay(), { ok: true, value: { replayed: 0 } });
});

test('a replay to an enabled endpoint that never gets its loop is refused as not carried out', async () => {
  const { pump, hook, replay } = pumpOfOneHook();
  hook.onRead = () => pump.stop(TENANT);
  await assert.rejects(replay(), { code: 'SHARD_NOT_OWNED' });
});

test('a replay to an endpoint of a tenant that is not active is a conflict', async () => {
  const reply = await pumpOfOneHook({ active: false }).replay();
  assert.equal(reply.ok || reply.failure.code, 'CONFLICT');
});
