import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PoolClient } from '../../../../actors/shops/pool-link/pool-client.ts';
import type { PoolSessions } from '../../../../actors/shops/pool-link/pool-sessions.ts';
import type { PoolReplies, PoolRequest } from '../../../../actors/shops/protocol/pool-protocol.ts';
import type { Actors } from '../../../../runtime/actors.ts';
import { RuntimeFailure } from '../../../../runtime/runtime-failure.ts';
import type { Store } from '../../../../runtime/store.ts';
import { FakeClock } from '../../../runtime/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';

const pool = { tenantId: '65f000000000000000000001', shopId: '65f000000000000000000002' };
const offer = {
  to: '+33600000010',
  text: 'hello',
  mediaUrl: null,
  recipientClass: 'known',
  messageId: null,
} as const;

/** Returns a client whose only pool shop gives this answer. A code is a failure of the link. */
function clientWith(answer: (ask: PoolRequest) => PoolReplies[PoolRequest['ask']] | 'SHARD_NOT_OWNED') {
  const told: { readonly line: string; readonly code: unknown; readonly reason?: unknown }[] = [];
  const note = (fields: object, line: string): void => {
    const { err, ...others } = fields as { err?: { code?: unknown }; reason?: unknown };
    told.push({ line, code: err?.code, ...('reason' in others ? { reason: others.reason } : {}) });
  };
  const clock = new FakeClock();
  const built = new PoolClient({
    actors: fakeOf<Actors>({}),
    store: fakeOf<Store>({}),
    clock,
    random: () => 0,
    log: { debug: note, info: note, warn: note, error: note },
    link: {
      async call(_shard, payload) {
        const answered = answer(JSON.parse(payload) as PoolRequest);
        if (typeof answered === 'string') throw new RuntimeFailure(answered, 'moved');
        return JSON.stringify(answered);
      },
      serve: () => undefined,
    },
    sessions: fakeOf<PoolSessions>({ list: async () => [pool] }),
    platformName: 'Market Square',
  });
  return { built, told, clock };
}

test('a pool shop that is willing is found; one that does not answer is skipped, and the log has the reason', async () => {
  const willing = clientWith(() => ({ kind: 'willing' }));
  assert.deepEqual(await willing.built.find(offer), pool);
  const away = clientWith(() => 'SHARD_NOT_OWNED');
  assert.equal(await away.built.find(offer), undefined);
  assert.deepEqual(away.told, [
    { line: 'a shop of the pool did not answer an offer', code: 'SHARD_NOT_OWNED' },
  ]);
});

test('the pool is asked for the rest of an erased shop until it answers, and each failure is logged', async () => {
  let asked = 0;
  const { built, told, clock } = clientWith(() => {
    asked += 1;
    return asked < 3 ? 'SHARD_NOT_OWNED' : { kind: 'refused' };
  });
  let done = false;
  void built.takeBackErased({ messageId: '65f0000000000000000000aa', pool, createdAtMs: 1 }).then(() => {
    done = true;
  });
  await clock.until(() => done);
  const line = 'a shop of the pool was not reached to take a message back';
  assert.deepEqual(told, [
    { line, code: 'SHARD_NOT_OWNED' },
    { line, code: 'SHARD_NOT_OWNED' },
  ]);
});

test('the log tells the failure of a cancellation by its reason', async () => {
  const { built, told } = clientWith(() => 'SHARD_NOT_OWNED');
  const message = { messageId: '65f0000000000000000000aa', pool, createdAtMs: 1 };
  assert.equal(await built.takeBackCancelled(message), undefined);
  const line = 'a shop of the pool was not reached to take a message back';
  assert.deepEqual(told, [{ line, code: 'SHARD_NOT_OWNED', reason: 'CANCELLED' }]);
});
