/**
 * An accepted message of a batch does not leave in quiet hours, after its last moment, or while the batch is paused.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BatchRequest } from '../../../../actors/shops/batch-operations.ts';
import { withPlace } from '../../../../actors/shops/operations/queue-place.ts';
import type { MessageView } from '../../../../actors/shops/shop-operations.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../runtime/durations.ts';
import { BatchHarness, numberAt } from './batch-harness.ts';

/** The harness begins at 08:00 UTC. */
const quietHours = { from: '20:00', to: '08:00', timeZone: 'UTC' };

/**
 * A batch for one person or more. Its first message was accepted ten seconds before the quiet hours and is with the
 * session.
 */
async function justBefore({
  people = 1,
  ...more
}: Partial<BatchRequest> & { readonly people?: number } = {}): Promise<{
  run: BatchHarness;
  id: string;
  messageId: string;
}> {
  const run = await BatchHarness.connected();
  run.shop.pass(12 * HOUR_MS - 10_000);
  const id = await run.batch({ recipients: run.know(people), quietHours, ...more });
  run.shop.pass(0);
  await run.deliver();
  const messageId = run.shop.state.currentMessage?.messageId ?? '';
  assert.notEqual(messageId, '');
  return { run, id, messageId };
}

function sentAt({ sent }: BatchHarness): string[] {
  return sent.map(({ to, atMs }) => `${to} ${new Date(atMs).toISOString().slice(11, 16)}`);
}

const AT_EIGHT = [`${numberAt(0)} 08:00`];

describe('a message of a batch that was accepted just before the quiet hours', () => {
  test('waits for their end if it is prepared too late, and leaves once', async () => {
    const { run, id, messageId } = await justBefore();
    run.shop.passFirstLook(messageId);
    run.shop.pass(MINUTE_MS);
    run.shop.reportPrepared(messageId, [['SET', 'ratchet', 'step']]);
    assert.equal(run.shop.statusOf(messageId), 'queued');
    assert.ok(!run.shop.writes.some(([, key]) => key === 'ratchet'), 'what sealed it is not stored');
    assert.ok(run.shop.effects.some(({ type }) => type === 'recall'));
    await run.pass(DAY_MS);
    assert.deepEqual(sentAt(run), AT_EIGHT);
    assert.deepEqual((await run.shown(id)).progress.sent, 1);
  });

  test('waits if the session drops, or if the network asks for a pause', async () => {
    const closed = { type: 'session.closed', end: 'transient', statusCode: 428, detail: '' } as const;
    const dropped = await justBefore();
    dropped.run.shop.session(closed);
    dropped.run.shop.pass(MINUTE_MS);
    const { phone, pairedAtMs } = dropped.run.shop.state.channel.context;
    dropped.run.shop.session({ type: 'session.connected', phone: phone ?? '', pairedAtMs: pairedAtMs ?? 0 });
    const slowed = await justBefore();
    slowed.run.shop.toWire(slowed.messageId, 'nothing');
    slowed.run.shop.outcome(slowed.messageId, { kind: 'rate_limited' });
    for (const { run } of [dropped, slowed]) {
      await run.pass(DAY_MS);
      assert.deepEqual(sentAt(run), AT_EIGHT);
    }
  });

  test('waits also for the process that takes the shop over', async () => {
    const { run, messageId } = await justBefore();
    run.shop.pass(MINUTE_MS);
    const next = new BatchHarness(await run.shop.successor('store'));
    const body = run.shop.bodies.get(messageId);
    assert.ok(body !== undefined);
    next.shop.bodies.set(messageId, body);
    const { phone, pairedAtMs } = next.shop.state.channel.context;
    next.shop.session({ type: 'session.connected', phone: phone ?? '', pairedAtMs: pairedAtMs ?? 0 });
    await next.pass(DAY_MS);
    assert.deepEqual(sentAt(next), AT_EIGHT);
  });

  test('accepts no other message of its batch before it, even if a gap passes at their end', async () => {
    const { run, id, messageId } = await justBefore({ people: 5 });
    run.shop.pass(MINUTE_MS);
    run.shop.reportPrepared(messageId, []);
    await run.pass(12 * HOUR_MS - MINUTE_MS + 5_000);
    assert.equal(new Date(run.shop.nowMs).toISOString().slice(11, 19), '07:59:55');
    run.shop.send('+33699999999');
    await run.pass(6_000);
    assert.equal(run.shop.state.pacing.value, 'gap');
    assert.deepEqual((await run.shown(id)).progress.queued, 1);
    await run.pass(HOUR_MS);
    assert.equal((await run.shown(id)).progress.sent, 5);
  });

  test('delays neither single sends nor another batch', async () => {
    const { run } = await justBefore();
    run.shop.pass(MINUTE_MS);
    const single = run.shop.send('+33699999999');
    const other = await run.batch({ recipients: run.know(2, 5) });
    await run.pass(HOUR_MS);
    assert.equal(run.shop.statusOf(single), 'sent');
    assert.equal((await run.shown(other)).progress.sent, 2);
    assert.equal(run.sent.length, 3);
    await run.pass(DAY_MS);
    assert.equal(run.sent.length, 4);
  });
});

