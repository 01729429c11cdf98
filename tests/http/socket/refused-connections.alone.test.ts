/** A listener that refuses new connections for a time, and the service that does so to keep its last descriptors. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sparedDescriptors } from '../../../service/spared-descriptors.ts';
import { descriptorLimit } from '../../testbed/descriptor-limit.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';
import { bareServer } from './bare-server.ts';
import { openRaw } from './raw-connection.ts';

const HEAD = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
const isWhole = (received: string): boolean => received.endsWith('here');

test('while a listener refuses connections, waiting ones end, present ones are answered, and it listens later', async () => {
  const answer = () => ({ status: 200, contentType: 'text/plain', headers: '', body: 'here' });
  const server = await bareServer({ answer });
  const url = `http://127.0.0.1:${server.port}`;
  const presentConnection = await openRaw(url);
  const limit = await descriptorLimit(process.pid);
  const openedConnections = [presentConnection];
  try {
    presentConnection.write(HEAD);
    await presentConnection.until(isWhole);
    // For the caller's end of the connection, and none for this end.
    await limit.leave(1);
    const inLine = await openRaw(url);
    openedConnections.push(inLine);
    server.accept(false);
    server.accept(false);
    assert.equal(await inLine.closed(), '');
    await assert.rejects(openRaw(url), { code: 'ECONNREFUSED' });
    presentConnection.write(HEAD);
    await presentConnection.until((received) => received.split('here').length === 3);
    await limit.restore();
    server.accept(true);
    server.accept(true);
    const laterConnection = await openRaw(url);
    openedConnections.push(laterConnection);
    laterConnection.write(HEAD);
    await laterConnection.until(isWhole);
  } finally {
    await limit.close();
    for (const connection of openedConnections) connection.destroy();
    await server.close(0);
  }
  server.accept(true);
  await assert.rejects(openRaw(url), { code: 'ECONNREFUSED' });
});

test('new calls are refused above 97 % of the descriptors, and accepted below 90 %', () => {
  const log = new QuietLog();
  const accepted: boolean[] = [];
  const spared = sparedDescriptors({ http: { accept: (isOpen) => void accepted.push(isOpen) }, log });
  const isSparing = [0.96, 0.97, 0.98, 0.91, 0.9, 0.89, 0.97].map((share) => {
    spared.onSeen(share);
    return spared.isSparing;
  });
  assert.deepEqual(isSparing, [false, false, true, true, true, false, false]);
  assert.deepEqual(
    accepted,
    isSparing.map((spares) => !spares),
  );
  assert.deepEqual(log.errors, ['few file descriptors are left: new calls are refused']);
  assert.deepEqual(log.infos, ['enough file descriptors are free: new calls are accepted']);
});
