/** The checker of histories finds each broken promise, and nothing in a history that breaks none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { APART_MS, MESSAGES_AN_HOUR, MESSAGES_TO_ONE } from './cap-checks.ts';
import { violationsOf } from './checker.ts';
import { firstBreach } from './first-breach.ts';
import { type Fact, History } from './history.ts';

const shop = 'shop-1';
const tenant = 'tenant-1';
const phone = '+33611110000';
const to = '+33622220000';
/** Between two facts: longer than what was on its way takes to arrive. */
const STEP_MS = 10_000;

/** Feed and endpoint have an event. */
const told = (eventId: string, type: string, subject: string, text: string | null = null): Fact[] =>
  (['fed', 'called'] as const).map((kind) => ({ kind, tenant, eventId, type, shop, about: subject, text }));

const delivered = (text: string, member = to, group: string | null = null): Fact => {
  return { kind: 'delivered', from: phone, text, to: member, group };
};
const accepted = { kind: 'accepted', shop, text: 'one', key: 'k', id: 'm', to } as const;
const connected: Fact = { kind: 'connected', tenant, shop, phone };

/** A message from its acceptance to the handset and the readers. */
const good: readonly Fact[] = [
  connected,
  accepted,
  delivered('one'),
  { kind: 'ended', shop, id: 'm', status: 'sent', reason: 'null' },
  ...told('1', 'message.sent', 'm'),
];

function historyOf(facts: readonly Fact[]): History {
  const history = new History(() => 0);
  for (const [index, fact] of facts.entries()) history.add(fact, index * STEP_MS);
  return history;
}

function promisesBrokenBy(facts: readonly Fact[]): string[] {
  return [...new Set(violationsOf(historyOf(facts)).map(({ promise }) => promise))];
}

test('a history that keeps every promise is good', () => {
  assert.deepEqual(promisesBrokenBy(good), []);
  assert.deepEqual(promisesBrokenBy([...good, accepted]), []);
});

test('an erased shop needs no ends', () => {
  assert.deepEqual(promisesBrokenBy([accepted, { kind: 'erased', shop }]), []);
});

test('the event of an erased person may have reached no reader, one reader, or all', () => {
  const events = told('1', 'message.received', 'i', 'hi');
  for (const knownFacts of [[], events.slice(0, 1), events.slice(1), events]) {
    assert.deepEqual(
      promisesBrokenBy([
        wrote('hi'),
        ...knownFacts,
        { kind: 'erased_person', tenant, person: 'p', by: to, text: 'hi' },
      ]),
      [],
    );
  }
});

test('a second message to a recipient may come when they have written, or ten minutes later', () => {
  const history = historyOf([]);
  const made = (id: string): Fact => ({ kind: 'made', shop, id, to });
  history.add(made('one'), 0);
  // It came to the shop after the first message, and was written before.
  history.add({ ...wrote('hi'), receiptedMs: 1 }, -1);
  history.add(made('two'), 2);
  history.add(made('three'), 2 + APART_MS);
  const ofOthers = { ...wrote('ho'), by: phone, receiptedMs: APART_MS + 3 } as const;
  history.add(ofOthers, APART_MS + 3);
  assert.deepEqual(
    violationsOf(history).filter(({ promise }) => promise.includes('apart')),
    [],
  );
  history.add(made('four'), APART_MS + 4);
  const foundViolations = violationsOf(history).filter(({ promise }) => promise.includes('apart'));
  assert.deepEqual(
    foundViolations.map(({ names }) => names[0]),
    ['four'],
  );
});

test('a message to a group is on the handset of each member', () => {
  const group = '120363000000000001@g.us';
  const posted = ['+33622220001', '+33622220002'].map((member) => delivered('one', member, group));
  assert.deepEqual(promisesBrokenBy([...factsWithout('delivered'), ...posted]), []);
});

test('a message on its way at a STOP or a suspension may arrive, and later if a node was frozen', () => {
  for (const change of [
    { kind: 'stopped', shop, by: to },
    { kind: 'suspended', tenant, on: true },
  ] as const) {
    const history = historyOf([connected]);
    history.add(change, 0);
    history.add(delivered('one'), 4_000);
    history.add({ kind: 'fault', name: 'freeze node-1', on: false }, 4_000);
    history.add(delivered('two'), 8_000);
    assert.deepEqual(violationsOf(history), []);
    history.add(delivered('three'), 10_000);
    assert.equal(violationsOf(history).length, 1);
  }
});

