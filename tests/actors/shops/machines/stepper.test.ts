/** Holds each step of actors/shops/machines/stepper.ts to that of the pinned version of xstate. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyStateMachine, assign, createMachine, setup, transition } from 'xstate';
import type { SendOutcome, SessionEnd } from '../../../../actors/sessions/session-events.ts';
import {
  type ChannelContext,
  unconfiguredContext,
} from '../../../../actors/shops/machines/channel-context.ts';
import type { ChannelEffect, ChannelEvent } from '../../../../actors/shops/machines/channel-events.ts';
import { channelMachine } from '../../../../actors/shops/machines/channel-machine.ts';
import {
  type PacingContext,
  type PacingEffect,
  type PacingEvent,
  pacingMachine,
} from '../../../../actors/shops/machines/pacing-machine.ts';
import { stepper } from '../../../../actors/shops/machines/stepper.ts';
import { HOUR_MS } from '../../../../runtime/durations.ts';

const message = { messageId: 'm1', kind: 'message' as const, to: '+33612345678' };

test('each event in each state of the pacing steps as in xstate’s own transition()', () => {
  const outcomes: SendOutcome[] = [
    { kind: 'refused', code: '463' },
    { kind: 'refused', code: '479' },
    { kind: 'media_unavailable', detail: '' },
    ...(
      ['acknowledged', 'rate_limited', 'not_on_network', 'not_sent', 'unprepared', 'restarted'] as const
    ).map((kind) => ({ kind })),
    { kind: 'unknown' },
  ];
  const times = { gapUntilMs: 2, pauseUntilMs: 3 };
  const events: PacingEvent[] = [
    { type: 'dispatch', message, untilMs: 5 },
    { type: 'dispatch', message: { ...message, to: '1@g.us' }, untilMs: 5 },
    { type: 'dispatch', message: { ...message, kind: 'status', to: '' }, untilMs: 5 },
    { type: 'prepared', untilMs: 7 },
    { type: 'prepared', untilMs: 7, startsChat: true },
    { type: 'blocked', reason: 'RECIPIENT_OPTED_OUT' },
    ...outcomes.map((outcome): PacingEvent => ({ type: 'outcome', outcome, ...times })),
    { type: 'put_back' },
    { type: 'rate_limited_before', pauseUntilMs: 9 },
    { type: 'elapsed', gapUntilMs: 10 },
    { type: 'taken_back', gapUntilMs: 10 },
    { type: 'pause' },
    { type: 'resume' },
  ];
  const emptyContext: PacingContext = { currentMessage: null, untilMs: null, heldByOperator: false };
  const contexts: PacingContext[] = [
    emptyContext,
    { ...emptyContext, currentMessage: message, untilMs: 20 },
    { ...emptyContext, currentMessage: { ...message, startsChat: true }, untilMs: 20 },
    {
      ...emptyContext,
      currentMessage: message,
      unprepared: { messageId: message.messageId, times: 3 },
      heldByOperator: true,
    },
    { ...emptyContext, currentMessage: message, unprepared: { messageId: message.messageId, times: 4 } },
    { ...emptyContext, currentMessage: message, unprepared: { messageId: 'm0', times: 4 } },
  ];
  assertSameSteps<typeof pacingMachine, PacingEffect>(pacingMachine, events, contexts);
});

test('each event in each state of the channel steps as in xstate’s own transition()', () => {
  const ends: SessionEnd[] = [
    ...(['temporarily_banned', 'login_refused', 'passkey_required'] as const),
    ...(['transient', 'restart_required', 'replaced', 'logged_out', 'forbidden'] as const),
    ...(['outdated', 'qr_exhausted', 'pairing_refused', 'credentials_unreadable'] as const),
    'egress_unreachable',
  ];
  const closed = { type: 'closed', detail: 'd', nowMs: 3, chance: 0.5 } as const;
  const events: ChannelEvent[] = [
    { type: 'connect', nowMs: 1, configId: 'c' },
    { type: 'connect', nowMs: 1, configId: 'c', pairWith: '41791234567' },
    { type: 'disconnect', nowMs: 2 },
    { type: 'qr' },
    { type: 'code' },
    { type: 'connected', phone: '41791234567', pairedAtMs: 5 },
    { type: 'connected', phone: '41791234567', pairedAtMs: 5, warmupSinceMs: 4 },
    { type: 'refused', nowMs: 6, detail: 'shop' },
    ...ends.flatMap((end) =>
      [undefined, 429].map((statusCode): ChannelEvent => ({ ...closed, end, statusCode })),
    ),
    { ...closed, end: 'temporarily_banned', statusCode: 402, networkCode: 104, waitMs: 2 * HOUR_MS },
    { type: 'reconnect_due' },
    { type: 'activated', nowMs: 7 },
    { type: 'egress_changed', nowMs: 8 },
  ];
  const lastEnd = { end: 'number_in_use', statusCode: null, detail: '', atMs: 1 } as const;
  const configured: ChannelContext = { ...unconfiguredContext, configId: 'c', generation: 2 };
  const paired: ChannelContext = { ...configured, phone: '41791234567', pairedAtMs: 5 };
  const contexts: ChannelContext[] = [
    unconfiguredContext,
    { ...configured, asked: true, attempts: 10, downSinceMs: 1 },
    { ...configured, asked: true, pairWith: '41791234567', lastEnd },
    { ...paired, reconnectAtMs: 50, warmupSinceMs: 1 },
    { ...paired, asked: true, attempts: 3, replacedAtMs: 2 },
    { ...paired, loginRefusals: 4, lastEnd: { ...lastEnd, end: 'login_refused' } },
    { ...paired, ban: { untilMs: 40, forMs: 40 }, reconnectAtMs: 40 },
    { ...paired, ban: { untilMs: 0, forMs: 40 } },
    { ...configured, flagged: true, lastPhone: '41790000000', lastPairedAtMs: 3 },
  ];
  assertSameSteps<typeof channelMachine, ChannelEffect>(channelMachine, events, contexts);
});

/** Steps a machine from each of its states, with each context and event, here and in xstate. */
function assertSameSteps<
  Machine extends typeof pacingMachine | typeof channelMachine,
  Effect extends PacingEffect | ChannelEffect,
