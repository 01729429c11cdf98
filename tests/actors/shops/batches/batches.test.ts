import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Outcome } from '../../../../actors/failure.ts';
import type { BatchRequest } from '../../../../actors/shops/batch-operations.ts';
import type { BatchReply } from '../../../../actors/shops/protocol/shop-replies.ts';
import { dayEndsMs, dayOf } from '../../../../actors/shops/records/message-days.ts';
import { batchKey, endedBatchesKey } from '../../../../actors/shops/state/batches.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../runtime/durations.ts';
import { BatchHarness, numberAt } from './batch-harness.ts';

function events({ shop }: BatchHarness): string[] {
  const published = shop.writes.filter(([command]) => command === 'XADD').map((write) => write.join(' '));
  return published.flatMap((event) => /batch\.\w+/.exec(event)?.[0] ?? []);
}

describe('a batch', () => {
  test('sends each recipient one message with their own text, and ends', async () => {
    const run = await BatchHarness.connected();
    const id = await run.batch({ recipients: run.know(10) });
    await run.pass(HOUR_MS);
    assert.deepEqual(
      run.sent.map(({ to, text }) => `${to} ${text}`),
      Array.from({ length: 10 }, (_, place) => `${numberAt(place)} hello ${numberAt(place)}`),
    );
    const { status, progress, forecast, startedAt, endedAt } = await run.shown(id);
    assert.deepEqual([status, progress.sent, progress.waiting, forecast], ['finished', 10, 0, null]);
    assert.ok(startedAt !== null && endedAt !== null);
    assert.deepEqual(events(run), ['batch.started', 'batch.finished']);
    const body = [...run.shop.bodies.values()][0];
    assert.deepEqual([body?.batchId, body?.policy?.recipientClass], [id, 'known']);
    assert.equal(body?.policy?.caps.perDay, 250, 'its verdict is that of any send');
  });

  test('uses its share of the caps, so that single sends find capacity', async () => {
    const run = await BatchHarness.connected();
    await run.batch({ recipients: run.know(100), share: 0.5 });
    await run.pass(HOUR_MS - 1);
    assert.equal(run.sent.length, 20, 'half of 41 an hour');
    assert.match(run.shop.send('+33699999999'), /^[0-9a-f]{24}$/);
    await run.pass(DAY_MS);
    assert.equal(run.sent.length, 101);
  });

  test('with one text waits for the window of the bulk rule', async () => {
    const run = await BatchHarness.connected();
    await run.batch({ recipients: run.know(25), text: 'we open at seven' });
    await run.pass(HOUR_MS - 1);
    assert.equal(run.sent.length, 20);
    await run.pass(HOUR_MS);
    assert.equal(run.sent.length, 25);
  });

  test('lets what else waits in the queue go first', async () => {
    const run = await BatchHarness.connected();
    await run.batch({ recipients: run.know(5) });
    for (let count = 0; count < 3; count += 1) run.shop.send(`+3369999999${count}`);
    await run.pass(HOUR_MS);
    assert.deepEqual(
      run.sent.slice(0, 3).map(({ to }) => to),
      ['+33699999990', '+33699999991', '+33699999992'],
    );
    assert.equal(run.sent.length, 8);
  });

  test('refuses strangers and people who opted out, when it is made and when they are due', async () => {
    const run = await BatchHarness.connected();
    const people = run.know(3);
    const stranger = { to: '+33655555555' };
    const made = await run.create({ recipients: [...people, stranger] });
    assert.ok(made.ok);
    assert.deepEqual(made.value.refused, [{ to: stranger.to, code: 'COLD_RECIPIENT' }]);
    run.shop.redis.run(['HSET', run.shop.state.keys.writers, numberAt(1), writer(true)]);
    run.shop.redis.run(['SREM', run.shop.state.people.customers, numberAt(2)]);
    await run.pass(HOUR_MS);
    assert.deepEqual(
      run.sent.map(({ to }) => to),
      [numberAt(0)],
    );
    const { progress, codes } = await run.shown(made.value.batchId);
    assert.deepEqual([progress.refused, progress.sent], [3, 1]);
    assert.deepEqual(codes, { COLD_RECIPIENT: 2, RECIPIENT_OPTED_OUT: 1 });
    assert.deepEqual(run.counted(), [
      ...['1 refused COLD_RECIPIENT', 'started', '1 sent'],
      ...['1 refused RECIPIENT_OPTED_OUT', '1 refused COLD_RECIPIENT', 'finished'],
    ]);
  });

  test('keeps to its hours and times', async () => {
    const run = await BatchHarness.connected();
    const quietHours = { from: '10:00', to: '07:00', timeZone: 'Europe/Berlin' };
    const notBeforeMs = run.shop.nowMs + DAY_MS;
    const id = await run.batch({ recipients: run.know(60), quietHours, notBeforeMs });
    await run.pass(DAY_MS);
    assert.equal(run.sent.length, 1, 'from 9 o’clock in Berlin on');
    await run.pass(HOUR_MS - 1);
    assert.equal(run.sent.length, 28);
    await run.pass(20 * HOUR_MS);
    assert.equal(run.sent.length, 28, 'it is 10 o’clock');
    const overdue = await run.batch({ recipients: run.know(60, 100), notAfterMs: run.shop.nowMs + 60_000 });
    await run.pass(2 * DAY_MS);
    assert.equal((await run.shown(id)).status, 'finished');
    assert.equal((await run.shown(overdue)).status, 'expired');
  });

  test('is paused, resumed and cancelled, and a repeated call gets the same answer', async () => {
    const run = await BatchHarness.connected();
    const id = await run.batch({ recipients: run.know(30), paused: true });
    await run.pass(HOUR_MS);
    assert.equal(run.sent.length, 0);
    assert.equal(await run.steer(id, 'resume'), true);
    await run.pass(60_000);
    assert.equal(await run.steer(id, 'pause'), true);
    const sent = run.sent.length;
    assert.ok(sent > 0);
    await run.pass(HOUR_MS);
    assert.equal(run.sent.length, sent, 'nothing leaves any more');
    assert.equal((await run.shown(id)).status, 'paused');
    assert.equal(await run.steer(id, 'cancel'), true);
    const shown = await run.shown(id);
    assert.deepEqual(
      [shown.status, shown.progress.sent, shown.endedAt],
      ['cancelled', run.sent.length, new Date(run.shop.nowMs).toISOString()],
    );
    await run.pass(HOUR_MS);
    assert.equal(await run.steer(id, 'cancel'), true);
    assert.deepEqual(await run.shown(id), shown);
    for (const order of ['pause', 'resume'] as const) {
      const failure = await run.steer(id, order);
      assert.equal(failure !== true && failure.code, 'BATCH_ENDED');
    }
    const missing = await run.steer('65f000000000000000000009', 'pause');
    assert.equal(missing !== true && missing.code, 'BATCH_NOT_FOUND');
  });

  test('continues after restarts, and no recipient gets a second message', async () => {
    const first = await BatchHarness.connected();
    await first.batch({ recipients: first.know(40) });
    await first.pass(120_000);
    const sent = [...first.sent];
    const shop = await first.shop.successor('store');
    shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: shop.nowMs - 20 * DAY_MS });
    const secondHarness = new BatchHarness(shop);
    await secondHarness.pass(3 * HOUR_MS);
    const recipients = [...sent, ...secondHarness.sent].map(({ to }) => to);
    assert.equal(new Set(recipients).size, recipients.length, 'nobody twice');
    // A message that was being sent when the process ended may have left, and is not sent again.
    assert.ok(recipients.length >= 39);
  });

  test('is kept without an end until it has ended, and then as long as messages', async () => {
    const run = await BatchHarness.connected();
    const id = await run.batch({ recipients: run.know(2) });
    const key = batchKey(run.shop.state.keys, id);
    const expiries = () => run.shop.writes.filter(([command]) => command === 'PEXPIREAT');
    const ofBatch = () => expiries().filter(([, name]) => String(name).includes(':batch'));
    await run.pass(0);
    assert.deepEqual([run.live(id)?.status, ofBatch()], ['running', []]);
    await run.pass(HOUR_MS);
    const day = dayOf(Date.parse((await run.shown(id)).endedAt ?? ''));
    const expiresAtMs = dayEndsMs(day, 30 * DAY_MS);
    assert.deepEqual(ofBatch(), [
      ['PEXPIREAT', key, expiresAtMs],
      ['PEXPIREAT', endedBatchesKey(run.shop.state.keys, day), expiresAtMs],
    ]);
  });

  test('is made once for its key, and takes each number once', async () => {
    const run = await BatchHarness.connected();
    const [one, two] = run.know(40);
    assert.ok(one && two);
    const made = await run.create({ recipients: [one], paused: true, idempotencyKey: 'k' });
    assert.ok(made.ok);
    const { batchId } = made.value;
    const again = await run.create({ recipients: [one], paused: true, idempotencyKey: 'k' });
    assert.deepEqual(again.ok && [again.value.isReplayed, again.value.batchId], [true, batchId]);
    const add = async (recipients: readonly { to: string }[], idempotencyKey?: string) => {
      const given = recipients.map((each) => ({ ...each, fields: { name: 'x' } }));
      const asked = { recipients: given, idempotencyKey };
      return (await run.shop.ask({ type: 'add_recipients', batchId, asked })) as Awaited<
        ReturnType<BatchHarness['create']>
      >;
    };
    const repetition = await add([two, two, one]);
    assert.deepEqual(!repetition.ok && repetition.failure.fields?.map(({ field }) => field), [
      'recipients.1.to',
      'recipients.2.to',
    ]);
    assert.ok((await add([two], 'a')).ok);
    assert.equal((await add([two], 'a')).ok, true, 'the same call again adds nothing');
    assert.equal(run.live(batchId)?.total, 2);
    assert.ok((await add(run.know(20, 10))).ok);
    await run.steer(batchId, 'resume');
    await run.pass(60_000);
    const late = await add([{ to: numberAt(9) }]);
    assert.equal(!late.ok && late.failure.code, 'BATCH_STARTED');
    await run.pass(HOUR_MS);
    assert.equal(run.sent.length, 22);
  });

  test('answers a repeated idempotency key, and refuses it if any part of the body differs', async () => {
    const run = await BatchHarness.connected();
    const [one, two] = run.know(2);
    assert.ok(one !== undefined && two !== undefined);
    const quietHours = { from: '20:00', to: '08:00', timeZone: 'Europe/Berlin' };
    const notBeforeMs = run.shop.nowMs + HOUR_MS;
    const asked = { recipients: [one, two], quietHours, notBeforeMs, idempotencyKey: 'a' };
    const first = await run.create(asked);
    const again = async (more: Partial<BatchRequest>): Promise<boolean> => {
      const reply = await run.create({ ...asked, ...more });
      assert.ok(reply.ok && first.ok);
      assert.deepEqual([reply.value.batchId, reply.value.isReplayed], [first.value.batchId, true]);
      return reply.value.differs;
    };
    assert.equal(await again({ requestId: 'another' }), false);
    assert.equal(await again({ text: undefined }), true);
    const empty = await run.create({ ...asked, text: ' ', idempotencyKey: 'another' });
    assert.equal(!empty.ok && empty.failure.code, 'EMPTY_MESSAGE');
    const others: Partial<BatchRequest>[] = [
      ...[{ name: 'other' }, { text: 'other {{name}}' }, { share: 0.5 }, { paused: true }],
      ...[{ quietHours: undefined }, { quietHours: { ...quietHours, to: '09:00' } }],
      ...[
        { notBeforeMs: undefined },
        { notAfterMs: notBeforeMs + HOUR_MS },
        { mediaUrl: 'https://a.example/b' },
      ],
      ...[
        { recipients: [one] },
        { recipients: [two, one] },
        { recipients: [one, { ...two, fields: { name: 'x' } }] },
      ],
      { recipients: [one, { ...two, idempotencyKey: 'k' }] },
    ];
    for (const other of others) assert.equal(await again(other), true, JSON.stringify(other));
    const batchId = first.ok ? first.value.batchId : '';
    const add = async (recipients: BatchRequest['recipients']): Promise<boolean> => {
      const filled = recipients.map((recipient) => ({ fields: { name: 'x' }, ...recipient }));
      const added = { recipients: filled, idempotencyKey: 'b' };
      const reply = (await run.shop.ask({
        type: 'add_recipients',
        batchId,
        asked: added,
      })) as Outcome<BatchReply>;
      assert.ok(reply.ok);
      return reply.value.differs;
    };
    const more = run.know(2, 5);
    assert.deepEqual([await add(more), await add(more), await add(more.slice(1))], [false, false, true]);
  });

  test('is forecast in slices, so that other work runs meanwhile', async () => {
    const run = await BatchHarness.connected(0);
    const batchId = await run.batch({ recipients: run.know(1), paused: true });
    const batch = run.live(batchId);
    assert.ok(batch !== undefined);
    Object.assign(batch, { total: 10_000 });
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const { forecast } = await run.shown(batchId);
    clearImmediate(next);
    assert.ok((forecast?.days.length ?? 0) > 30);
    assert.ok(turns > 1, `${turns} turns of others`);
  });

  test('names each field that is not possible', async () => {
    const run = await BatchHarness.connected();
    const [one, two] = run.know(2);
    assert.ok(one && two);
    const recipients = [one];
    const blank = [{ ...one, fields: { name: ' \u200b' } }];
    const { nowMs } = run.shop;
    const quiet = (more: object) => ({
      quietHours: { from: '20:00', to: '08:00', timeZone: 'Europe/Berlin', ...more },
    });
    const impossible: [object, string][] = [
      [{ text: 'hello {{name}} and {{ other }}' }, 'recipients.0.fields.other'],
      [{ notBeforeMs: nowMs + 91 * DAY_MS }, 'notBefore'],
      [{ notAfterMs: nowMs }, 'notAfter'],
      [{ notAfterMs: nowMs + 181 * DAY_MS }, 'notAfter'],
      [quiet({ timeZone: 'Europe/Atlantis' }), 'quietHours.timeZone'],
      [quiet({ timeZone: '+02:00' }), 'quietHours.timeZone'],
      [quiet({ from: '24:00' }), 'quietHours.from'],
      [quiet({ to: '20:00' }), 'quietHours.to'],
      [{ text: `${'x'.repeat(4_090)}{{name}}` }, 'recipients.0.fields'],
      ...['a}b', '{a', '', 'a\nb', 'x'.repeat(65)].map((wrong): [object, string] => [
        { recipients: [{ ...one, fields: { name: 'x', [wrong]: 'x' } }] },
        `recipients.0.fields.${wrong.slice(0, 64)}`,
      ]),
      [{ text: '{{name}}', recipients: blank }, 'recipients.0.fields'],
      [
        { recipients: [one, two].map((to) => ({ ...to, idempotencyKey: 'k' })) },
        'recipients.1.idempotencyKey',
      ],
    ];
    for (const [asked, field] of impossible) {
      const reply = await run.create({ recipients, ...asked });
      assert.deepEqual(!reply.ok && reply.failure.fields?.map((problem) => problem.field), [field]);
    }
    const mediaUrl = 'https://a.example/b';
    const batchId = await run.batch({ recipients: blank, text: '{{name}}', mediaUrl, paused: true });
    await run.steer(batchId, 'cancel');
    await run.pass(0);
    for (let count = 0; count < 20; count += 1) await run.batch({ recipients, paused: true });
    const reply = await run.create({ recipients });
    assert.equal(!reply.ok && reply.failure.code, 'BATCH_LIMIT_REACHED');
  });
});

