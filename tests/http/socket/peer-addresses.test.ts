/** The caller's address: each request comes with that of its own connection, whichever others are open. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { PeerAddresses, type PeerConnection } from '../../../http/socket/peer-addresses.ts';
import { propertyRuns } from '../../testbed/property-runs.ts';
import { until } from '../../testbed/waiting.ts';
import { bareServer } from './bare-server.ts';
import { openRaw } from './raw-connection.ts';

const PEERS = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];

/** A connection that counts how often it is asked. */
function connectionFrom(address: string): PeerConnection & { asked: number } {
  return {
    asked: 0,
    getRemoteAddress() {
      this.asked += 1;
      return new Uint8Array(address === '' ? [] : address.split('.').map(Number)).buffer;
    },
  };
}

describe('the address of a connection', () => {
  test('is its own, for any order in which connections of several callers open and close', (context) => {
    const step = fc.record({ peer: fc.constantFrom(...PEERS, ''), ends: fc.nat() });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), step)), (steps) => {
        const peers = new PeerAddresses();
        const open: { readonly address: string; readonly connection: PeerConnection }[] = [];
        for (const [opens, { peer, ends }] of steps) {
          if (opens) {
            const connection = connectionFrom(peer);
            peers.onOpened(connection);
            open.push({ address: peer, connection });
          } else if (open.length > 0) {
            open.splice(ends % open.length, 1);
            peers.onClosed();
          }
          for (const { address, connection } of open) assert.equal(peers.addressOf(connection), address);
        }
      }),
      propertyRuns(context, 100),
    );
  });

  test('is asked for once a connection behind one proxy, and again after callers of several were gone', () => {
    const peers = new PeerAddresses();
    const first = connectionFrom('10.0.0.1');
    peers.onOpened(first);
    for (let request = 0; request < 3; request += 1) assert.equal(peers.addressOf(first), '10.0.0.1');
    assert.equal(first.asked, 1);
    peers.onOpened(connectionFrom('10.0.0.2'));
    peers.addressOf(first);
    assert.equal(first.asked, 2, 'two callers');
    peers.onClosed();
    peers.onClosed();
    const later = connectionFrom('10.0.0.3');
    peers.onOpened(later);
    assert.equal(peers.addressOf(later), '10.0.0.3');
    assert.equal(later.asked, 1, 'alone again');
  });

  test('is stored once as a connection opens, and removed as it ends', async (context) => {
    const opened = context.mock.method(PeerAddresses.prototype, 'onOpened');
    const closed = context.mock.method(PeerAddresses.prototype, 'onClosed');
    const server = await bareServer({
      answer: () => ({ status: 200, contentType: 'text/plain', headers: '', body: 'ok' }),
    });
    const connection = await openRaw(`http://127.0.0.1:${server.port}`);
    connection.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
    await connection.until((received) => received.endsWith('ok'));
    assert.deepEqual([opened.mock.callCount(), closed.mock.callCount()], [1, 0]);
    connection.destroy();
    await until('the server notes the end', async () => closed.mock.callCount() === 1);
    assert.equal(opened.mock.callCount(), 1);
    await server.close(0);
  });

  test('reaches the edge over real connections of two callers, old and new', async () => {
    const server = await bareServer({
      answer: ({ ip }) => ({ status: 200, contentType: 'text/plain', headers: '', body: `from ${ip};` }),
    });
    const url = `http://127.0.0.1:${server.port}`;
    const told = async (
      connection: Awaited<ReturnType<typeof openRaw>>,
      times: number,
    ): Promise<string[]> => {
      connection.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
      const text = await connection.until((received) => received.split('from ').length > times);
      return [...text.matchAll(/from (.*?);/g)].map(([, address = '']) => address);
    };
    const first = await openRaw(url);
    assert.deepEqual(await told(first, 1), ['127.0.0.1']);
    const secondConnection = await openRaw(url, '127.0.0.2');
    assert.deepEqual(await told(secondConnection, 1), ['127.0.0.2']);
    assert.deepEqual(await told(first, 2), ['127.0.0.1', '127.0.0.1']);
    first.destroy();
    assert.deepEqual(await told(secondConnection, 2), ['127.0.0.2', '127.0.0.2']);
    secondConnection.destroy();
    await server.close(0);
  });
});