>(machine: Machine, events: readonly { readonly type: string }[], contexts: readonly unknown[]): void {
  const ownStepper = stepper<Machine, Effect>(machine);
  const handled = new Set<string>();
  let taken = 0;
  for (const value of Object.keys(machine.states)) {
    for (const context of contexts) {
      for (const event of events) {
        const title = `${machine.id} ${value}, ${JSON.stringify(event)}, ${JSON.stringify(context)}`;
        const expected = theirStep(machine, { value, context }, event);
        const step = () => ownStepper.step(ownStepper.restore({ value, context }), event as never);
        if (expected instanceof Error) {
          assert.throws(step, { message: expected.message }, title);
          continue;
        }
        const { snapshot, effects } = step();
        assert.deepEqual({ ...snapshot, effects }, expected, title);
        if (snapshot.value !== value) taken += 1;
        handled.add(event.type);
      }
    }
  }
  const known = [machine.root, ...Object.values(machine.states)].flatMap(({ events: types }) => types);
  assert.deepEqual([...handled].sort(), [...new Set<string>(known)].sort(), 'every event of the machine');
  assert.ok(taken > 100, `${taken} steps led to another state`);
}

/** Runs the step in xstate. Returns an error if the step ends with one. */
function theirStep(
  machine: AnyStateMachine,
  stored: { readonly value: string; readonly context: unknown },
  event: { readonly type: string },
): { value: unknown; context: unknown; effects: readonly unknown[] } | Error {
  const snapshotBefore = machine.resolveState({ value: stored.value, context: stored.context as object });
  try {
    const [next, actions] = transition(machine, snapshotBefore, event);
    const effects = actions.map(({ type, params }) => ({ type, params }));
    return { value: next.value, context: next.context, effects };
  } catch (error) {
    return error as Error;
  }
}

test('a machine starts in the state in which xstate starts it', () => {
  for (const machine of [pacingMachine, channelMachine] as const) {
    const startedSnapshot = stepper<AnyStateMachine, PacingEffect>(machine).initial();
    const { value, context } = machine.getInitialSnapshot({} as never);
    assert.deepEqual(startedSnapshot, { value, context });
  }
});

