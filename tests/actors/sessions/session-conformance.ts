import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SessionAddress } from '../../../actors/sessions/session-host.ts';
import {
  type ConformanceNetwork,
  pair,
  pairedPromiseOf,
  promiseOf,
  SHOP_PHONE,
  textOrder,
} from './conformance-network.ts';

const PERSON = '+33622222222';

/** Declares the promises of every implementation of the session port. */
export function sessionConformance(name: string, start: () => Promise<ConformanceNetwork>): void {
  const promise = promiseOf(name, start);
  const paired = pairedPromiseOf(name, start);

  promise(
    'a shop without credentials shows a code, is scanned, asks to be reopened and is connected',
    async (network, shop) => {
      const { host, log } = network;
      host.open(shop, { generation: 1 });
      const code = await log.next(shop, 'session.qr');
      assert.ok(code.qr.length > 0 && code.expiresAtMs > 0);
      await network.scan(shop, code.qr, SHOP_PHONE);
      const closed = await log.next(shop, 'session.closed');
      assert.deepEqual([closed.end, closed.statusCode, closed.generation], ['restart_required', 515, 1]);
      host.open(shop, { generation: 2 });
      const connected = await log.next(shop, 'session.connected');
      assert.equal(connected.phone, SHOP_PHONE.slice(1));
      assert.equal(connected.generation, 2);
    },
  );

  promise(
    'a shop opened with a number shows one code to type and no QR code, and is connected by it',
    async (network, shop) => {
      const { host, log } = network;
      const pairWith = SHOP_PHONE.slice(1);
      host.open(shop, { generation: 1, pairWith });
      const { code, expiresAtMs } = await log.next(shop, 'session.pairing_code');
      assert.match(code, /^[0-9A-Z]{8}$/);
      assert.ok(expiresAtMs > 0);
      await network.typeCode(shop, code, SHOP_PHONE);
      assert.equal((await log.next(shop, 'session.closed')).end, 'restart_required');
      host.open(shop, { generation: 2, pairWith });
      assert.equal((await log.next(shop, 'session.connected')).phone, pairWith);
      assert.deepEqual(
        [log.all(shop, 'session.pairing_code').length, log.all(shop, 'session.qr').length],
        [1, 0],
      );
    },
  );

  promise('a network that gives no code ends the session with its status', async (network, shop) => {
    for (const [generation, status] of [404, 429].entries()) {
      await network.refuseCode(shop, SHOP_PHONE, status);
      network.host.open(shop, { generation, pairWith: SHOP_PHONE.slice(1) });
      const { end, statusCode } = await network.log.next(shop, 'session.closed');
      assert.deepEqual([end, statusCode], ['pairing_refused', status]);
    }
    assert.equal(network.log.all(shop, 'session.pairing_code').length, 0);
  });

  paired('a paired shop resumes without a code and keeps the time of its pairing', async (network, shop) => {
    const [first] = network.log.all(shop, 'session.connected');
    network.host.close(shop);
    network.host.open(shop, { generation: 3 });
    const again = await network.log.next(shop, 'session.connected');
    assert.equal(again.pairedAtMs, first?.pairedAtMs);
    assert.equal(network.log.all(shop, 'session.qr').length, 1);
  });

  paired('a text is prepared, acknowledged and received once', async (network, shop) => {
    const { host, log } = network;
    const order = textOrder('bonjour');
    host.order(shop, { type: 'prepare', order });
    assert.equal((await log.next(shop, 'session.prepared')).messageId, order.messageId);
    const { outcome } = await log.next(shop, 'session.send_outcome');
    assert.deepEqual(outcome, { kind: 'acknowledged' });
    assert.deepEqual(await network.received(shop, PERSON), ['bonjour']);
  });

  paired(
    'a transmitted message leaves; a recalled one never does, unreported; the next one is read',
    async (network, shop) => {
      const { host, log, actor } = network;
      actor.releases = false;
      const [recalled, released] = [textOrder('recalled'), textOrder('released')];
      host.order(shop, { type: 'prepare', order: recalled });
      assert.equal((await log.next(shop, 'session.prepared')).messageId, recalled.messageId);
      host.order(shop, { type: 'recall', messageId: recalled.messageId });
      host.order(shop, { type: 'transmit', messageId: recalled.messageId });
      actor.releases = true;
      host.order(shop, { type: 'prepare', order: released });
      const { messageId, outcome } = await log.next(shop, 'session.send_outcome');
      assert.deepEqual([messageId, outcome], [released.messageId, { kind: 'acknowledged' }]);
      assert.deepEqual(await network.received(shop, PERSON), ['released']);
    },
  );

  paired(
    'an order that is recalled and given again is prepared again, and reported on once',
    async (network, shop) => {
      const { host, log, actor } = network;
      actor.releases = false;
      const order = textOrder('given twice');
      host.order(shop, { type: 'prepare', order });
      await log.next(shop, 'session.prepared');
      host.order(shop, { type: 'recall', messageId: order.messageId });
      host.order(shop, { type: 'prepare', order });
      host.order(shop, { type: 'recall', messageId: order.messageId });
      host.order(shop, { type: 'prepare', order });
      await log.next(shop, 'session.prepared');
      host.order(shop, { type: 'transmit', messageId: order.messageId });
      assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
      assert.deepEqual(await network.received(shop, PERSON), ['given twice']);
      assert.equal(log.all(shop, 'session.send_outcome').length, 1);
      assert.equal(log.all(shop, 'session.prepared').length, 2);
    },
  );

  paired(
    'a session that ends with a message prepared gives it back, and a worker that is lost too',
    async (network, shop) => {
      const { host, log, actor } = network;
      actor.releases = false;
      host.order(shop, { type: 'prepare', order: textOrder('prepared') });
      await log.next(shop, 'session.prepared');
      await network.drop(shop, 'transient');
      assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'not_sent' });
      await log.next(shop, 'session.closed', ({ generation }) => generation === 2);
      host.open(shop, { generation: 3 });
      await log.next(shop, 'session.connected', ({ generation }) => generation === 3);
      host.order(shop, { type: 'prepare', order: textOrder('prepared once more') });
      await log.next(shop, 'session.prepared');
      await network.loseWorker(shop);
      assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'unprepared' });
      assert.deepEqual(await network.received(shop, PERSON), []);
    },
  );

  promise('a number that is not on the network does not exist', async (network, shop) => {
    await network.remove('+33699999999');
    await pair(network, shop);
    network.host.order(shop, { type: 'prepare', order: textOrder('to nobody', { to: '+33699999999' }) });
    assert.deepEqual((await network.log.next(shop, 'session.send_outcome')).outcome, {
      kind: 'not_on_network',
    });
  });

  promise(
    'a number is reported as the network knows it if the order has another, also later',
    async (network, shop) => {
      await network.addForm('+553196348800', '+5531996348800');
      await pair(network, shop);
      const { host, log } = network;
      const [long, short] = ['+5531996348800', '+553196348800'];
      for (const [to, knownAs, told] of [
        [long, undefined, [short]],
        [short, undefined, []],
        [long, undefined, [short]],
        [long, short, []],
        [PERSON, undefined, []],
        [PERSON, long, [PERSON]],
      ] as const) {
        const order = textOrder('to one of two forms', { to, knownAs });
        host.order(shop, { type: 'prepare', order });
        assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
        assert.deepEqual(
          log
            .all(shop, 'session.recipient_known')
            .filter(({ messageId }) => messageId === order.messageId)
            .map(({ number }) => number),
          told,
        );
      }
    },
  );

  paired('an ack error refuses a message, a rate signal does not', async (network, shop) => {
    const { host, log } = network;
    await network.meets(shop, { ackError: '463' });
    host.order(shop, { type: 'prepare', order: textOrder('refused') });
    assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, {
      kind: 'refused',
      code: '463',
    });
    await network.meets(shop, { ackError: '429' });
    host.order(shop, { type: 'prepare', order: textOrder('too much') });
    assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'rate_limited' });
  });

  paired('a message without an acknowledgement is unknown at its deadline', async (network, shop) => {
    await network.meets(shop, 'no_ack');
    network.host.order(shop, { type: 'prepare', order: textOrder('lost?', { deadlineMs: 5_000 }) });
    const { outcome } = await network.log.next(shop, 'session.send_outcome');
    assert.deepEqual(outcome, { kind: 'unknown' });
  });

  promise('without an open session nothing is sent, and every order is answered', async (network, shop) => {
    const { host, log } = network;
    host.order(shop, { type: 'prepare', order: textOrder('too early') });
    assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'not_sent' });
  });

  paired(
    'a message that must not be repeated has its outcome once its connection is lost',
    async (network, shop) => {
      const { host, log } = network;
      const order = textOrder('a waiting message', { deadlineMs: 30_000 });
      await network.meets(shop, 'no_ack');
      host.order(shop, { type: 'prepare', order });
      await received(network, shop);
      host.order(shop, { type: 'do_not_repeat', messageId: order.messageId });
      await network.drop(shop, 'transient');
      const { messageId, outcome } = await log.next(shop, 'session.send_outcome');
      assert.deepEqual([messageId, outcome], [order.messageId, { kind: 'unknown' }]);
    },
  );

  paired(
    'a lost connection is reported, and the message has its outcome once no session follows',
    async (network, shop) => {
      const { host, log } = network;
      await network.meets(shop, 'no_ack');
      host.order(shop, { type: 'prepare', order: textOrder('a waiting message', { deadlineMs: 30_000 }) });
      await received(network, shop);
      await network.drop(shop, 'transient');
      await log.next(shop, 'session.closed', ({ generation }) => generation === 2);
      host.close(shop);
      assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'unknown' });
    },
  );

  for (const end of ['replaced', 'logged_out', 'restart_required'] as const) {
    paired(
      `a session that ends as ${end} settles the message being sent, then reports it`,
      async (network, shop) => {
        const { host, log } = network;
        await network.meets(shop, 'no_ack');
        host.order(shop, { type: 'prepare', order: textOrder('a waiting message', { deadlineMs: 30_000 }) });
        await received(network, shop);
        await network.drop(shop, end);
        const { outcome } = await log.next(shop, 'session.send_outcome');
        assert.deepEqual(outcome, { kind: 'unknown' });
        assert.equal((await log.next(shop, 'session.closed', ({ generation }) => generation === 2)).end, end);
        const types = log.typesOf(shop);
        assert.ok(types.lastIndexOf('session.send_outcome') < types.lastIndexOf('session.closed'));
      },
    );
  }

  paired('closing reports nothing but the outcome of the message being sent', async (network, shop) => {
    const { host, log } = network;
    await network.meets(shop, 'no_ack');
    host.order(shop, { type: 'prepare', order: textOrder('a waiting message', { deadlineMs: 30_000 }) });
    await received(network, shop);
    host.close(shop);
    await log.next(shop, 'session.send_outcome');
    host.order(shop, { type: 'prepare', order: textOrder('after') });
    assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'not_sent' });
    assert.equal(log.all(shop, 'session.closed').length, 1, 'only the one of the pairing');
  });

  paired('a lost worker settles the message as restarted, and is reported', async (network, shop) => {
    const { host, log } = network;
    await network.meets(shop, 'no_ack');
    host.order(shop, { type: 'prepare', order: textOrder('a waiting message', { deadlineMs: 30_000 }) });
    await received(network, shop);
    await network.loseWorker(shop);
    assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'restarted' });
    assert.equal((await log.next(shop, 'session.worker_lost')).generation, 2);
  });

  promise('groups are reported as the session opens, and when they are asked for', async (network, shop) => {
    await network.setGroup(shop, { id: '120363000000000009@g.us', name: 'Clients', members: 3, admin: true });
    await pair(network, shop);
    const first = await network.log.next(shop, 'session.groups', ({ groups }) => groups.length > 0);
    assert.deepEqual(first.groups, [
      { id: '120363000000000009@g.us', name: 'Clients', participantCount: 3, isAdmin: true, announce: false },
    ]);
    network.host.order(shop, { type: 'refresh_groups' });
    assert.deepEqual((await network.log.next(shop, 'session.groups')).groups, first.groups);
  });

  paired('erasing forgets the pairing: the next session shows a code', async (network, shop) => {
    await network.host.erase(shop);
    network.host.open(shop, { generation: 3 });
    await network.log.next(shop, 'session.qr', ({ generation }) => generation === 3);
  });
}

/** Resolves when the person has one message that the shop has not settled yet. */
async function received(network: ConformanceNetwork, shop: SessionAddress): Promise<void> {
  while ((await network.received(shop, PERSON)).length === 0) await nextTurn();
}
