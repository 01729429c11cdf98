import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PoolClient } from '../../../../actors/shops/pool-link/pool-client.ts';
import type { PoolSessions } from '../../../../actors/shops/pool-link/pool-sessions.ts';
import type { PoolReplies, PoolRequest } from '../../../../actors/shops/protocol/pool-protocol.ts';
import { shopAddress } from '../../../../actors/shops/records/shop-keys.ts';
import type { Actors } from '../../../../runtime/actors.ts';
import { RuntimeFailure } from '../../../../runtime/runtime-failure.ts';
import type { Store } from '../../../../runtime/store.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';
import { comparable, LineLog } from '../../../testbed/line-log.ts';

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
    sessions: fakeOf<PoolSessions>({ listShops: async () => [pool] }),
    platformName: 'Market Square',
  });
  return { built, told, clock };
}

test('a pool shop that is willing is found; one that does not answer is skipped, and the log has the reason', async () => {
  const willing = clientWith(() => ({ kind: 'willing' }));
  assert.deepEqual(await willing.built.find(offer), pool);
  const away = clientWith(() => 'SHARD_NOT_OWNED');
  assert.equal(await away.built.find(offer), undefined);
  assert.deepEqual(away.told, [{ line: 'an offer to a shop of the pool failed', code: 'SHARD_NOT_OWNED' }]);
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
  const line = 'a request to take a message back from the pool failed';
  assert.deepEqual(told, [
    { line, code: 'SHARD_NOT_OWNED' },
    { line, code: 'SHARD_NOT_OWNED' },
  ]);
});

test('the log tells the failure of a cancellation by its reason', async () => {
  const { built, told } = clientWith(() => 'SHARD_NOT_OWNED');
  const message = { messageId: '65f0000000000000000000aa', pool, createdAtMs: 1 };
  assert.equal(await built.takeBackCancelled(message), undefined);
  const line = 'a request to take a message back from the pool failed';
  assert.deepEqual(told, [{ line, code: 'SHARD_NOT_OWNED', reason: 'CANCELLED' }]);
});

/** Returns a client whose pool shop answers with a text that cannot be read, and counts the requests. */
function clientWithDefect() {
  const log = new LineLog();
  let askedCount = 0;
  const client = new PoolClient({
    actors: fakeOf<Actors>({}),
    store: fakeOf<Store>({}),
    clock: new FakeClock(),
    random: () => 0,
    log,
    link: {
      async call() {
        askedCount += 1;
        return 'Dear Ann';
      },
      serve: () => undefined,
    },
    sessions: fakeOf<PoolSessions>({ listShops: async () => [pool] }),
    platformName: 'Market Square',
  });
  return { client, log, askedCount: () => askedCount };
}

test('a defect in an offer, in an effect or in a cancellation is an error in the log, without stored text', async () => {
  const error = { level: 'error', error: 'SyntaxError' };
  const offering = clientWithDefect();
  assert.equal(await offering.client.find(offer), undefined);
  const offerLine = await offering.log.first;
  assert.deepEqual(comparable(offerLine), {
    ...error,
    pool,
    message: 'an offer to a shop of the pool failed',
  });

  const cancelling = clientWithDefect();
  const message = { messageId: '65f0000000000000000000aa', pool, createdAtMs: 1 };
  assert.equal(await cancelling.client.takeBackCancelled(message), undefined);
  const { messageId } = message;
  const cancellationLine = await cancelling.log.first;
  assert.deepEqual(comparable(cancellationLine), {
    ...error,
    pool,
    messageId,
    reason: 'CANCELLED',
    message: 'a request to take a message back from the pool failed',
  });

  const performing = clientWithDefect();
  const notice = { origin: pool, from: '+33600000010', lid: '5@lid', wireId: '3EB0', atMs: 1, repeatAtMs: 5 };
  performing.client.perform({ type: 'report_opt_out', notice }, shopAddress(pool));
  const effectLine = await performing.log.first;
  assert.deepEqual(comparable(effectLine), {
    ...error,
    ...pool,
    effect: 'report_opt_out',
    origin: pool,
    message: 'a request between a shop and the pool failed',
  });
  assert.doesNotMatch(JSON.stringify([offerLine, cancellationLine, effectLine]), /Dear|\+336/);
});

test('a defect ends the attempt to take back a message of an erased shop, after one line of the log', async () => {
  const { client, log, askedCount } = clientWithDefect();
  const message = { messageId: '65f0000000000000000000aa', pool, createdAtMs: 1 };
  await assert.rejects(client.takeBackErased(message), SyntaxError);
  assert.deepEqual([askedCount(), log.lines.length], [1, 1]);
});
