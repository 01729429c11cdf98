import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeBinaryNode } from '@whiskeysockets/baileys';
import type { SessionEnd, SessionEventOf } from '../../../../actors/sessions/session-events.ts';
import type { SessionAddress } from '../../../../actors/sessions/session-host.ts';
import { sessionEndOf } from '../../../../actors/sessions/worker-thread/shared/session-end.ts';
import { HOUR_MS } from '../../../../runtime/durations.ts';
import type { FaultKind } from '../../../../simulator/control/faults.ts';
import { newShop, SHOP_PHONE } from '../conformance-network.ts';
import { pairedShop, simulatedNetwork } from '../paired-shop.ts';

/** The rows of docs/chat-client.md, What the client surfaces. */
const LIVE: readonly (readonly [FaultKind, SessionEnd, number])[] = [
  ['drop', 'transient', 428],
  ['stream_end', 'transient', 428],
  ['unavailable', 'transient', 503],
  ['bad_session', 'transient', 500],
  ['restart', 'restart_required', 515],
  ['replaced', 'replaced', 440],
  ['conflict', 'replaced', 440],
  ['logged_out', 'logged_out', 401],
];

const AT_LOGIN: readonly (readonly [FaultKind, SessionEnd, number])[] = [
  ['unauthorized', 'logged_out', 401],
  ['forbidden', 'forbidden', 403],
  ['outdated', 'outdated', 405],
  ['login_unavailable', 'transient', 503],
  // The client reports nothing here. The watchdog of connecting ends the session.
  ['refuse_upgrade', 'transient', 408],
];

type EndedSession = SessionEventOf<'session.closed'>;

/** Returns the log line of an end, in the form of the recording logger. */
function logLine(shop: SessionAddress, { generation, end, statusCode, detail }: EndedSession): string {
  const { tenantId, shopId } = shop;
  const fields = { tenantId, shopId, generation, end, statusCode, detail };
  return `${JSON.stringify(fields)} a session ended`;
}

test('every end of a live session, and every refusal of a login, is reported by its meaning, logged and counted', async (context) => {
  const { network, shop, host, log, control } = await pairedShop(context, { timing: { connectMs: 5_000 } });
  const told: EndedSession[] = [];
  const before = host.figures().ends.get('restart_required') ?? 0;
  let generation = 2;
  const reopen = async (): Promise<void> => {
    generation += 1;
    host.open(shop, { generation });
    await log.next(shop, 'session.connected', (event) => event.generation === generation);
  };
  const closed = async (): Promise<readonly [SessionEnd, number | undefined]> => {
    const event = await log.next(shop, 'session.closed', (each) => each.generation === generation);
    told.push(event);
    return [event.end, event.statusCode];
  };
  for (const [fault, end, statusCode] of AT_LOGIN) {
    await control.fault(SHOP_PHONE, fault, 1);
    assert.deepEqual(await closed(), ['transient', 428], `${fault} cuts the live connection`);
    generation += 1;
    host.open(shop, { generation });
    assert.deepEqual(await closed(), [end, statusCode], fault);
    await reopen();
  }
  for (const [fault, end, statusCode] of LIVE) {
    await control.fault(SHOP_PHONE, fault);
    assert.deepEqual(await closed(), [end, statusCode], fault);
    if (end !== 'logged_out') await reopen();
  }
  for (const event of told) assert.ok(network.logged.includes(logLine(shop, event)), logLine(shop, event));
  const counts = new Map([['restart_required', before]]);
  for (const { end } of told) counts.set(end, (counts.get(end) ?? 0) + 1);
  assert.deepEqual(new Map([...host.figures().ends].sort()), new Map([...counts].sort()));
});

test('a silent server and a stalled one are both noticed, by the keep-alive and by the probe', async (context) => {
  const { network, shop } = await pairedShop(context, {
    timing: { keepAliveMs: 1_000, queryMs: 2_000, probeEveryMs: 1_300 },
  });
  await network.control.fault(SHOP_PHONE, 'deaf');
  const deaf = await network.log.next(shop, 'session.closed', ({ generation }) => generation === 2);
  assert.deepEqual([deaf.end, deaf.statusCode], ['transient', 408]);
  network.host.open(shop, { generation: 3 });
  await network.log.next(shop, 'session.connected', ({ generation }) => generation === 3);
  await network.control.fault(SHOP_PHONE, 'silent');
  const silent = await network.log.next(shop, 'session.closed', ({ generation }) => generation === 3);
  assert.deepEqual([silent.end, silent.statusCode], ['transient', 408]);
  assert.match(silent.detail, /nobody answers a ping/);
  for (const event of [deaf, silent]) assert.ok(network.logged.includes(logLine(shop, event)));
  assert.equal(network.host.figures().ends.get('transient'), 2);
});

