/** The longest time for one attachment of an inbound message. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { AddressGuard } from '../../actors/outbound/address-guard.ts';
import { nameLookup } from '../../actors/outbound/name-lookup.ts';
import type { ReplyStream } from '../../http/contract/exchange.ts';
import { type AllowedFile, type FileBounds, FileReplies } from '../../http/tenant-api/file-replies.ts';
import { createCertificate } from '../../simulator/media/media-certificate.ts';
import { listening } from '../listening.ts';
import { FakeClock } from '../runtime/fake-clock.ts';
import { QuietLog } from '../runtime/quiet-log.ts';

const arrived = new EventEmitter<{ response: [ServerResponse] }>();
let server: Server;
let bounds: FileBounds;

before(async () => {
  const { ca, cert, key } = createCertificate();
  server = createServer({ cert, key }, (_request, response) => void arrived.emit('response', response));
  await listening(server);
  const guard = new AddressGuard({ allowLoopback: true, deniedRanges: [] });
  bounds = { guard, resolve: nameLookup([]), ca };
});
after(() => {
  server.closeAllConnections();
  server.close();
});

/** A reader that takes all that is written. Emits `piece` for each, and `dropped`. */
class Reader extends EventEmitter<{ piece: []; dropped: [] }> implements ReplyStream {
  write = (): boolean => this.emit('piece') || true;
  drained = async (): Promise<void> => undefined;
  end = (): void => assert.fail('the reply ended as if it were whole');
  drop = (): void => void this.emit('dropped');
  bufferedBytes = (): number => 0;
  onClose = (): void => undefined;
}

const PIECE = Buffer.alloc(1_024);
/** The longest time for one file, and less than the longest time between two pieces. */
const [LONGEST_MS, BETWEEN_MS] = [600_000, 9_000];

test('an attachment that keeps coming is broken off after ten minutes, and its slot is free', async () => {
  const clock = new FakeClock();
  const replies = new FileReplies({ bounds, clock, log: new QuietLog() });
  const hosts = [`127.0.0.1:${(server.address() as AddressInfo).port}`];
  const sealed = { directPath: '/file', key: '', encryptedSha256: '', purpose: 'video' } as const;
  const allowed = {
    reply: { headers: '' },
    keyId: 'key',
    file: { hosts, file: sealed, type: 'video/mp4', fileName: null, sha256: null },
  } as unknown as AllowedFile;
  const replying = replies.reply(allowed, { tenantId: 'tenant', isHead: false, connection: undefined });
  const [response] = await once(arrived, 'response');
  response.write(PIECE);
  const { reply } = await replying;
  assert.equal(reply.status, 200);
  const reader = new Reader();
  const first = once(reader, 'piece');
  reply.stream?.(reader);
  await first;
  let pastMs = 0;
  for (; pastMs + BETWEEN_MS < LONGEST_MS; pastMs += BETWEEN_MS) {
    await clock.advance(BETWEEN_MS);
    const next = once(reader, 'piece');
    response.write(PIECE);
    await next;
  }
  assert.equal(replies.count, 1);
  const dropped = once(reader, 'dropped');
  await clock.advance(LONGEST_MS - pastMs);
  await dropped;
  assert.equal(replies.count, 0);
});
