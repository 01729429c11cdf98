/** The checker of histories finds each broken promise, and nothing in a history that breaks none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MESSAGES_AN_HOUR, violationsOf } from './checker.ts';
import { type Fact, History } from './history.ts';

const shop = 'shop-1';
const tenant = 'tenant-1';
const phone = '+33611110000';
const to = '+33622220000';

/** A message from its acceptance to the handset and the readers. */
const good: readonly Fact[] = [
  { kind: 'connected', shop, phone },
  { kind: 'accepted', shop, text: 'one', key: 'k', id: 'm', to },
  { kind: 'delivered', from: phone, text: 'one', to },
  { kind: 'ended', shop, id: 'm', status: 'sent', reason: 'null' },
  { kind: 'fed', tenant, eventId: '1', type: 'message.sent', about: 'm' },
  { kind: 'called', tenant, eventId: '1', type: 'message.sent', about: 'm' },
];

function promisesBrokenBy(facts: readonly Fact[]): string[] {
  const history = new History(() => 0);
  for (const [index, fact] of facts.entries()) history.add(fact, index * 10_000);
  return [...new Set(violationsOf(history).map(({ promise }) => promise))];
}

test('a history that keeps every promise is good', () => {
  assert.deepEqual(promisesBrokenBy(good), []);
  assert.deepEqual(
    promisesBrokenBy([...good, { kind: 'accepted', shop, text: 'one', key: 'k', id: 'm', to }]),
    [],
  );
});

test('an erased shop needs no ends', () => {
  const erased: Fact[] = [
    { kind: 'accepted', shop, text: 'one', key: 'k', id: 'm', to },
    { kind: 'erased', shop },
  ];
  assert.deepEqual(promisesBrokenBy(erased), []);
});

const without = (kind: Fact['kind']): Fact[] => good.filter((fact) => fact.kind !== kind);
const many = Array.from({ length: MESSAGES_AN_HOUR + 1 }, (_, index): Fact => {
  return { kind: 'delivered', from: phone, text: `text ${index}`, to };
});

const bad: readonly [promise: string, facts: readonly Fact[]][] = [
  [
    'one key is one message',
    [
      ...good,
      { kind: 'accepted', shop, text: 'one', key: 'k', id: 'n', to },
      { kind: 'ended', shop, id: 'n', status: 'failed', reason: 'x' },
      { kind: 'fed', tenant, eventId: '2', type: 'message.failed', about: 'n' },
      { kind: 'called', tenant, eventId: '2', type: 'message.failed', about: 'n' },
    ],
  ],
  [
    'a repetition is answered with its message',
    [...good, { kind: 'repeat_refused', shop, id: 'm', code: 'RECIPIENT_RATE_LIMITED' }],
  ],
  ['one message has one key', [...good, { kind: 'accepted', shop, text: 'one', key: 'l', id: 'm', to }]],
  ['an accepted message ends', good.filter(({ kind }) => !['ended', 'fed', 'called'].includes(kind))],
  ['an end does not change', [...good, { kind: 'ended', shop, id: 'm', status: 'sent', reason: 'other' }]],
  ['a message is on one handset once', [...good, { kind: 'delivered', from: phone, text: 'one', to }]],
  ['a sent message is on its handset', without('delivered')],
  ['a number keeps to its cap', many],
  [
    'nothing is sent after a STOP',
    [
      { kind: 'connected', shop, phone },
      { kind: 'stopped', shop, by: to },
      { kind: 'delivered', from: phone, text: 'one', to },
    ],
  ],
  ['a STOP is a STOP', [...good, { kind: 'answered_after_stop', shop, to, code: 'ACCEPTED' }]],
  [
    'the feed tells each event once, in order',
    [...good, { kind: 'fed', tenant, eventId: '1', type: 'shop.connected', about: shop }],
  ],
  [
    'an end is told once',
    [
      ...good,
      { kind: 'fed', tenant, eventId: '2', type: 'message.sent', about: 'm' },
      { kind: 'called', tenant, eventId: '2', type: 'message.sent', about: 'm' },
    ],
  ],
  ['the feed tells each end', without('fed')],
  ['an endpoint hears of each end', without('called')],
  [
    'a revoked key is refused',
    [...good, { kind: 'answered_after_revocation', key: 'k', status: 200, code: 'OK' }],
  ],
  ['an erased shop leaves nothing', [...good, { kind: 'left_after_erasure', shop, what: 'a key' }]],
];

for (const [promise, facts] of bad)
  test(`found: ${promise}`, () => {
    assert.deepEqual(promisesBrokenBy(facts), [promise]);
  });
