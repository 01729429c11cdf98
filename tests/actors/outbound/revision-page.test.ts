/** The network's page that names the version of its client, read within bounds. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { test } from 'node:test';
import { AddressGuard } from '../../../actors/outbound/address-guard.ts';
import { nameLookup } from '../../../actors/outbound/name-lookup.ts';
import { askRevision } from '../../../actors/outbound/revision-page.ts';
import { listening } from '../../testbed/listening.ts';

async function asked(page: RequestListener, allowLoopback = true): Promise<number> {
  const server = createServer(page);
  const port = await listening(server);
  const guard = new AddressGuard({ allowLoopback, deniedRanges: [] });
  const bounds = { guard, resolve: nameLookup([]), signal: AbortSignal.timeout(20_000) };
  try {
    return await askRevision(new URL(`http://127.0.0.1:${port}/sw.js`), bounds);
  } finally {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}

test('the revision is read from the script, with or without escaped quotes', async () => {
  const escaped = String.raw`JSON.parse("{\"client_revision\":1035194821,\"x\":1}")`;
  assert.equal(await asked((_, answer) => answer.end(escaped)), 1_035_194_821);
  assert.equal(await asked((_, answer) => answer.end('{"client_revision": 1035194822}')), 1_035_194_822);
});

test('the page is asked as a browser asks it', async () => {
  const page: RequestListener = ({ headers }, answer) => {
    assert.equal(headers['sec-fetch-site'], 'none');
    answer.end('"client_revision":1035194821,');
  };
  assert.equal(await asked(page), 1_035_194_821);
});

test('a page that is refused, moved, too large, without a revision or on a private address gives no version', async () => {
  await assert.rejects(
    asked((_, answer) => answer.writeHead(400).end()),
    /answered 400/,
  );
  await assert.rejects(
    asked((_, answer) => answer.writeHead(302, { location: 'http://127.0.0.1/' }).end()),
    /answered 302/,
  );
  await assert.rejects(
    asked((_, answer) => answer.end('x'.repeat(5 * 1024 * 1024))),
    /too large/,
  );
  await assert.rejects(
    asked((_, answer) => answer.end('"client_revision":12')),
    /names no revision/,
  );
  await assert.rejects(
    asked((_, answer) => answer.end('"client_revision":1035194821'), false),
    { code: 'FORBIDDEN_ADDRESS' },
  );
});