test('a stored and restored machine continues like one that never stopped', () => {
  const channel = stepper<typeof channelMachine, ChannelEffect>(channelMachine);
  const started = channel.step(channel.initial(), { type: 'connect', nowMs: 1, configId: 'c' }).snapshot;
  const restored = channel.restore(JSON.parse(JSON.stringify(started)));
  const closed = { type: 'closed', end: 'transient', statusCode: 428, detail: '', nowMs: 9, chance: 0.5 };
  const left = channel.step(started, closed as ChannelEvent);
  const right = channel.step(restored, closed as ChannelEvent);
  assert.equal(right.snapshot.value, 'reconnecting');
  assert.deepEqual(right, left);
});

test('a state that the machine does not have is not restored', () => {
  const pacing = stepper<typeof pacingMachine, PacingEffect>(pacingMachine);
  assert.throws(() => pacing.restore({ value: 'dreaming', context: {} }), /no state dreaming/);
});

test('a throw inside a machine comes out of the step and leaves the snapshot as it was', () => {
  const pacing = stepper<typeof pacingMachine, PacingEffect>(pacingMachine);
  const context = { currentMessage: null, untilMs: null, heldByOperator: false };
  const broken = pacing.restore({ value: 'preparing', context });
  assert.throws(() => pacing.step(broken, { type: 'elapsed', gapUntilMs: 1 }), /no current message/);
  assert.deepEqual(broken, { value: 'preparing', context });
});

test('an event without a transition gives the same snapshot and no effects', () => {
  const pacing = stepper<typeof pacingMachine, PacingEffect>(pacingMachine);
  const idle = pacing.initial();
  const step = pacing.step(idle, { type: 'prepared', untilMs: 1 });
  assert.equal(step.snapshot, idle);
  assert.deepEqual(step.effects, []);
});

test('a machine that the table cannot step as xstate does is refused', () => {
  const states = { here: {}, there: {} };
  const refused = {
    entry: createMachine({ initial: 'here', context: {}, states: { here: { entry: 'shout' }, there: {} } }),
    exit: createMachine({ initial: 'here', context: {}, states: { here: { exit: 'shout' }, there: {} } }),
    always: createMachine({ initial: 'here', context: {}, states: { here: { always: 'there' }, there: {} } }),
    after: createMachine({
      initial: 'here',
      context: {},
      states: { here: { after: { 1: 'there' } }, there: {} },
    }),
    invoke: createMachine({
      initial: 'here',
      context: {},
      states: { here: { invoke: { src: 'child' } }, there: {} },
    }),
    nested: createMachine({
      initial: 'here',
      context: {},
      states: { here: { initial: 'inner', states: { inner: {} } }, there: {} },
    }),
    final: createMachine({ initial: 'here', context: {}, states: { here: {}, there: { type: 'final' } } }),
    parallel: createMachine({ type: 'parallel', context: {}, states }),
    anyEvent: createMachine({ initial: 'here', context: {}, states, on: { '*': '.there' } }),
    madeContext: createMachine({ initial: 'here', context: () => ({}), states }),
    unknownAction: createMachine({ initial: 'here', context: {}, states, on: { go: { actions: 'shout' } } }),
    unknownGuard: createMachine({
      initial: 'here',
      context: {},
      states,
      on: { go: { guard: 'mayGo', target: '.there' } },
    }),
    fixedParams: setup({ actions: { shout: (_, _params: object) => undefined } }).createMachine({
      initial: 'here',
      context: {},
      states,
      on: { go: { actions: { type: 'shout', params: { loud: true } } } },
    }),
    assignedParams: setup({ actions: { count: assign((_, params: object) => params) } }).createMachine({
      initial: 'here',
      context: {},
      states,
      on: { go: { actions: { type: 'count', params: () => ({ times: 1 }) } } },
    }),
    madeProperty: setup({ actions: { count: assign({ times: () => 1 }) } }).createMachine({
      initial: 'here',
      context: {},
      states,
      on: { go: { actions: 'count' } },
    }),
  };
  for (const [form, machine] of Object.entries(refused))
    assert.throws(() => stepper(machine as AnyStateMachine), /does not know/, form);
});