describe('a batch stops by itself', () => {
  test('once more than 5 % of its last 50 recipients opted out', async () => {
    const run = await BatchHarness.connected();
    const id = await run.batch({ recipients: run.know(40) });
    const optOut = (place: number): void => {
      const stop = { type: 'session.inbound', wireId: `S${place}`, text: 'STOP', token: 't' } as const;
      run.shop.session({ ...stop, from: numberAt(place), atMs: run.shop.nowMs });
    };
    await run.pass(120_000);
    optOut(0);
    optOut(1);
    optOut(1);
    assert.equal(run.live(id)?.status, 'running');
    optOut(2);
    await run.pass(HOUR_MS);
    const { status, stopped } = await run.shown(id);
    assert.deepEqual([status, stopped?.reason], ['stopped', 'RECIPIENTS_OPTED_OUT']);
    assert.deepEqual(events(run), ['batch.started', 'batch.stopped']);
    assert.deepEqual(
      run.counted().filter((words) => !/^1 sent/.test(words)),
      ['started', 'stopped RECIPIENTS_OPTED_OUT'],
    );
    const countBefore = run.sent.length;
    await run.steer(id, 'resume');
    await run.pass(2 * HOUR_MS);
    assert.ok(run.sent.length > countBefore, 'somebody decided that it goes on');
  });

  test('when the network restricts or warns the number, and when the session is lost', async () => {
    const untilMs = Date.parse('2027-01-01T00:00:00Z');
    const restriction = { isActive: true, kind: 'RESTRICT_ALL_COMPANIONS', endsAtMs: untilMs };
    const newChats = { quota: 10, used: 9, warning: 'second', endsAtMs: untilMs } as const;
    const closed = { type: 'session.closed', end: 'logged_out', statusCode: 401, detail: '' } as const;
    const words = [
      [{ type: 'session.limits', restriction }, 'NUMBER_RESTRICTED'],
      [{ type: 'session.limits', newChats }, 'NUMBER_WARNED'],
      [closed, 'SESSION_LOST'],
    ] as const;
    for (const [word, reason] of words) {
      const run = await BatchHarness.connected();
      const id = await run.batch({ recipients: run.know(10), paused: false });
      run.shop.session(word);
      assert.equal((await run.shown(id)).stopped?.reason, reason);
    }
  });

  test('at the second rate signal of a day, and at none of two that are a day apart', async () => {
    for (const [apartMs, reason] of [
      [DAY_MS - 5 * MINUTE_MS, 'RATE_SIGNALS'],
      [DAY_MS, undefined],
    ] as const) {
      const run = await BatchHarness.connected();
      const id = await run.batch({ recipients: run.know(10) });
      // The network sends a rate signal, whatever the shop sends.
      const signal = async (): Promise<void> => {
        while (run.shop.state.currentMessage === undefined) {
          run.shop.pass(20_000);
          await run.deliver();
        }
        const { messageId } = run.shop.state.currentMessage;
        run.shop.toWire(messageId, 'nothing');
        run.shop.outcome(messageId, { kind: 'rate_limited' });
      };
      await signal();
      assert.notEqual(run.live(id)?.status, 'stopped');
      const [firstMs = 0] = run.live(id)?.rateSignalsMs ?? [];
      run.shop.nowMs = firstMs + apartMs;
      await signal();
      assert.equal((await run.shown(id)).stopped?.reason, reason);
    }
  });
});

function writer(optedOut: boolean): string {
  return JSON.stringify({ lastInboundAtMs: 0, stampMs: 0, optedOut, wireIds: [] });
}
