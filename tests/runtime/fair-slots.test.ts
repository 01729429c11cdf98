/** Slots by name: a tenant with a thousand dead endpoints delays no other. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FairSlots, type Slot } from '../../runtime/fair-slots.ts';

const NO_GROUP = { group: 0, isOfGroup: () => false };

test('a tenant with a thousand endpoints that never answer delays no other', async () => {
  const slots = new FairSlots({ all: 8, share: 4, moved: 4, ...NO_GROUP });
  const release: (() => void)[] = [];
  const stuck = Array.from({ length: 1_000 }, () =>
    slots.run('dead', () => new Promise<void>((resolve) => void release.push(resolve))),
  );
  let done = 0;
  for (let turn = 0; turn < 100; turn += 1) {
    await slots.run('alive', async () => {
      done += 1;
    });
  }
  assert.equal(done, 100);
  assert.equal(release.length, 4, 'it has its share and no more');
  while (release.length > 0) {
    release.shift()?.();
    await nextTurn();
  }
  await Promise.all(stuck);
});

test('waiting tenants get slots one after the other', async () => {
  const slots = new FairSlots({ all: 1, share: 1, moved: 1, ...NO_GROUP });
  const order: string[] = [];
  const run = (tenant: string) =>
    slots.run(tenant, async () => {
      order.push(tenant);
      await Promise.resolve();
    });
  await Promise.all([...'aaabbc'].map(run));
  assert.deepEqual(order, ['a', 'a', 'b', 'c', 'a', 'b']);
});

test('a job that is moved counts for the other name and its limit', async () => {
  const slots = new FairSlots({ all: 8, share: 1, moved: 2, ...NO_GROUP });
  const begun: string[] = [];
  const held: { readonly slot: Slot; readonly end: () => void }[] = [];
  const run = (name: string): Promise<void> =>
    slots.run('quick', (slot) => {
      begun.push(name);
      return new Promise((resolve) => void held.push({ slot, end: resolve }));
    });
  const all = ['a', 'b', 'c', 'd'].map(run);
  assert.deepEqual(begun, ['a']);
  for (const { slot } of held) {
    slot.moveTo('slow');
    await nextTurn();
  }
  assert.deepEqual(begun, ['a', 'b', 'c'], 'the third finds no room among the slow and keeps its slot');
  let isSlowRun = false;
  const slow = slots.run('slow', async () => {
    isSlowRun = true;
  });
  held[0]?.end();
  await all[0];
  assert.equal(isSlowRun, false, 'one that was moved still runs');
  held[1]?.end();
  await slow;
  held[2]?.end();
  await all[2];
  held[3]?.end();
  await Promise.all(all);
});

test('slow names leave slots for the others, however many slow names there are, and take turns themselves', async () => {
  const isOfGroup = (name: string) => name.endsWith('slow');
  const slots = new FairSlots({ all: 8, share: 2, moved: 4, group: 4, isOfGroup });
  const begun: string[] = [];
  const release: (() => void)[] = [];
  const stuck = Array.from({ length: 100 }, (_, index) =>
    slots.run(`${index} slow`, () => {
      begun.push(String(index));
      return new Promise<void>((resolve) => void release.push(resolve));
    }),
  );
  let done = 0;
  for (let turn = 0; turn < 100; turn += 1) {
    await slots.run(`${turn} quick`, async () => {
      done += 1;
    });
  }
  assert.deepEqual([done, begun], [100, ['0', '1', '2', '3']]);
  // A slow job keeps its own slot while the group has no free slot.
  let movedSlot: Slot | undefined;
  const taking = slots.run('a quick', (slot) => {
    movedSlot = slot;
    return new Promise<void>((resolve) => void release.push(resolve));
  });
  movedSlot?.moveTo('a slow');
  release.shift()?.();
  await stuck[0];
  assert.deepEqual(begun, ['0', '1', '2', '3', '4']);
  while (release.length > 0) {
    release.shift()?.();
    await nextTurn();
  }
  await Promise.all([...stuck, taking]);
  assert.equal(begun.length, 100);
});

/** True if a promise is settled once all due work has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  await nextTurn();
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

test('a name waits for its own slots, in order, and no other name waits for it', async () => {
  const slots = new FairSlots({ share: 2 });
  const [first] = [await slots.take('a'), await slots.take('a')];
  const [third, fourth] = [slots.take('a'), slots.take('a')];
  await slots.take('b');
  assert.deepEqual([await isSettled(third), await isSettled(fourth)], [false, false]);
  first.giveBack();
  first.giveBack();
  assert.deepEqual([await isSettled(third), await isSettled(fourth)], [true, false]);
  (await third).giveBack();
  assert.equal(await isSettled(fourth), true);
});

test('a caller that gives up while waiting takes no slot', async () => {
  const slots = new FairSlots({ share: 1 });
  const slot = await slots.take('a');
  const abort = new AbortController();
  const waiting = slots.take('a', abort.signal);
  abort.abort(new Error('given up'));
  await assert.rejects(waiting, /given up/);
  await assert.rejects(slots.take('b', abort.signal), /given up/);
  slot.giveBack();
  (await slots.take('a')).giveBack();
  (await slots.take('a')).giveBack();
});
