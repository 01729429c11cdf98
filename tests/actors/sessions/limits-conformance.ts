import assert from 'node:assert/strict';
import type { ReportedRestriction } from '../../../actors/sessions/session-events.ts';
import { HOUR_MS } from '../../../runtime/durations.ts';
import { type ConformanceNetwork, pairedPromiseOf, textOrder } from './conformance-network.ts';

const FRIEND = '+33622222222';
const STRANGER = '+33622222223';

const wholeSecond = (atMs: number): number => Math.floor(atMs / 1_000) * 1_000;

/** Checks the promises of every implementation of the session port about the limits of a number. */
export function limitsConformance(name: string, start: () => Promise<ConformanceNetwork>): void {
  const promise = pairedPromiseOf(name, start);

  promise(
    'a restriction is reported as it begins, after the session opens again, and as it ends',
    async (network, shop) => {
      const { host, log } = network;
      const endsAtMs = wholeSecond(Date.now()) + HOUR_MS;
      const restricted: ReportedRestriction = { isActive: true, kind: 'RESTRICT_ALL_COMPANIONS', endsAtMs };
      const isReported = async (generation: number): Promise<void> => {
        const { restriction } = await log.next(
          shop,
          'session.limits',
          (told) => told.generation === generation && told.restriction?.isActive === true,
        );
        assert.equal(restriction?.kind, restricted.kind);
        assert.ok(Math.abs((restriction?.endsAtMs ?? 0) - endsAtMs) <= 2_000, String(restriction?.endsAtMs));
      };
      await network.restrict(shop, restricted);
      await isReported(2);
      host.close(shop);
      host.open(shop, { generation: 3 });
      await isReported(3);
      await network.restrict(shop, { isActive: false, kind: 'DEFAULT', endsAtMs: null });
      await log.next(
        shop,
        'session.limits',
        ({ generation, restriction }) => generation === 3 && restriction?.isActive === false,
      );
    },
  );

  promise('a restriction whose end the network does not name has none', async (network, shop) => {
    await network.restrict(shop, { isActive: true, kind: 'DEFAULT', endsAtMs: null });
    const { restriction } = await network.log.next(
      shop,
      'session.limits',
      (told) => told.restriction?.isActive === true,
    );
    assert.deepEqual(restriction, { isActive: true, kind: 'DEFAULT', endsAtMs: null });
  });

  promise('a quota is reported with its used part, its warning and its end', async (network, shop) => {
    const endsAtMs = wholeSecond(Date.now()) + HOUR_MS;
    await network.limitNewChats(shop, { quota: 50, used: 40, warning: 'first', endsAtMs });
    const { newChats } = await network.log.next(shop, 'session.limits', (told) => told.newChats != null);
    assert.deepEqual([newChats?.quota, newChats?.used, newChats?.warning], [50, 40, 'first']);
    assert.ok(Math.abs((newChats?.endsAtMs ?? 0) - endsAtMs) <= 2_000);
  });

  promise(
    'a message that is prepared says whether there is a chat with its recipient',
    async (network, shop) => {
      const { host, log } = network;
      const hasChat = async (to: string): Promise<boolean | undefined> => {
        host.order(shop, { type: 'prepare', order: textOrder(`to ${to}`, { to }) });
        const prepared = await log.next(shop, 'session.prepared');
        await log.next(shop, 'session.send_outcome');
        return prepared.hasChat;
      };
      assert.equal(await hasChat(FRIEND), false);
      const written = network.write(shop, FRIEND, 'hi');
      const { token } = await log.next(shop, 'session.inbound');
      host.order(shop, { type: 'confirm', token });
      assert.equal(await written, true);
      assert.equal(await hasChat(FRIEND), true);
      assert.equal(await hasChat(STRANGER), false);
    },
  );

  promise('an order that needs a chat is not sent if there is none', async (network, shop) => {
    const { host, log } = network;
    host.order(shop, {
      type: 'prepare',
      order: textOrder('to a stranger', { to: STRANGER, needsChat: true }),
    });
    const { outcome } = await log.next(shop, 'session.send_outcome');
    assert.deepEqual(outcome, { kind: 'no_chat' });
    const written = network.write(shop, FRIEND, 'hi');
    const { token } = await log.next(shop, 'session.inbound');
    host.order(shop, { type: 'confirm', token });
    assert.equal(await written, true);
    host.order(shop, { type: 'prepare', order: textOrder('to a friend', { to: FRIEND, needsChat: true }) });
    assert.equal((await log.next(shop, 'session.prepared')).hasChat, true);
  });
}
