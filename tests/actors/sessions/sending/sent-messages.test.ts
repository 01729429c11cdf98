/** The sealed copies of sent messages, by day. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SentMessages } from '../../../../actors/sessions/worker-thread/sending/sent-messages.ts';
import { DAY_MS } from '../../../../runtime/durations.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';

test('a copy is kept for seven days, and goes within the day after', async () => {
  const clock = new FakeClock();
  const ends: (number | undefined)[] = [];
  const sealed = {
    write: async ({ expiresAtMs }: { readonly expiresAtMs?: number | undefined }) =>
      void ends.push(expiresAtMs),
    find: async () => undefined,
  };
  const sentMessages = new SentMessages(sealed, clock);
  const keptForMs = async (): Promise<number | undefined> => {
    await sentMessages.remember('W', { chat: '1@s.whatsapp.net', message: { conversation: 'hello' } });
    const end = ends.at(-1);
    return end === undefined ? undefined : end - clock.wallMs();
  };
  const first = await keptForMs();
  assert.ok(first !== undefined && first >= 7 * DAY_MS && first <= 8 * DAY_MS, `${first} ms`);
  assert.equal(await keptForMs(), undefined, 'the end of the day’s copies is set once');
  await clock.advance(DAY_MS);
  assert.equal(await keptForMs(), first);
});
