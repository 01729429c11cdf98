/** The events of a shop's turns: stored once, in the same writes as the change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFinal } from '../../../../actors/message-status.ts';
import type { MessageState } from '../../../../actors/shops/records/message-record.ts';
import type { Write } from '../../../../runtime/store.ts';
import { propertyRuns } from '../../../testbed/property-runs.ts';
import { seededRandom } from '../../../testbed/seeded-random.ts';
import { ShopHarness } from '../shop-harness.ts';

/** The events among writes: type and subject. */
function eventsIn(writes: readonly Write[]): [type: string, subject: string][] {
  return writes
    .filter(([command]) => command === 'XADD')
    .map((write) => [String(write[write.indexOf('t') + 1]), String(write[write.indexOf('d') + 1])]);
}

/** The messages that these writes end, as `message.sent` and its like, with their ids. */
function endsIn(writes: readonly Write[]): [type: string, subject: string][] {
  return writes.flatMap(([command, , field, value]): [string, string][] => {
    const id = command === 'HSET' ? /^([0-9a-f]{24}):state$/.exec(String(field))?.[1] : undefined;
    if (id === undefined) return [];
    const { status } = JSON.parse(String(value)) as MessageState;
    return isFinal(status) ? [[`message.${status}`, id]] : [];
  });
}

test('every end of a message is an event of the same commit, and no event is without its end', async (context) => {
  const { seed, numRuns } = propertyRuns(context, 60);
  let ends = 0;
  for (let run = 0; run < numRuns; run += 1) {
    const random = seededRandom(seed + run);
    const below = (count: number): number => Math.floor(random() * count);
    const shop = await ShopHarness.connected(seed + run);
    const told = new Map<string, string>();
    const look = (): void => {
      const writes = shop.writes.splice(0);
      const events = eventsIn(writes).filter(([type]) => type.startsWith('message.'));
      const ended = endsIn(writes);
      assert.deepEqual(events, ended, `seed ${seed}, run ${run}`);
      for (const [type, id] of events) {
        assert.ok(!told.has(id), `seed ${seed}, run ${run}: ${id} was told twice`);
        told.set(id, type);
      }
      ends += ended.length;
    };
    for (let step = 0; step < 60; step += 1) {
      const hand = shop.state.currentMessage?.messageId;
      const steps: (() => void)[] = [
        () => void shop.send(`+336100${10_000 + below(5_000)}`),
        () => void shop.send(`+336100${10_000 + below(5_000)}`),
        () => void shop.pass(below(30) * 1_000),
        () => hand !== undefined && shop.toWire(hand, random() < 0.2 ? 'STOP' : 'hello'),
        () =>
          hand !== undefined &&
          shop.outcome(hand, random() < 0.7 ? { kind: 'acknowledged' } : { kind: 'unknown' }),
        () => hand !== undefined && random() < 0.4 && shop.outcome(hand, { kind: 'not_on_network' }),
        () => random() < 0.1 && shop.restart(),
        () => random() < 0.1 && shop.command({ type: 'session.unreachable' }),
      ];
      steps[below(steps.length)]?.();
      look();
    }
    for (const [id, type] of told) assert.equal(`message.${shop.messages.get(id)?.status}`, type);
  }
  assert.ok(numRuns < 60 || ends > 100, `${ends} ends`);
});

test('the channel has an event when a person connects or ends it or its session is lost, not when a drop repairs itself', async () => {
  const shop = await ShopHarness.start();
  shop.command({ type: 'connect' });
  shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: shop.nowMs });
  assert.deepEqual(eventsIn(shop.writes.splice(0)), [['channel.connected', '{"phone":"33600000001"}']]);
  shop.session({ type: 'session.closed', end: 'transient', statusCode: 428, detail: 'gone' });
  shop.pass(5_000);
  shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: shop.nowMs });
  shop.restart();
  shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: shop.nowMs });
  assert.deepEqual(eventsIn(shop.writes.splice(0)), []);
  shop.session({ type: 'session.closed', end: 'logged_out', statusCode: 401, detail: 'unlinked' });
  shop.command({ type: 'connect' });
  shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: shop.nowMs });
  shop.command({ type: 'disconnect' });
  assert.deepEqual(
    eventsIn(shop.writes.splice(0)).map(([type]) => type),
    ['channel.session_lost', 'channel.connected', 'channel.disconnected'],
  );
});

test('a shop that is connected by a caller after its credentials were found gone publishes both, and confirms its number', async () => {
  const shop = await ShopHarness.connected();
  shop.command({ type: 'disconnect' });
  shop.writes.length = 0;
  shop.effects.length = 0;
  shop.command({ type: 'connect' });
  shop.session({ type: 'session.qr', qr: 'Q', expiresAtMs: shop.nowMs + 20_000 });
  shop.session({ type: 'session.closed', end: 'restart_required', statusCode: 515, detail: '' });
  const connected = { type: 'session.connected', phone: '33600000001', pairedAtMs: shop.nowMs } as const;
  shop.session(connected, { isOwn: true });
  const types = eventsIn(shop.writes).map(([type]) => type);
  assert.deepEqual(types, ['channel.session_lost', 'channel.connected']);
  const numberEffects = shop.effects.filter(
    ({ type }) => type === 'confirm_number' || type === 'note_number',
  );
  assert.deepEqual(
    numberEffects.map(({ type }) => type),
    ['confirm_number'],
  );
  assert.equal(shop.state.channel.context.asked, false);
});

test('events are published when the queue stops and when it continues', async () => {
  const shop = await ShopHarness.connected();
  shop.writes.length = 0;
  shop.command({ type: 'pause' });
  shop.command({ type: 'pause' });
  shop.command({ type: 'resume' });
  const id = shop.send();
  shop.outcome(id, { kind: 'rate_limited' });
  const pausedUntil = new Date(shop.nowMs + 900_000).toISOString();
  shop.pass(900_000);
  assert.deepEqual(eventsIn(shop.writes), [
    ['queue.paused', '{"pausedBy":"operator","pausedUntil":null}'],
    ['queue.resumed', '{}'],
    ['queue.paused', `{"pausedBy":"rate_signal","pausedUntil":"${pausedUntil}"}`],
    ['queue.resumed', '{}'],
  ]);
});

test('an opt-out and its end are published once, with the number if it is known', async () => {
  const shop = await ShopHarness.connected();
  shop.writes.length = 0;
  const write = (text: string, wasOptedOut: boolean | undefined, writtenBy = '+33612345678'): void => {
    const writer =
      wasOptedOut === undefined
        ? {}
        : { writer: { lastInboundAtMs: 0, stampMs: 0, optedOut: wasOptedOut, wireIds: [] } };
    shop.session(
      {
        type: 'session.inbound',
        from: writtenBy,
        text,
        atMs: shop.nowMs,
        wireId: `W${text}${shop.nowMs++}`,
        token: 't',
      },
      { received: { ...writer, writtenBy, optsOut: text === 'STOP' } },
    );
  };
  write('hello', undefined);
  write('STOP', false);
  write('STOP', true);
  write('hello again', true);
  write('STOP', undefined, '123@lid');
  assert.deepEqual(eventsIn(shop.writes), [
    ['recipient.opted_out', '{"phone":"+33612345678"}'],
    ['recipient.opted_in', '{"phone":"+33612345678"}'],
    ['recipient.opted_out', '{"phone":null}'],
  ]);
});
