/** Holds what actors/shop/machines/stepper.ts uses of xstate's inside against the pinned version. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { initialTransition, transition } from 'xstate';
import { type ChannelEffect, channelMachine } from '../../actors/shop/machines/channel-machine.ts';
import {
  type PacingEffect,
  type PacingEvent,
  pacingMachine,
} from '../../actors/shop/machines/pacing-machine.ts';
import { stepper } from '../../actors/shop/machines/stepper.ts';

const hand = { messageId: 'm1', kind: 'message' as const, to: '+33612345678', textLength: 5 };
const events: PacingEvent[] = [
  { type: 'dispatch', hand, untilMs: 10 },
  { type: 'checked', exists: true, rateLimited: false, gapUntilMs: 1, pauseUntilMs: 2, untilMs: 3 },
  { type: 'hold' },
  { type: 'composed', untilMs: 4 },
  { type: 'outcome', outcome: { kind: 'acknowledged' }, gapUntilMs: 5, pauseUntilMs: 6, coldPauseUntilMs: 8 },
  { type: 'elapsed', gapUntilMs: 7 },
];

test('a step gives the snapshot and the effects that xstate’s own transition() gives', () => {
  const pacing = stepper<typeof pacingMachine, PacingEffect>(pacingMachine);
  let ours = pacing.initial();
  let [theirs] = initialTransition(pacingMachine);
  for (const event of events) {
    const step = pacing.step(ours, event);
    const [next, actions] = transition(pacingMachine, theirs, event);
    assert.equal(step.snapshot.value, next.value);
    assert.deepEqual(step.snapshot.context, next.context);
    assert.deepEqual(
      step.effects,
      actions.map(({ type, params }) => ({ type, params })),
    );
    ours = step.snapshot;
    theirs = next;
  }
});

test('a stored and restored machine goes on as the one that never stopped', () => {
  const channel = stepper<typeof channelMachine, ChannelEffect>(channelMachine);
  const started = channel.step(channel.initial(), { type: 'connect', nowMs: 1, configId: 'c' }).snapshot;
  const stored = JSON.parse(JSON.stringify({ value: started.value, context: started.context }));
  const restored = channel.restore(stored);
  const closed = {
    type: 'closed',
    end: 'transient',
    statusCode: 428,
    detail: '',
    nowMs: 9,
    chance: 0.5,
  } as const;
  const left = channel.step(started, closed);
  const right = channel.step(restored, closed);
  assert.equal(right.snapshot.value, 'reconnecting');
  assert.deepEqual(right.snapshot.context, left.snapshot.context);
  assert.deepEqual(right.effects, left.effects);
});

test('a throw inside a machine comes out of the step and leaves the snapshot as it was', () => {
  const pacing = stepper<typeof pacingMachine, PacingEffect>(pacingMachine);
  const broken = pacing.restore({
    value: 'checking',
    context: { hand: null, untilMs: null, heldByOperator: false },
  });
  assert.throws(() => pacing.step(broken, { type: 'elapsed', gapUntilMs: 1 }), /no message in hand/);
  assert.equal(broken.value, 'checking');
});

test('an event without a transition gives the same state and no effects', () => {
  const pacing = stepper<typeof pacingMachine, PacingEffect>(pacingMachine);
  const step = pacing.step(pacing.initial(), { type: 'composed', untilMs: 1 });
  assert.equal(step.snapshot.value, 'idle');
  assert.deepEqual(step.effects, []);
});
