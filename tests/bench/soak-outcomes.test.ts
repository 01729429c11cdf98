import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countOutcomes, growthOfLives, growthOfLong } from '../../bench/soak/soak-outcomes.ts';
import { MOST_MINUTES, soakMessage } from '../../bench/soak/soak-shops.ts';

const good = { status: 'sent', reason: null, shown: 1, events: 1 };

test('a soak counts each message that did not end as promised', () => {
  const counts = countOutcomes([
    good,
    { ...good, shown: 0 },
    { ...good, shown: 2 },
    { ...good, events: 0 },
    { ...good, events: 2 },
    { ...good, status: 'failed', reason: 'BOT_RESTARTED', shown: 0 },
    { ...good, status: 'failed', reason: 'DELIVERY_UNKNOWN' },
    { ...good, status: 'failed', reason: 'BOT_RESTARTED', shown: 2 },
    { ...good, status: 'failed', reason: 'SEND_REFUSED', shown: 0 },
    { ...good, status: 'queued', shown: 0, events: 0 },
    { ...good, status: '404', shown: 0 },
  ]);
  assert.deepEqual(counts, {
    accepted: 11,
    sent: 5,
    uncertain: 3,
    endedOtherwise: 3,
    lost: 1,
    doubled: 2,
    endsUntold: 2,
    endsToldTwice: 1,
  });
});

test('memory grows if the least of the last quarter is above that of the second', () => {
  const warmUp = [10, 10];
  assert.equal(growthOfLong([...warmUp, 200, 100, 300, 300, 100, 200]), 1);
  assert.equal(growthOfLong([...warmUp, 200, 100, 100, 100, 150, undefined]), 1.5);
});

test('memory of a killed process grows if its last life needs more than its second', () => {
  const lives = (...needs: number[]) =>
    needs.flatMap((mib, life) => [
      { mib: 1, life },
      { mib: undefined, life },
      { mib, life },
      { mib: mib + 1, life },
    ]);
  assert.equal(growthOfLives(lives(400, 100, 999, 120)), 1.2);
  assert.ok(Number.isNaN(growthOfLives(lives(400, 100))), 'a second life alone shows no growth');
});

test('the messages of a soak keep the send policy', () => {
  const shops = Array.from({ length: 4 }, (_, index) => ({
    id: `${index}`,
    tenantId: 't',
    key: 'k',
    phone: `+${index}`,
  }));
  const recipients = Array.from({ length: 120 }, (_, minute) =>
    shops.map((_shop, index) => {
      const { body } = soakMessage(shops, minute * shops.length + index, 120);
      return (body as { to: string }).to;
    }),
  );
  for (const index of shops.keys()) {
    const phones = recipients.map((ofMinute) => ofMinute[index] ?? '');
    for (let from = 0; from <= 60; from += 1) {
      const toNumbers = phones.slice(from, from + 60).filter((to) => to.startsWith('+'));
      assert.equal(toNumbers.length, 40, 'of 41 an hour');
    }
    const times = new Map<string, number>();
    for (const to of phones) times.set(to, (times.get(to) ?? 0) + 1);
    for (const [to, count] of times) assert.ok(count <= (to.endsWith('@g.us') ? 5 : 1), `${to}: ${count}`);
  }
  assert.equal(MOST_MINUTES, 300);
});
