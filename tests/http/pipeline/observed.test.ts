/** The counts of a listener: every request is counted in and out once, whatever breaks on the way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventWaiters, SharedAnswers } from '../../../actors/tenants/stored-events/event-waiters.ts';
import type { AnsweredRequest } from '../../../http/contract/answered-request.ts';
import { errorReply } from '../../../http/contract/envelope.ts';
import type { ReplyValue, RequestValue } from '../../../http/contract/exchange.ts';
import { CallsInProgress } from '../../../http/pipeline/calls-in-progress.ts';
import { DelayedRefusals } from '../../../http/pipeline/delayed-refusals.ts';
import { anonymous, type EdgeResponder } from '../../../http/pipeline/edge.ts';
import { observed } from '../../../http/pipeline/observed.ts';
import { tracedEdge } from '../../../http/pipeline/traced-edge.ts';
import { type Clock, systemClock } from '../../../runtime/clock.ts';
import type { Tracing } from '../../../runtime/tracing.ts';
import { deferred } from '../../testbed/deferred.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { bareCall } from '../socket/bare-server.ts';

const REPLY: ReplyValue = { status: 200, contentType: 'text/plain', headers: '', body: 'here' };
const REQUEST_VALUE: RequestValue = {
  method: 'GET',
  path: '/',
  query: '',
  headers: {
    authorization: '',
    apiKey: '',
    contentType: '',
    requestId: '',
    traceparent: '',
    idempotencyKey: '',
    lastEventId: '',
    takesEvents: false,
  },
  body: '',
  bodyFault: undefined,
  ip: '127.0.0.1',
};
const REQUEST = bareCall(REQUEST_VALUE);

function listener(
  edge: EdgeResponder,
  observe: (answeredRequest: AnsweredRequest) => void = () => undefined,
  clock: Clock = systemClock,
) {
  const faults: string[] = [];
  const say = (_fields: object, message: string): void => void faults.push(message);
  const silent = (): void => undefined;
  const log = { debug: silent, info: silent, warn: silent, error: say };
  const newId = () => '66b1f0a2c3d4e5f607182901';
  const inProgress = new CallsInProgress(1);
  const answer = observed(edge, { clock, log, inProgress, newId, observe });
  return { faults, answer, inProgress, callsInProgress: () => inProgress.count };
}

for (const kind of ['at once', 'later'] as const) {
  const handler: EdgeResponder = () => {
    const reply = anonymous(REPLY, '/');
    return kind === 'later' ? Promise.resolve(reply) : reply;
  };
  const brokenHandler: EdgeResponder = () => {
    if (kind === 'later') return Promise.reject(new Error('broken'));
    throw new Error('broken');
  };

  test(`answered ${kind}: it is no longer in flight`, async () => {
    const { answer, callsInProgress } = listener(handler);
    assert.equal((await answer(REQUEST)).status, 200);
    assert.equal(callsInProgress(), 0);
  });

  test(`an edge that throws ${kind}: 500, a line in the log, and no call is left in progress`, async () => {
    const { answer, callsInProgress, faults } = listener(brokenHandler);
    assert.equal((await answer(REQUEST)).status, 500);
    assert.deepEqual([callsInProgress(), faults], [0, ['the edge threw']]);
  });

  test(`an observer that throws once, for a reply that came ${kind}: counted out once`, async () => {
    let seen = 0;
    const { answer, callsInProgress } = listener(handler, () => {
      seen += 1;
      if (seen === 1) throw new Error('broken');
    });
    assert.equal((await answer(REQUEST)).status, 500);
    assert.equal(callsInProgress(), 0);
  });
}

test('a call that waits is not in flight, and is observed once', async () => {
  const clock = new FakeClock();
  const waiters = new EventWaiters(clock);
  const seen: { requestId: string; latencyMs: number }[] = [];
  const ownWait = waiters.enter('one', 30_000);
  const asked: unknown[] = [];
  const edge: EdgeResponder = async (_call, { requestId }, wait) => {
    asked.push([requestId, wait === ownWait ? ownWait?.takeShared() : undefined]);
    const reply = anonymous(REPLY, '/');
    return asked.length < 3 ? { ...reply, wait: ownWait } : reply;
  };
  const { answer, inProgress } = listener(edge, (answeredRequest) => void seen.push(answeredRequest), clock);
  const headers = { ...REQUEST_VALUE.headers, requestId: 'mine' };
  const { waiting } = await answer(bareCall({ ...REQUEST_VALUE, headers }));
  assert.deepEqual([inProgress.count, inProgress.waiting, inProgress.isFull], [0, 1, false]);
  await clock.advance(1_000);
  const sharedAnswers = new SharedAnswers();
  ownWait?.publish(sharedAnswers);
  const again = waiting?.goOn();
  assert.deepEqual([inProgress.count, inProgress.waiting], [1, 0]);
  const { waiting: still } = (await again) ?? REPLY;
  assert.deepEqual([inProgress.count, inProgress.waiting, seen.length, waiters.count], [0, 1, 0, 1]);
  await clock.advance(1_000);
  still?.wait.end();
  const reply = await still?.goOn();
  assert.deepEqual([reply?.status, reply?.waiting, waiters.count], [200, undefined, 0]);
  assert.deepEqual([inProgress.count, inProgress.waiting], [0, 0]);
  assert.deepEqual(asked, [
    ['mine', undefined],
    ['mine', sharedAnswers],
    ['mine', undefined],
  ]);
  assert.deepEqual(
    seen.map(({ requestId, latencyMs }) => [requestId, latencyMs]),
    [['mine', 2_000]],
  );
});

test('a waiting call whose handler throws as it continues: 500, and it waits no longer', async () => {
  const waiters = new EventWaiters(new FakeClock());
  const { answer, inProgress, faults } = listener(async (_call, _ids, wait) => {
    if (wait !== undefined) throw new Error('broken');
    return { ...anonymous(REPLY, '/'), wait: waiters.enter('one', 30_000) };
  });
  const { waiting } = await answer(REQUEST);
  assert.equal((await waiting?.goOn())?.status, 500);
  assert.deepEqual(
    [inProgress.count, inProgress.waiting, waiters.count, faults],
    [0, 0, 0, ['the edge threw']],
  );
});

test('a call that waits is one span, from its start to its answer', async () => {
  const waiters = new EventWaiters(new FakeClock());
  const spans: string[] = [];
  const tracing: Tracing = {
    start(name) {
      spans.push(`start ${name}`);
      return { traceparent: 'here', end: (ended) => void spans.push(`end ${ended?.name}`) };
    },
  };
  const edge: EdgeResponder = async (_call, { traceparent }, wait) => {
    spans.push(`asked under ${traceparent}`);
    return { ...anonymous(REPLY, '/'), ...(wait ? {} : { wait: waiters.enter('one', 30_000) }) };
  };
  const { answer } = listener(tracedEdge(edge, tracing));
  const { waiting } = await answer(REQUEST);
  await waiting?.goOn();
  assert.deepEqual(spans, ['start GET', 'asked under here', 'asked under here', 'end GET /']);
});

const BUSY = anonymous(errorReply({ code: 'OVERLOADED' }), '/');

/** Returns the answered status, or undefined if there is none yet. */
async function statusSoFar(answer: Promise<ReplyValue>): Promise<number | undefined> {
  const none = Promise.resolve(undefined);
  return (await Promise.race([answer, none.then(() => none).then(() => none)]))?.status;
}