test('codes that are never scanned rotate and are used up', async (context) => {
  const network = await simulatedNetwork(context, { timing: { qrMs: 30 } });
  const shop = newShop();
  network.host.open(shop, { generation: 1 });
  const closed = await network.log.next(shop, 'session.closed');
  assert.deepEqual([closed.end, closed.statusCode], ['qr_exhausted', 408]);
  const codes = network.log.all(shop, 'session.qr').map(({ qr }) => qr);
  assert.equal(new Set(codes).size, 6);
  assert.ok(network.logged.includes(logLine(shop, closed)));
  assert.deepEqual([...network.host.figures().ends], [['qr_exhausted', 1]]);
});

test('a session that the network ends for want of an acknowledgement is logged and counted by what was not acknowledged', async (context) => {
  const { network, shop, host, log, control } = await pairedShop(context);
  for (const [generation, stanzaClass, stanzaType, counted] of [
    [2, 'status', 'media', 'status'],
    [3, 'future-class', 'text', 'other'],
  ] as const) {
    const ack = { tag: 'ack', attrs: { class: stanzaClass, id: '3EB0A', type: stanzaType } };
    const before = host.figures().unanswered.get(counted) ?? 0;
    await control.sendFrame(SHOP_PHONE, encodeBinaryNode({ tag: 'stream:error', attrs: {}, content: [ack] }));
    const closed = await log.next(shop, 'session.closed', (each) => each.generation === generation);
    assert.equal(closed.end, 'transient');
    const { tenantId, shopId } = shop;
    const fields = JSON.stringify({ tenantId, shopId, generation, stanzaClass, stanzaType });
    const line = `${fields} the network ended a session because an acknowledgement was missing`;
    assert.ok(network.logged.includes(line), line);
    assert.equal(host.figures().unanswered.get(counted), before + 1);
    host.open(shop, { generation: generation + 1 });
    await log.next(shop, 'session.connected', (each) => each.generation === generation + 1);
  }
});

test('codes of the table that the simulator cannot make', () => {
  const endOf = (statusCode: number | undefined): SessionEnd => sessionEndOf({ statusCode, message: '' });
  assert.deepEqual([408, 419, 516, 500, undefined].map(endOf), [
    'transient',
    'logged_out',
    'transient',
    'transient',
    'transient',
  ]);
  assert.deepEqual([402, 406].map(endOf), ['temporarily_banned', 'forbidden']);
  for (const code of [400, 409, 411, 413, 414, 415, 416, 417, 418])
    assert.equal(endOf(code), 'login_refused');
});

test('a temporary ban is reported with its code and its wait, and a lock with the owner’s message', async (context) => {
  const { shop, host, log, control } = await pairedShop(context);
  const closed = async (generation: number) => {
    const event = await log.next(shop, 'session.closed', (each) => each.generation === generation);
    const { end, statusCode, networkCode, waitMs, detail } = event;
    return { end, statusCode, networkCode, waitMs, detail };
  };
  await control.failLogins(SHOP_PHONE, { reason: 402, attributes: { code: '104', expire: '3600' } });
  await closed(2);
  host.open(shop, { generation: 3 });
  const ban = { end: 'temporarily_banned', statusCode: 402, networkCode: 104, waitMs: HOUR_MS };
  assert.deepEqual(await closed(3), { ...ban, detail: 'Connection Failure' });
  const words = { logout_message_header: 'Locked', logout_message_subtext: 'Look at the phone' };
  await control.failLogins(SHOP_PHONE, { reason: 403, attributes: words });
  host.open(shop, { generation: 4 });
  const lock = { end: 'forbidden', statusCode: 403, networkCode: undefined, waitMs: undefined };
  assert.deepEqual(await closed(4), { ...lock, detail: 'Connection Failure: Locked: Look at the phone' });
});
