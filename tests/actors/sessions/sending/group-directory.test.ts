import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GroupMetadata, WASocket } from '@whiskeysockets/baileys';
import type { SessionGroup } from '../../../../actors/sessions/session-events.ts';
import { DEFAULT_SESSION_TIMING } from '../../../../actors/sessions/session-timing.ts';
import { GroupDirectory } from '../../../../actors/sessions/worker-thread/sending/group-directory.ts';
import type { SessionContext } from '../../../../actors/sessions/worker-thread/shared/session-context.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';

const OWN = '111@lid';

const group = (id: string, admin: string): GroupMetadata =>
  ({
    id,
    subject: id,
    participants: [{ id: '111:4@lid', admin: admin === OWN ? 'admin' : null }, { id: '222@lid' }],
  }) as GroupMetadata;

/** Returns the groups of a session whose queries may take a second, and each list that they report. */
function groupsOf(options: {
  readonly socket: WASocket;
  readonly clock: Clock;
  readonly floorMs: number;
  readonly later: SessionContext['later'];
  readonly told: { push(list: readonly SessionGroup[]): void };
}): GroupDirectory {
  const { socket, clock, floorMs, later, told } = options;
  const context = fakeOf<SessionContext>({
    clock,
    later,
    timing: { ...DEFAULT_SESSION_TIMING, groupsFloorMs: floorMs, queryMs: 1_000 },
    emit: (event) => void (event.type === 'session.groups' && told.push(event.groups)),
  });
  return new GroupDirectory(context, socket, () => [OWN]);
}

function directory(answer: () => { groups: GroupMetadata[]; tookMs: number }): {
  groups: GroupDirectory;
  told: (readonly SessionGroup[])[];
} {
  let nowMs = 0;
  const told: (readonly SessionGroup[])[] = [];
  const socket = fakeOf<WASocket>({
    async groupFetchAllParticipating() {
      const { groups, tookMs } = answer();
      nowMs += tookMs;
      return Object.fromEntries(groups.map((metadata) => [metadata.id, metadata]));
    },
  });
  const groups = groupsOf({
    socket,
    clock: fakeOf<Clock>({ monotonicMs: () => nowMs }),
    floorMs: 0,
    later: () => ({ cancel: () => undefined }),
    told,
  });
  return { groups, told };
}

test('a request that times out empties nothing; an empty reply does', async () => {
  let answer = { groups: [group('a@g.us', OWN), group('b@g.us', 'other')], tookMs: 10 };
  const { groups, told } = directory(() => answer);
  await groups.refresh();
  assert.deepEqual(
    told[0]?.map(({ id, isAdmin, participantCount }) => [id, isAdmin, participantCount]),
    [
      ['a@g.us', true, 2],
      ['b@g.us', false, 2],
    ],
  );
  // The client's timer is one of Node, which may fire up to a millisecond early.
  for (const tookMs of [1_000, 999.5]) {
    answer = { groups: [], tookMs };
    await groups.refresh();
    assert.equal(told.length, 1);
    assert.notEqual(groups.metadata('a@g.us'), undefined);
  }
  answer = { groups: [], tookMs: 10 };
  await groups.refresh();
  assert.deepEqual(told[1], []);
});

test('several changes of one group at a time are asked about once; a group that was left is reported as gone', async () => {
  const clock = new FakeClock();
  const told: (readonly SessionGroup[])[] = [];
  const asked: string[] = [];
  let isMember = true;
  const socket = fakeOf<WASocket>({
    groupFetchAllParticipating: async () => ({ 'a@g.us': group('a@g.us', OWN) }),
    async groupMetadata(id: string) {
      asked.push(id);
      if (!isMember) throw Object.assign(new Error('forbidden'), { data: 403 });
      return group(id, 'other');
    },
  });
  const groups = groupsOf({
    socket,
    clock,
    floorMs: 0,
    later: (delayMs, act) => clock.after(delayMs, act),
    told,
  });
  await groups.refresh();
  for (let change = 0; change < 3; change += 1) groups.renewSoon('a@g.us');
  await clock.advance(1_000);
  assert.deepEqual([asked, told.at(-1)?.map(({ isAdmin }) => isAdmin)], [['a@g.us'], [false]]);
  isMember = false;
  groups.renewSoon('a@g.us');
  await clock.advance(1_000);
  assert.deepEqual([asked.length, told.at(-1)], [2, []]);
});

