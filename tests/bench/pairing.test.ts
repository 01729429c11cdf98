import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { pairAll } from '../../bench/harness/pairing.ts';
import { ControlFailure } from '../../simulator/control/control-failure.ts';

const silentFailure = new ControlFailure(504, 'CLIENT_SILENT', 'The client did not answer the pairing.');
const shop = { id: 'shop-1', key: 'key', phone: '+33610000000' };

/** A side whose network gives these answers to scans; the channel is connected once a scan succeeded. */
async function startSide(failures: readonly Error[]) {
  const scanned: string[] = [];
  let isConnected = false;
  const server = createServer((_, response) => {
    const data = isConnected ? { status: 'connected' } : { status: 'qr_waiting', qr: `qr ${scanned.length}` };
    response.end(JSON.stringify({ success: true, data }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const scan = (qr: string): Promise<never> => {
    const failure = failures[scanned.push(qr) - 1];
    if (failure !== undefined) return Promise.reject(failure);
    isConnected = true;
    return Promise.resolve({} as never);
  };
  return { network: { scan }, apiPort: (server.address() as AddressInfo).port, scanned, server };
}

test('a shop whose client is silent gets its present code scanned again', async (context) => {
  const side = await startSide([silentFailure, silentFailure]);
  context.after(() => side.server.close());
  const lines: string[] = [];
  await pairAll(side, [shop], { atOnce: 1, progress: (line) => void lines.push(line) });
  assert.deepEqual(side.scanned, ['qr 0', 'qr 1', 'qr 2']);
  assert.match(lines.join(), /^paired 1 of 1 after \d+ s, now [\d.]+ a second, 2 scans repeated$/);
});

test('a client that stays silent ends the pairing, with the shop and the number paired', async (context) => {
  const side = await startSide(Array<Error>(9).fill(silentFailure));
  context.after(() => side.server.close());
  const paired = pairAll(side, [shop], { atOnce: 1, progress: () => undefined });
  await assert.rejects(paired, { message: 'shop shop-1 was not paired, 0 of 1 were', cause: silentFailure });
  assert.equal(side.scanned.length, 6);
});
