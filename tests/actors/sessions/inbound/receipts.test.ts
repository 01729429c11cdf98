import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BinaryNode } from '@whiskeysockets/baileys';
import type { StanzaReceipt } from '../../../../actors/sessions/session-events.ts';
import {
  LONGEST_HOLD_MS,
  Receipts,
  type ReceiptsOptions,
} from '../../../../actors/sessions/worker-thread/inbound/receipts.ts';
import type { SessionContext } from '../../../../actors/sessions/worker-thread/shared/session-context.ts';
import type { SessionEnvironment } from '../../../../actors/sessions/worker-thread/shared/session-environment.ts';
import { Deadlines } from '../../../../runtime/deadlines.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';

/** Returns the receipts of one session. They are reported after 250 ms, or at the shared moments. */
function receiptsOf(options: {
  readonly clock: FakeClock;
  readonly report: (token: string, receipts: readonly StanzaReceipt[]) => void;
  readonly shared?: Deadlines<() => void>;
  readonly receiptsOptions?: Partial<ReceiptsOptions>;
  readonly log?: SessionContext['log'];
}): Receipts {
  const { clock, report, receiptsOptions, log = () => undefined } = options;
  const { shared = fakeOf<Deadlines<() => void>>({ add: (act) => clock.after(250, act) }) } = options;
  const context = fakeOf<SessionContext>({
    environment: fakeOf<SessionEnvironment>({ sharedDeadlines: shared }),
    opening: { generation: 7, clientVersion: undefined },
    later: (delayMs, act) => clock.after(delayMs, act),
    emit: (event) => void (event.type === 'session.receipts' && report(event.token, event.receipts)),
    log,
  });
  return new Receipts(context, {
    ownAddresses: () => [],
    numberOf: async () => undefined,
    isOutside: () => false,
    orderedAs: async (wireId) => wireId,
    isPending: () => false,
    onHeld: () => undefined,
    ...receiptsOptions,
  });
}

test('receipts of several shops are reported together, each shop at most once', async () => {
  const clock = new FakeClock();
  const shared = new Deadlines<() => void>(clock, 250, (act) => act());
  const told: string[] = [];
  const receiptsOfShop = (shop: string): Receipts =>
    receiptsOf({
      clock,
      shared,
      report: (_token, receipts) =>
        void told.push(`${clock.monotonicMs()} ${shop} ${receipts.map(({ wireId }) => wireId).join(' ')}`),
    });
  const firstReceipts = receiptsOfShop('one');
  const otherReceipts = receiptsOfShop('other');
  const receipt = (id: string) => ({
    tag: 'receipt',
    attrs: { id, from: '33622222222@s.whatsapp.net', t: '1' },
  });
  await clock.advance(10);
  void firstReceipts.onReceipt(receipt('A'));
  await clock.advance(100);
  void firstReceipts.onReceipt(receipt('B'));
  void otherReceipts.onReceipt(receipt('C'));
  await clock.advance(1_000);
  assert.deepEqual(told, ['1250 one A B', '1250 other C']);
});

test('receipts of our own devices and of people outside the group do not count', async () => {
  const own = '33600000000@s.whatsapp.net';
  const member = '33611111111@s.whatsapp.net';
  const outsider = '33622222222@s.whatsapp.net';
  const group = '120363000000000001@g.us';
  const told: string[] = [];
  const clock = new FakeClock();
  const receipts = receiptsOf({
    clock,
    receiptsOptions: { ownAddresses: () => [own], isOutside: (_, addresses) => addresses.includes(outsider) },
    report: (_token, some) => void told.push(...some.map(({ from, kind }) => `${from} ${kind}`)),
  });
  for (const participant of [own, outsider, member, '33600000000:7@s.whatsapp.net']) {
    const attrs = { id: 'A', from: group, participant, type: 'read' };
    void receipts.onReceipt({ tag: 'receipt', attrs });
  }
  await clock.advance(250);
  assert.deepEqual(told, ['+33611111111 read']);
});