/** Returns a directory whose first queries are refused. Its timer fires too early by `earlyMs`. */
function refusedAtFirst(refusals: number, earlyMs: number) {
  const clock = new FakeClock();
  const told: (readonly SessionGroup[])[] = [];
  let asked = 0;
  const socket = fakeOf<WASocket>({
    async groupFetchAllParticipating() {
      asked += 1;
      if (asked <= refusals) throw Object.assign(new Error('rate-overlimit'), { data: 429 });
      return { 'a@g.us': group('a@g.us', OWN) };
    },
  });
  const groups = groupsOf({
    socket,
    clock,
    floorMs: 20_000,
    later: (delayMs, act) => clock.after(delayMs - earlyMs, act),
    told,
  });
  return { clock, groups, seen: () => [asked, told.length] };
}

test('a list that does not come is asked for again until it comes, and then no more', async () => {
  const { clock, groups, seen } = refusedAtFirst(1, 0);
  await assert.rejects(groups.refresh());
  await clock.advance(20_000);
  assert.deepEqual(seen(), [1, 0]);
  await clock.advance(1);
  assert.deepEqual(seen(), [2, 1]);
  await clock.advance(60_000);
  assert.deepEqual(seen(), [2, 1]);
});

test('a list that does not come is asked for again also by timers that fire a moment early, as those of Node do', async () => {
  const { clock, groups, seen } = refusedAtFirst(3, 0.5);
  await assert.rejects(groups.refresh());
  await clock.advance(61_000);
  assert.deepEqual(seen(), [4, 1]);
});

/**
 * Returns a directory of a group, in a network where other groups are made without a notice. Each query takes a given
 * time.
 */
function growing(tookMs: number) {
  const clock = new FakeClock();
  const told: string[][] = [];
  const asked: string[] = [];
  const made = new Map([['a@g.us', group('a@g.us', OWN)]]);
  const pause = (): Promise<void> => new Promise((resolve) => clock.after(tookMs, resolve));
  const socket = fakeOf<WASocket>({
    async groupFetchAllParticipating() {
      asked.push('all');
      const found = Object.fromEntries(made);
      await pause();
      return found;
    },
    async groupMetadata(id: string) {
      asked.push(id);
      await pause();
      const foundMetadata = made.get(id);
      if (foundMetadata === undefined) throw Object.assign(new Error('item-not-found'), { data: 404 });
      return foundMetadata;
    },
  });
  const groups = groupsOf({
    socket,
    clock,
    floorMs: 20_000,
    later: (delayMs, act) => clock.after(delayMs, act),
    told: { push: (list) => told.push(list.map(({ id }) => id)) },
  });
  const make = (id: string): void => void made.set(id, group(id, OWN));
  return { clock, groups, told, asked, make };
}

test('one group is looked for at most once a second, and calls meanwhile get the same answer', async () => {
  const { clock, groups, told, asked, make } = growing(10);
  const first = groups.refresh();
  await clock.advance(10);
  await first;
  make('b@g.us');
  const looks = [groups.request('b@g.us'), groups.request('b@g.us')];
  assert.equal(told.length, 1, 'nothing is told before the answer came');
  await clock.advance(10);
  await Promise.all(looks);
  assert.deepEqual(told.at(-1), ['a@g.us', 'b@g.us']);
  const again = groups.request('b@g.us');
  await clock.advance(989);
  assert.deepEqual(asked, ['all', 'b@g.us']);
  await clock.advance(11);
  await again;
  assert.deepEqual(asked, ['all', 'b@g.us', 'b@g.us']);
  const unknown = groups.request('c@g.us');
  await clock.advance(10);
  await unknown;
  assert.deepEqual([asked.at(-1), told.at(-1)], ['c@g.us', ['a@g.us', 'b@g.us']]);
});

