/** The longest time for one attachment of an inbound message. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { AddressGuard } from '../../../actors/outbound/address-guard.ts';
import type { FileBounds } from '../../../actors/outbound/file-download.ts';
import { nameLookup } from '../../../actors/outbound/name-lookup.ts';
import type { ReplyStream } from '../../../http/contract/exchange.ts';
import type { OwnerReply } from '../../../http/owner/owner-reply.ts';
import { type AllowedFile, FileReplies } from '../../../http/tenant-api/edge/file-replies.ts';
import { createCertificate } from '../../../simulator/media/media-certificate.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { listening } from '../../testbed/listening.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';

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
  waitUntilDrained = async (): Promise<void> => undefined;
  end = (): void => assert.fail('the reply ended as if it were whole');
  drop = (): void => void this.emit('dropped');
  bufferedBytes = (): number => 0;
  onClose = (): void => undefined;
}

const PIECE = Buffer.alloc(1_024);
/** The longest time for one file, and less than the longest time between two pieces. */
const [LONGEST_MS, BETWEEN_MS] = [600_000, 9_000];

/** Asks for the file of the server. */
function ask(replies: FileReplies, isHead: boolean): Promise<OwnerReply> {
  const hosts = [`127.0.0.1:${(server.address() as AddressInfo).port}`];
  const sealed = { directPath: '/file', key: '', encryptedSha256: '', purpose: 'video' } as const;
  const allowed = {
    reply: { headers: '' },
    keyId: 'key',
    file: { hosts, file: sealed, type: 'video/mp4', fileName: null, sha256: null },
  } as unknown as AllowedFile;
  return replies.reply(allowed, { tenantId: 'tenant', isHead, connection: undefined });
}

test('four HEADs are being answered at a time for an account, and none reads the file', async () => {
  const replies = new FileReplies({ bounds, clock: new FakeClock(), log: new QuietLog() });
  const responses: ServerResponse[] = [];
  const replying: Promise<OwnerReply>[] = [];
  for (let count = 0; count < 4; count += 1) {
    const asked = once(arrived, 'response');
    replying.push(ask(replies, true));
    responses.push(...(await asked));
  }
  assert.equal(replies.count, 4);
  assert.equal((await ask(replies, true)).reply.status, 503);
  const closed = responses.map((response) => once(response, 'close'));
  for (const response of responses) response.write(PIECE);
  const statuses = (await Promise.all(replying)).map(({ reply }) => reply.status);
  assert.deepEqual([statuses, replies.count], [[200, 200, 200, 200], 0]);
  await Promise.all(closed);
});

test('an attachment that keeps coming is broken off after ten minutes, and its slot is free', async () => {
  const clock = new FakeClock();
  const replies = new FileReplies({ bounds, clock, log: new QuietLog() });
  const replying = ask(replies, false);
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