test('a receipt that waits for an outcome proves its order, unless another person sent it', async () => {
  const receipts = receiptsOf({
    clock: new FakeClock(),
    report: () => undefined,
    receiptsOptions: {
      isPending: () => true,
      onHeld: () => undefined,
      numberOf: async (lid) => (lid === '3@lid' ? '33633333333@s.whatsapp.net' : undefined),
    },
  });
  const group = '120363000000000001@g.us';
  const number = { to: '+33622222222', chat: '33622222222@s.whatsapp.net' };
  void receipts.onReceipt({ tag: 'receipt', attrs: { id: 'A', from: number.chat } });
  void receipts.onReceipt({ tag: 'receipt', attrs: { id: 'B', from: '3@lid', type: 'read' } });
  void receipts.onReceipt({ tag: 'receipt', attrs: { id: 'C', from: '4@lid' } });
  const participant = '33644444444@s.whatsapp.net';
  void receipts.onReceipt({ tag: 'receipt', attrs: { id: 'D', from: group, participant } });
  void receipts.onReceipt({ tag: 'receipt', attrs: { id: 'E', from: number.chat, type: 'retry' } });
  await new Promise(setImmediate);
  for (const [wireId, stanza, isProven] of [
    ['A', number, true],
    ['A', { to: '+33633333333', chat: '3@lid' }, false],
    ['B', { to: '+33633333333', chat: '33633333333@s.whatsapp.net' }, true],
    ['B', { to: '3@lid', chat: '3@lid' }, true],
    ['C', { to: '+33644444444', chat: '4@lid' }, true],
    ['C', number, false],
    ['D', { to: group, chat: group }, true],
    ['D', number, false],
    ['E', number, false],
    ['F', number, false],
  ] as const)
    assert.equal(receipts.holds(wireId, stanza), isProven, `${wireId} ${stanza.chat}`);
});

/** Returns receipts on a clock of their own, with lists of those that were reported, acknowledged and dropped. */
function heldReceipts(pending = new Set<string>()) {
  const clock = new FakeClock();
  const told: { token: string; wireIds: string[] }[] = [];
  const letGo: string[] = [];
  const dropped: unknown[] = [];
  const receipts = receiptsOf({
    clock,
    receiptsOptions: {
      ownAddresses: () => ['33611111111@s.whatsapp.net'],
      isPending: (wireId) => pending.has(wireId),
      onHeld: () => undefined,
    },
    log: ({ count }) => void dropped.push(count),
    report: (token, words) => void told.push({ token, wireIds: words.map(({ wireId }) => wireId) }),
  });
  const arrives = (attrs: Record<string, string>, more: readonly string[] = []): void => {
    const items = more.map((id) => ({ tag: 'item', attrs: { id } }));
    const content = [{ tag: 'list', attrs: {}, content: items }];
    const from = '33622222222@s.whatsapp.net';
    const node = {
      tag: 'receipt',
      attrs: { from, t: '1', ...attrs },
      ...(more.length > 0 ? { content } : {}),
    };
    void receipts.onReceipt(node).then(() => letGo.push(attrs.id ?? ''));
  };
  const confirmed = async (index: number): Promise<void> => {
    receipts.confirm(told[index]?.token ?? '');
    await clock.advance(1);
  };
  return { clock, told, letGo, dropped, receipts, arrives, confirmed };
}

test('a stanza is acknowledged once all of its reports are committed, once, and at once if it has none', async () => {
  const pending = new Set(['B']);
  const { clock, told, letGo, arrives, confirmed } = heldReceipts(pending);
  arrives({ id: 'A' }, ['B']);
  arrives({ id: 'C' });
  arrives({ id: 'retry', type: 'retry' });
  arrives({ id: 'own', from: '33611111111@s.whatsapp.net' });
  await clock.advance(250);
  assert.deepEqual(letGo, ['retry', 'own']);
  assert.deepEqual(told[0]?.wireIds, ['A', 'C']);
  await confirmed(0);
  assert.deepEqual(letGo.splice(0), ['retry', 'own', 'C']);
  pending.clear();
  await clock.advance(500);
  await confirmed(0);
  assert.deepEqual(letGo, []);
  await confirmed(1);
  assert.deepEqual(letGo.splice(0), ['A']);
});

test('at the end of a session all that waits is reported, except receipts of orders that are kept', async () => {
  const { clock, told, letGo, receipts, arrives, confirmed } = heldReceipts(new Set(['kept']));
  arrives({ id: 'kept' });
  arrives({ id: 'settled' });
  await clock.advance(1);
  receipts.close();
  assert.deepEqual(
    told.map(({ wireIds }) => wireIds),
    [['settled']],
  );
  await confirmed(0);
  assert.deepEqual(letGo, ['settled'], 'the network delivers the other one again');
});

test('a stanza whose commit takes longer than a minute is acknowledged, and takes no slot of others', async () => {
  const { clock, told, letGo, arrives, confirmed } = heldReceipts();
  arrives({ id: 'late' });
  await clock.advance(250 + LONGEST_HOLD_MS - 1);
  assert.deepEqual(letGo, []);
  await clock.advance(1);
  assert.deepEqual(letGo, ['late']);
  await confirmed(0);
  assert.deepEqual([letGo.length, told.length], [1, 1], 'once');
});

test('if more than 5,000 wait, the next ones are acknowledged at once, and their number is logged', async () => {
  const { clock, told, letGo, dropped, arrives, confirmed } = heldReceipts();
  const many = Array.from({ length: 5_000 }, (_, index) => `many ${index}`);
  arrives({ id: 'most' }, many.slice(1));
  arrives({ id: 'too much' }, ['and another']);
  await clock.advance(1);
  assert.deepEqual(letGo, ['too much']);
  await clock.advance(250);
  assert.deepEqual(dropped, [2]);
  for (let index = 0; index < told.length; index += 1) await confirmed(index);
  arrives({ id: 'room again' });
  await clock.advance(250);
  await confirmed(told.length - 1);
  assert.deepEqual(letGo, ['too much', 'most', 'room again']);
});