test('five groups are looked for in a second; those that come next wait for their turn, which is never far', async () => {
  const { clock, groups, told, asked, make } = growing(10);
  const first = groups.refresh();
  await clock.advance(10);
  await first;
  const names = Array.from({ length: 11 }, (_, index) => `${index}@g.us`);
  for (const name of names) make(name);
  const looks = names.map((name) => groups.request(name));
  await looks.at(-1);
  assert.deepEqual([asked.slice(1), told.length], [names.slice(0, 5), 2], 'to wait two seconds helps nobody');
  await clock.advance(999);
  assert.equal(asked.length, 6);
  await clock.advance(11);
  await Promise.all(looks);
  assert.deepEqual(asked.slice(6), names.slice(5, 10));
  assert.deepEqual(told.at(-1)?.slice(1), names.slice(0, 10));
});

test('a list asked for a moment ago includes the groups that a notice named since, without waiting for more notices', async () => {
  const { clock, groups, told, asked, make } = growing(10);
  const first = groups.refresh();
  const meanwhile = groups.refresh();
  await clock.advance(10);
  await Promise.all([first, meanwhile]);
  assert.deepEqual([asked, told.length], [['all'], 1]);
  make('b@g.us');
  groups.renewSoon('b@g.us');
  const again = groups.refresh();
  await clock.advance(10);
  await again;
  assert.deepEqual(
    [asked, told.at(-1)],
    [
      ['all', 'b@g.us'],
      ['a@g.us', 'b@g.us'],
    ],
  );
  await clock.advance(1_000);
  assert.equal(asked.length, 2, 'the notice was answered');
});

test('a person counts as outside only if the members have addresses of the kind that the person has', async () => {
  const id = (numbers: readonly number[]) => ({
    id: `${numbers[0]}:7@lid`,
    phoneNumber: `${numbers[1]}@s.whatsapp.net`,
  });
  const participants: Readonly<Record<string, readonly object[]>> = {
    'both@g.us': [id([1, 33]), id([2, 34])],
    'ids@g.us': [{ id: '1@lid' }, { id: '2@lid' }],
    'mixed@g.us': [id([1, 33]), { id: '2@lid' }],
    'empty@g.us': [],
  };
  const { groups } = directory(() => ({
    groups: Object.entries(participants).map(
      ([id, members]) => ({ id, participants: members }) as GroupMetadata,
    ),
    tookMs: 10,
  }));
  const outside = (group: string, ...addresses: string[]): boolean => groups.excludes(group, addresses);
  const stranger = ['9@lid', '39@s.whatsapp.net'] as const;
  assert.equal(outside('both@g.us', ...stranger), false, 'the groups are not told yet');
  await groups.refresh();
  assert.equal(outside('unknown@g.us', ...stranger), false);
  for (const [group, ...addresses] of [
    ['both@g.us', '2@lid'],
    ['both@g.us', '34@s.whatsapp.net'],
    ['both@g.us', '9@lid', '34@s.whatsapp.net'],
    ['ids@g.us', '1@lid'],
    ['ids@g.us', '39@s.whatsapp.net'],
    ['mixed@g.us', '39@s.whatsapp.net'],
    ['empty@g.us', ...stranger],
  ] as const)
    assert.equal(outside(group, ...addresses), false, `${addresses} in ${group}`);
  for (const [group, ...addresses] of [
    ['both@g.us', '9@lid'],
    ['both@g.us', '39@s.whatsapp.net'],
    ['both@g.us', ...stranger],
    ['ids@g.us', ...stranger],
    ['mixed@g.us', '9@lid'],
  ] as const)
    assert.equal(outside(group, ...addresses), true, `${addresses} in ${group}`);
});
