/** The directory for temporary files, where attachments lie while they are sent. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, watch } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { listening } from '../../testbed/listening.ts';
import { startServiceNode } from '../stack/service-node.ts';
import { startServiceStack } from '../stack/service-stack.ts';
import { connectShop, untilStatus } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110031';
const CUSTOMER = '+33622220031';

test('a service that cannot write there does not start, and names the reason', async () => {
  // The check comes before Redis, which does not listen there.
  const started = startServiceNode({
    NODE_ID: 'node-1',
    TMPDIR: '/dev/null',
    // tsx, which runs the service in tests, would keep what it compiled there.
    TSX_DISABLE_CACHE: '1',
    ADMIN_TOKEN: 'operators-only',
    CREDENTIALS_KEY: Buffer.alloc(32).toString('base64'),
    REDIS_URL: 'redis://127.0.0.1:1',
  });
  await assert.rejects(started, /could not start: no file can be written in \/dev\/null \(ENOTDIR\)/);
});

/** Sends a document from a server that answers so to its first caller; the stack's log once the message is sent. */
async function sentAtSecondTry(
  first: (answer: ServerResponse, directory: string) => void,
): Promise<{ readonly log: string; readonly asked: number }> {
  const directory = mkdtempSync(join(tmpdir(), 'attachments-'));
  let asked = 0;
  const media = createServer((_, answer) => {
    asked += 1;
    mkdirSync(directory, { recursive: true });
    answer.writeHead(200, { 'content-type': 'application/pdf' });
    if (asked === 1) first(answer, directory);
    else answer.end('%PDF-1.4 prices');
  });
  const port = await listening(media);
  const stack = await startServiceStack({ environment: { TMPDIR: directory } });
  try {
    await connectShop(stack, stack.shopId, SHOP_PHONE);
    const acceptedAnswer = await stack.api.post(`/shops/${stack.shopId}/messages`, {
      channel: 'msgapp',
      to: CUSTOMER,
      mediaUrl: `http://127.0.0.1:${port}/prices.pdf`,
      mediaType: 'document',
    });
    assert.equal(acceptedAnswer.status, 202);
    await untilStatus(stack, String(acceptedAnswer.data.id), 'sent');
    return { log: stack.serviceLog(), asked };
  } finally {
    media.close();
    await stack.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

test('a file that the client cannot write uses up one attempt of its message, and ends no session', async () => {
  const { log, asked } = await sentAtSecondTry((answer, directory) => {
    // Our file is open once it is there, and takes what comes; the client's is opened after the last byte.
    const seen = watch(directory, (_event, name) => {
      if (!name?.startsWith('attachment-')) return;
      seen.close();
      rmSync(directory, { recursive: true });
      answer.end('prices');
    });
    answer.write('%PDF-1.4 ');
  });
  assert.equal(asked, 2);
  assert.match(log, /an attachment could not be written/);
  assert.doesNotMatch(log, /a session worker was lost/);
});

test('a file that the service cannot write uses up one attempt of its message', async () => {
  const { log, asked } = await sentAtSecondTry((answer, directory) => {
    rmSync(directory, { recursive: true });
    answer.end('%PDF-1.4 prices');
  });
  assert.equal(asked, 2);
  assert.match(log, /an attachment could not be written/);
  assert.match(log, /no file can be written in/);
});