for (const kind of ['at once', 'later'] as const) {
  test(`503 OVERLOADED, known ${kind}: is answered half a second later and is not in flight meanwhile`, async () => {
    const clock = new FakeClock();
    const edge: EdgeResponder = () => (kind === 'later' ? Promise.resolve(BUSY) : BUSY);
    const { answer, callsInProgress } = listener(edge, undefined, clock);
    const refused = Promise.resolve(answer(REQUEST));
    await clock.advance(499);
    assert.deepEqual([await statusSoFar(refused), callsInProgress()], [undefined, 0]);
    await clock.advance(1);
    assert.equal(await statusSoFar(refused), 503);
  });
}

test('503 at the listener: is delayed as well, and later calls have a slot', async () => {
  const clock = new FakeClock();
  const { promise: waiting, resolve: release } = deferred();
  const { answer, callsInProgress } = listener(
    async () => {
      await waiting;
      return anonymous(REPLY, '/');
    },
    undefined,
    clock,
  );
  const first = Promise.resolve(answer(REQUEST));
  const second = Promise.resolve(answer(REQUEST));
  assert.equal(callsInProgress(), 1);
  release();
  assert.equal((await first).status, 200);
  assert.equal(await statusSoFar(second), undefined);
  const third = Promise.resolve(answer(REQUEST));
  assert.equal((await third).status, 200);
  await clock.advance(500);
  assert.equal(await statusSoFar(second), 503);
});

test('an observer of a delayed refusal that throws: 500, and no uncaught error', async () => {
  const clock = new FakeClock();
  let seen = 0;
  const { answer } = listener(
    () => BUSY,
    () => {
      seen += 1;
      if (seen === 1) throw new Error('broken');
    },
    clock,
  );
  const refused = Promise.resolve(answer(REQUEST));
  await clock.advance(500);
  assert.equal(await statusSoFar(refused), 500);
});

test('a limited number of refusals is delayed', async () => {
  const clock = new FakeClock();
  const refusals = new DelayedRefusals(clock);
  const first = refusals.delay();
  for (let count = 1; count < 16_384; count += 1) void refusals.delay();
  await clock.advance(499);
  assert.equal(refusals.delay(), undefined);
  await clock.advance(1);
  await first;
  assert.notEqual(refusals.delay(), undefined, 'those that were sent made room');
});