const factsWithout = (kind: Fact['kind']): Fact[] => good.filter((fact) => fact.kind !== kind);
const many = Array.from({ length: MESSAGES_AN_HOUR + 1 }, (_, index) => delivered(`text ${index}`));
const ended = (status: string, reason: string): Fact[] => [
  connected,
  accepted,
  { kind: 'ended', shop, id: 'm', status, reason },
  ...told('1', `message.${status}`, 'm'),
];
const wrote = (text: string) => ({ kind: 'wrote', shop, text, by: to, receiptedMs: 0 }) as const;

const bad: readonly [promise: string, facts: readonly Fact[]][] = [
  [
    'one key is one message',
    [
      ...good,
      { ...accepted, id: 'n' },
      { kind: 'ended', shop, id: 'n', status: 'failed', reason: 'x' },
      ...told('2', 'message.failed', 'n'),
    ],
  ],
  [
    'a repetition is answered with its message',
    [...good, { kind: 'repeat_refused', shop, id: 'm', code: 'RECIPIENT_RATE_LIMITED' }],
  ],
  ['one message has one key', [...good, { ...accepted, key: 'l' }]],
  ['an accepted message ends', good.filter(({ kind }) => !['ended', 'fed', 'called'].includes(kind))],
  ['an end does not change', [...good, { kind: 'ended', shop, id: 'm', status: 'sent', reason: 'other' }]],
  ['a message is on one handset once', [...good, delivered('one')]],
  ['a message is on one handset once', [delivered('two', to, 'group'), delivered('two', to, 'group')]],
  ['a sent message is on its handset', factsWithout('delivered')],
  ['what is said not to have left is on no handset', [...ended('failed', 'CANCELLED'), delivered('one')]],
  ['what was cancelled is not sent', [{ kind: 'cancelled', shop, text: 'two' }, delivered('two')]],
  ['a number keeps to its cap', many.map((fact, index) => ({ ...fact, to: `${to}${index}` }))],
  ['a recipient gets no more than a day allows', many.slice(0, MESSAGES_TO_ONE + 1)],
  [
    'messages to one recipient are apart',
    [
      ...[wrote('hi'), ...told('1', 'message.received', 'i', 'hi')],
      ...(['one', 'two'] as const).map((id): Fact => ({ kind: 'made', shop, id, to })),
    ],
  ],
  ['nothing is sent after a STOP', [connected, { kind: 'stopped', shop, by: to }, delivered('one')]],
  ['a STOP is a STOP', [...good, { kind: 'answered_after_stop', shop, to, code: 'ACCEPTED' }]],
  [
    'a suspended tenant sends nothing',
    [
      connected,
      { kind: 'suspended', tenant, on: true },
      delivered('one'),
      { kind: 'suspended', tenant, on: false },
    ],
  ],
  [
    'the feed tells each event once, in order',
    [...told('1', 'channel.connected', shop), ...told('1', 'channel.connected', shop)],
  ],
  ['an end is published once', [...good, ...told('2', 'message.sent', 'm')]],
  ['the feed publishes each end', good.filter(({ kind }) => kind !== 'fed' && kind !== 'called')],
  ['an endpoint hears each event', factsWithout('called')],
  [
    'an endpoint hears what the feed tells',
    [...told('1', 'shop.connected', 'x'), ...told('2', 'a', 'b').slice(1)],
  ],
  ['an inbound message is published', [wrote('hi')]],
  [
    'an inbound message is published once',
    [wrote('hi'), ...told('1', 'message.received', 'i', 'hi'), ...told('2', 'message.received', 'j', 'hi')],
  ],
  [
    'inbound messages are published in order',
    [
      ...[wrote('hi'), wrote('ho')],
      ...told('1', 'message.received', 'i', 'ho'),
      ...told('2', 'message.received', 'j', 'hi'),
    ],
  ],
  [
    'a revoked key is refused',
    [...good, { kind: 'answered_after_revocation', key: 'k', status: 200, code: 'OK' }],
  ],
  ...(['shop', 'tenant', 'person'] as const).map((kind): (typeof bad)[number] => [
    `an erased ${kind} leaves nothing`,
    [...good, { kind: 'left_after_erasure', of: kind, name: 'x', what: 'a key' }],
  ]),
  ['what is asked for happens', [...good, { kind: 'gave_up', shop, what: 'the erasure is over' }]],
];

for (const [promise, facts] of bad) {
  test(`found: ${promise}`, () => {
    assert.deepEqual(promisesBrokenBy(facts), [promise]);
  });
}

test('a broken promise names the entry behind which the history is cut', () => {
  const history = historyOf([...good, delivered('one'), { kind: 'fault', name: 'kill', on: true }]);
  const [violation] = violationsOf(history);
  assert.ok(violation);
  const { place, of, entry } = firstBreach(history, violation) ?? {};
  assert.deepEqual([place, of, entry?.kind], [7, 8, 'delivered']);
});
