/** The wall clock steps ahead while an endpoint is waited for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR_MS } from '../../../runtime/durations.ts';
import { SteppedClock } from '../../../runtime/stepped-clock.ts';
import { fails, OK, World } from './endpoint-world.ts';

for (const [name, answer] of [
  ['a retry', fails(500)],
  ['a pause that the endpoint asked for', fails(503, HOUR_MS / 2)],
] as const) {
  test(`${name} that is due after a step of the clock is not waited for any longer`, async () => {
    const world = new World();
    const { clock } = world;
    const stepped = new SteppedClock(clock, 5, (act) => void clock.after(0, act));
    world.pumpClock = stepped;
    world.answer = () => (world.sent.length === 1 ? answer : OK);
    world.start();
    world.add(1);
    await clock.advance(10);
    assert.equal(world.sent.length, 1);
    // An early timer does not end a wait that is not due.
    stepped.fireAll();
    await clock.advance(10);
    assert.equal(world.sent.length, 1);
    clock.stepWall(HOUR_MS);
    stepped.fireAll();
    await clock.advance(10);
    assert.equal(world.sent.length, 2);
    world.pump?.stop();
  });
}
