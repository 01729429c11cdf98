import assert from 'node:assert/strict';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { mock, test } from 'node:test';
import { WebSocket } from 'ws';
import { startSimulator } from '../../simulator/simulator.ts';
import { deferred } from '../testbed/deferred.ts';
import { Fixture } from './fixture.ts';

const SHOP = '+33611111111';
const CUSTOMER = '+33622222222';

interface Answer {
  success: boolean;
  error?: { code: string; message: string; fields?: { field: string; message: string }[] };
}

test('bad input is 422 and names every field; unknown paths are 404 and wrong methods 405', async (context) => {
  const fixture = await Fixture.start(context);
  const cases: readonly (readonly [string, string, unknown, number, string, readonly string[]])[] = [
    ['POST', '/scan', {}, 422, 'VALIDATION_ERROR', ['qr', 'phone']],
    ['POST', '/scan', { qr: 'x', phone: 'nobody' }, 422, 'VALIDATION_ERROR', ['phone']],
    ['POST', '/scan', [], 422, 'VALIDATION_ERROR', ['']],
    ['POST', '/scan', 'not json', 422, 'VALIDATION_ERROR', ['']],
    ['PUT', `/numbers/${CUSTOMER}`, { exists: 'yes' }, 422, 'VALIDATION_ERROR', ['exists']],
    ['PUT', '/numbers/12', { exists: true }, 422, 'VALIDATION_ERROR', ['phone']],
    [
      'POST',
      `/numbers/${CUSTOMER}/messages`,
      { to: 'x', extra: 1 },
      422,
      'VALIDATION_ERROR',
      ['to', 'extra'],
    ],
    ['POST', `/numbers/${CUSTOMER}/messages`, { to: SHOP }, 422, 'VALIDATION_ERROR', ['text']],
    [
      'POST',
      `/numbers/${CUSTOMER}/messages`,
      { to: SHOP, kind: 'edit', text: 'x' },
      422,
      'VALIDATION_ERROR',
      ['about'],
    ],
    ['POST', `/numbers/${CUSTOMER}/messages`, { to: SHOP, text: 'hi' }, 409, 'NO_COMPANION', []],
    ['GET', `/numbers/${CUSTOMER}/inbox?limit=0`, undefined, 422, 'VALIDATION_ERROR', ['limit']],
    ['PUT', '/groups/family', { name: 'x', participants: [] }, 422, 'VALIDATION_ERROR', ['id']],
    [
      'PUT',
      '/groups/1@g.us',
      { name: 'x', participants: ['me'] },
      422,
      'VALIDATION_ERROR',
      ['participants.0'],
    ],
    [
      'PUT',
      '/groups/1@g.us',
      { name: 'x', participants: [], admins: [SHOP] },
      422,
      'VALIDATION_ERROR',
      ['admins'],
    ],
    ['GET', '/groups/1@g.us', undefined, 404, 'NOT_FOUND', []],
    ['POST', `/sessions/${SHOP}/fault`, { kind: 'flood' }, 422, 'VALIDATION_ERROR', ['kind']],
    ['POST', `/sessions/${SHOP}/fault`, { kind: 'drop' }, 409, 'NOT_CONNECTED', []],
    ['POST', `/sessions/${SHOP}/fault`, { kind: 'logged_out' }, 409, 'NOT_LINKED', []],
    [
      'POST',
      `/sessions/${SHOP}/ack-errors`,
      { code: 1, count: -1 },
      422,
      'VALIDATION_ERROR',
      ['code', 'count'],
    ],
    ['GET', '/nowhere', undefined, 404, 'NOT_FOUND', []],
    ['GET', '//', undefined, 404, 'NOT_FOUND', []],
    ['DELETE', '/root-key', undefined, 405, 'METHOD_NOT_ALLOWED', []],
    ['GET', '/scan', undefined, 405, 'METHOD_NOT_ALLOWED', []],
  ];
  for (const [method, path, body, status, code, fields] of cases) {
    const response = await fetch(`${fixture.simulator.url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Answer;
    const title = `${method} ${path} ${JSON.stringify(body)}`;
    assert.equal(answer.success, false, title);
    assert.equal(response.status, status, title);
    assert.equal(answer.error?.code, code, title);
    assert.deepEqual(answer.error?.fields?.map(({ field }) => field) ?? [], fields, title);
  }
});

test('phones are taken with or without +, and lists come in pages', async (context) => {
  const fixture = await Fixture.start(context);
  const client = await fixture.link(SHOP.slice(1));
  for (const text of ['one', 'two', 'three']) {
    const sentMessage = await client.socket.sendMessage('33622222222@s.whatsapp.net', { text });
    await client.ack(sentMessage?.key.id ?? '');
  }
  const first = await fixture.control.inbox(CUSTOMER.slice(1), { limit: 2 });
  assert.deepEqual(
    first.items.map(({ text }) => text),
    ['one', 'two'],
  );
  const secondPage = await fixture.control.inbox(CUSTOMER, { limit: 2, cursor: first.nextCursor ?? '' });
  assert.deepEqual(
    secondPage.items.map(({ text }) => text),
    ['three'],
  );
  assert.equal(secondPage.nextCursor, null);
});

test('the linked clients come in pages too', async (context) => {
  const fixture = await Fixture.start(context);
  const ids: string[] = [];
  for (const phone of ['+33611111113', '+33611111111', '+33611111112']) await fixture.link(phone);
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { items, nextCursor } = await fixture.control.sessions({
      limit: 2,
      ...(cursor === '' ? {} : { cursor }),
    });
    ids.push(...items.map(({ id }) => id));
    cursor = nextCursor;
  }
  assert.deepEqual(ids, ['33611111111:1', '33611111112:1', '33611111113:1']);
});

test('a call is answered once a kill can no longer undo it', async (context) => {
  const fixture = await Fixture.start(context);
  const file = await open(join(fixture.dataDir, 'network.jsonl'));
  const prototype = Object.getPrototypeOf(file);
  await file.close();
  const { appendFile } = prototype;
  const { promise: held, resolve: release } = deferred();
  const writing = new Promise<void>((caught) => {
    mock.method(prototype, 'appendFile', async function append(this: unknown, ...lines: unknown[]) {
      caught();
      await held;
      return appendFile.apply(this, lines);
    });
  });
  context.after(() => mock.restoreAll());
  let answered = false;
  const call = fixture.control.setNumber(CUSTOMER, false).then(() => {
    answered = true;
  });
  await writing;
  // One that came later, and has nothing to wait for, is answered meanwhile.
  await fetch(`${fixture.simulator.url}/nowhere`);
  assert.equal(answered, false);
  release();
  await call;
});

test('a simulator closes at once, with any connections at its ports', {
  timeout: 20_000,
}, async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const { hosts } = await client.socket.refreshMediaConn();
  const hold = async (port: number, words: string, answer: string): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    socket.write(words);
    await once(socket, answer);
    return socket;
  };
  const upgrade = 'GET /other HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
  const holders = [
    await hold(fixture.simulator.port, upgrade, 'data'),
    // Half a greeting, so that TLS never begins.
    await hold(Number(hosts[0]?.hostname.split(':')[1]), '\u0016', 'connect'),
  ];
  await client.end();
  await fixture.simulator.close();
  for (const holder of holders) holder.destroy();
});

test('an address of a network card is refused, and so is a taken port', async (context) => {
  const fixture = await Fixture.start(context);
  const { port } = fixture.simulator;
  const dataDir = `${fixture.dataDir}/other`;
  await assert.rejects(startSimulator({ port: 0, dataDir, host: '192.0.2.1' }), /not on 192\.0\.2\.1/);
  await assert.rejects(startSimulator({ port, dataDir }), new RegExp(`port ${port} on 127.0.0.1 is taken`));
});

test('a WebSocket at another path is refused, and one that speaks no protocol is cut', async (context) => {
  const fixture = await Fixture.start(context);
  const refusedSocket = new WebSocket(fixture.simulator.chatUrl.replace('/ws/chat', '/ws/other'));
  assert.match(
    await new Promise((resolve) => refusedSocket.once('error', ({ message }) => resolve(message))),
    /404/,
  );
  for (const bytes of ['hello there', 'WA\u0006\u0003\u0000\u0000\u0004oops']) {
    const babbler = new WebSocket(fixture.simulator.chatUrl);
    await once(babbler, 'open');
    babbler.send(Buffer.from(bytes, 'latin1'));
    await once(babbler, 'close');
  }
});