/** Returns the `participants` node of a receipt of many members, with this id of the message. */
const participants = (name: Record<string, string>, ...users: Record<string, string>[]) => ({
  tag: 'participants',
  attrs: name,
  content: users.map((attrs) => ({ tag: 'user', attrs })),
});

/** Returns the reports about these receipts. */
async function reportedOf(...nodes: readonly BinaryNode[]): Promise<string[]> {
  const clock = new FakeClock();
  const told: string[] = [];
  const receipts = receiptsOf({
    clock,
    receiptsOptions: {
      numberOf: async (lid) => (lid === '7@lid' ? '33677777777@s.whatsapp.net' : undefined),
    },
    report: (_token, words) =>
      void told.push(
        ...words.map(({ wireId, from, lid, kind, atMs }) =>
          [wireId, from, ...(lid === undefined ? [] : [lid]), kind, atMs].join(' '),
        ),
      ),
  });
  for (const node of nodes) void receipts.onReceipt(node);
  await clock.advance(250);
  return told.sort();
}

test('receipts of many members of a group in one stanza are reported for each, and devices that providers run are people', async () => {
  const told = await reportedOf(
    {
      tag: 'receipt',
      attrs: { id: 'X', from: '120363000000000001@g.us', type: 'read' },
      content: [
        participants({ key: 'A' }, { jid: '33622222222:3@s.whatsapp.net', t: '1' }, { jid: '7@lid', t: '2' }),
        participants({ key: 'B' }, { jid: '33655555555:99@hosted', t: '3' }),
      ],
    },
    { tag: 'receipt', attrs: { id: 'C', from: '7:99@hosted.lid', t: '4' } },
  );
  assert.deepEqual(told, [
    'A +33622222222 read 1000',
    'A +33677777777 read 2000',
    'B +33655555555 read 3000',
    'C +33677777777 7@lid delivered 4000',
  ]);
});

test('a receipt from a network id with a known number names both, because the message may have gone to either', async () => {
  const told = await reportedOf(
    { tag: 'receipt', attrs: { id: 'A', from: '7:3@lid', t: '1' } },
    { tag: 'receipt', attrs: { id: 'B', from: '8@lid', t: '1' } },
    { tag: 'receipt', attrs: { id: 'C', from: '33677777777@s.whatsapp.net', t: '1' } },
  );
  assert.deepEqual(told, [
    'A +33677777777 7@lid delivered 1000',
    'B 8@lid delivered 1000',
    'C +33677777777 delivered 1000',
  ]);
});

// Shape: oxidezap/whatsapp-rust, src/receipt.rs (`test_aggregated_by_message_receipt_fans_out_per_user`,
// `test_aggregated_user_missing_t_uses_stanza_timestamp`).
test('a grouped receipt about one message has a type and a time for each member, or those of the stanza', async () => {
  const told = await reportedOf({
    tag: 'receipt',
    attrs: { id: 'X', from: '120363000000000001@g.us', t: '9' },
    content: [
      participants(
        { message_id: 'A' },
        { jid: '33622222222@s.whatsapp.net', t: '1', type: 'delivery' },
        { jid: '7@lid', t: '2', type: 'read' },
        { jid: '33655555555@s.whatsapp.net', type: 'played' },
        { jid: '33666666666@s.whatsapp.net' },
        { jid: '33688888888@s.whatsapp.net', t: '3', type: 'server-error' },
      ),
    ],
  });
  assert.deepEqual(told, [
    'A +33622222222 delivered 1000',
    'A +33655555555 read 9000',
    'A +33666666666 delivered 9000',
    'A +33677777777 read 2000',
  ]);
});

// A linked device in the background (tulir/whatsmeow, receipt.go). Phones show no second tick for it.
test('an inactive receipt is no delivery, alone and among members of a group, and is acknowledged at once', async () => {
  const told = await reportedOf(
    { tag: 'receipt', attrs: { id: 'A', from: '33622222222:7@s.whatsapp.net', type: 'inactive', t: '1' } },
    { tag: 'receipt', attrs: { id: 'A', from: '33622222222@s.whatsapp.net', t: '2' } },
    {
      tag: 'receipt',
      attrs: { id: 'X', from: '120363000000000001@g.us', t: '9' },
      content: [participants({ message_id: 'B' }, { jid: '7@lid', t: '3', type: 'inactive' })],
    },
  );
  assert.deepEqual(told, ['A +33622222222 delivered 2000']);
  const { clock, letGo, arrives } = heldReceipts();
  arrives({ id: 'inactive', type: 'inactive' });
  await clock.advance(0);
  assert.deepEqual(letGo, ['inactive']);
});