describe('a message of a batch that was accepted', () => {
  test('fails EXPIRED once the batch may send no more, and ends with it', async () => {
    const notAfterMs = Date.parse('2026-03-01T20:00:30Z');
    const { run, id, messageId } = await justBefore({ quietHours: undefined, notAfterMs });
    run.shop.passFirstLook(messageId);
    run.shop.pass(MINUTE_MS);
    run.shop.reportPrepared(messageId, []);
    await run.pass(DAY_MS);
    assert.equal(run.shop.statusOf(messageId), 'failed EXPIRED');
    const { status, progress, codes } = await run.shown(id);
    assert.deepEqual([status, progress.failed, progress.queued, codes], ['finished', 1, 0, { EXPIRED: 1 }]);
    assert.deepEqual(run.sent, []);
  });

  test('fails CANCELLED when the batch is cancelled, unless it is on the wire', async () => {
    const { run, id, messageId } = await justBefore({ quietHours: undefined });
    await run.steer(id, 'cancel');
    assert.equal(run.shop.statusOf(messageId), 'failed CANCELLED');
    await run.pass(HOUR_MS);
    assert.deepEqual(run.sent, []);
    assert.equal((await run.shown(id)).status, 'cancelled');
    const wired = await justBefore({ quietHours: undefined });
    wired.run.shop.toWire(wired.messageId, 'nothing');
    await wired.run.steer(wired.id, 'cancel');
    wired.run.shop.outcome(wired.messageId, { kind: 'acknowledged' });
    await wired.run.pass(HOUR_MS);
    assert.equal((await wired.run.shown(wired.id)).progress.sent, 1);
  });

  test('waits while the batch is paused or stopped, and leaves once it is resumed', async () => {
    const { run, id, messageId } = await justBefore({ quietHours: undefined });
    run.shop.passFirstLook(messageId);
    await run.steer(id, 'pause');
    run.shop.reportPrepared(messageId, []);
    await run.pass(HOUR_MS);
    assert.deepEqual(run.sent, []);
    await run.steer(id, 'resume');
    await run.pass(HOUR_MS);
    assert.deepEqual(sentAt(run), [`${numberAt(0)} 20:59`]);
    const stopped = await justBefore({ quietHours: undefined });
    const newChats = {
      quota: 10,
      used: 9,
      warning: 'second',
      endsAtMs: Date.parse('2027-01-01T00:00:00Z'),
    } as const;
    stopped.run.shop.session({ type: 'session.limits', newChats });
    await stopped.run.pass(HOUR_MS);
    assert.deepEqual(stopped.run.sent, []);
    assert.equal(stopped.run.shop.statusOf(stopped.messageId), 'queued');
  });

  test('has no time at which it is likely to leave, and delays no other message', async () => {
    const { run, id, messageId } = await justBefore({ quietHours: undefined });
    run.shop.passFirstLook(messageId);
    await run.steer(id, 'pause');
    run.shop.reportPrepared(messageId, []);
    const single = run.shop.send('+33699999999');
    const shown = (messageId: string): { readonly position?: number; readonly estimatedSendAt?: unknown } => {
      const view = { id: messageId, status: 'queued' } as MessageView;
      const { state, nowMs } = run.shop;
      return withPlace(view, state, { times: { sendGap: { minMs: 6_000, maxMs: 20_000 } }, nowMs });
    };
    assert.equal(shown(messageId).estimatedSendAt, null);
    assert.equal(shown(single).estimatedSendAt, new Date(run.shop.nowMs).toISOString());
    await run.steer(id, 'resume');
    assert.notEqual(shown(messageId).estimatedSendAt, null);
  });

  test('fails EXPIRED if the batch is not resumed for a day', async () => {
    const { run, id, messageId } = await justBefore({ quietHours: undefined });
    await run.steer(id, 'pause');
    await run.pass(25 * HOUR_MS);
    assert.equal(run.shop.statusOf(messageId), 'failed EXPIRED');
  });
});
