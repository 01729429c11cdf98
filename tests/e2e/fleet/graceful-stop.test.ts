/**
 * SIGTERM under full traffic. Callers are on kept connections, some without a pause and some now and then. A session is
 * sending a message. Every written request is answered, and the message is settled or put back. The log holds a
 * complete line for every answer. The process exits with code 0 within 10 s.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { test } from 'node:test';
import { listening } from '../../testbed/listening.ts';
import { pause, until } from '../../testbed/waiting.ts';
import { type Account, makeAccount } from '../stack/account.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop, sendText, untilStatus } from '../stack/shop-steps.ts';

const CALLERS = 40;
/**
 * How long a node that stops waits at least for what comes on connections that are kept open
 * (`service/compose-service.ts`).
 */
const KEPT_CONNECTIONS_MS = 500;
const RECIPIENTS = ['+33622220001', '+33622220002', '+33622220003', '+33622220004'];

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** The callers' account. Its limits are not those of the shop that is sending. */
let account: Account;
// At `debug` each answered request has its line.
const stack = sharedStack({ logLevel: 'debug' }, async () => {
  account = await makeAccount(stack.admin, 'Callers');
  await connectShop(stack, stack.shopId, '+33611110001');
});

/** A caller's results until the service no longer listened. */
interface Calls {
  answered: number;
  /** Callers that have had an answer, so that their connections stand. */
  readonly connected: Set<number>;
  /** Requests that were written, and whose connection ended without an answer. */
  cut: string[];
}

test('SIGTERM cuts no request, abandons no message that is being sent and loses no line of the log', async (context) => {
  const calls: Calls = { answered: 0, connected: new Set(), cut: [] };
  const callers = Array.from({ length: CALLERS }, (_, index) => call(calls, index));
  await until('the callers are at work', async () => {
    return calls.connected.size === CALLERS && calls.answered > CALLERS * 5;
  });
  const sends = await Promise.all(
    RECIPIENTS.map((to) => sendText(stack, stack.shopId, { to, text: `For ${to}` })),
  );
  const ids = sends.map(({ data }) => String(data.id));
  await until(
    'a session is at work on the queue',
    async () => {
      const records = await Promise.all(ids.map((id) => stack.api.get(`/messages/${id}`)));
      return records.some(({ data }) => data.status !== 'queued');
    },
    { everyMs: 1 },
  );
  const startedMs = performance.now();
  const exitCode = await stack.end('SIGTERM');
  const tookMs = performance.now() - startedMs;
  await Promise.all(callers);
  context.diagnostic(
    `${calls.answered} answers, ${calls.cut.length} cut, gone after ${Math.round(tookMs)} ms`,
  );
  assert.deepEqual(calls.cut, []);
  assert.equal(exitCode, 0);
  assert.ok(tookMs < 10_000, `it took ${Math.round(tookMs)} ms`);
  const log = stack.serviceLog();
  assert.ok(log.endsWith('\n'), 'the last line is not whole');
  const lines = log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { msg: string; route?: string });
  const told = lines.filter(({ route }) => route === '/me' || route === '/shops/{idOrName}/messages').length;
  assert.ok(told >= calls.answered, `${calls.answered} answers, ${told} lines`);
  await stack.start();
  for (const [index, to] of RECIPIENTS.entries()) {
    await untilStatus(stack, String(ids[index]), 'sent');
    const { items } = await stack.network.inbox(to);
    assert.equal(items.length, 1, `${to} has ${items.length}`);
  }
});

test('a message whose attachment is still being fetched is put back, and goes out after the restart', async (context) => {
  const to = '+33622220005';
  const waitingResponses: ServerResponse[] = [];
  let isSlow = true;
  const files = createServer((_request, reply) => {
    if (isSlow) waitingResponses.push(reply);
    else reply.writeHead(200, { 'content-type': 'image/png' }).end(PIXEL);
  });
  const port = await listening(files);
  context.after(() => {
    for (const reply of waitingResponses) reply.destroy();
    files.close();
  });
  const mediaUrl = `http://127.0.0.1:${port}/slow.png`;
  const body = { channel: 'msgapp', to, text: 'Look', mediaUrl };
  const { data } = await stack.api.post(`/shops/${stack.shopId}/messages`, body);
  await until('the attachment is asked for', async () => waitingResponses.length > 0);
  const startedMs = performance.now();
  assert.equal(await stack.end('SIGTERM'), 0);
  context.diagnostic(`gone after ${Math.round(performance.now() - startedMs)} ms`);
  isSlow = false;
  await stack.start();
  await untilStatus(stack, String(data.id), 'sent');
  assert.equal((await stack.network.inbox(to)).items.length, 1);
});

/** Asks on one connection, which it keeps, until the service no longer listens. */
async function call(calls: Calls, index: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let answeredMs = performance.now();
  for (let count = 0; ; count += 1) {
    const idleMs = performance.now() - answeredMs;
    try {
      await ask(agent, index, count);
      answeredMs = performance.now();
      calls.answered += 1;
      calls.connected.add(index);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // On a busy machine a pause may last longer than a node that stops waits for the next request.
      if (code !== 'ECONNREFUSED' && idleMs < KEPT_CONNECTIONS_MS) calls.cut.push(`${code} ${message}`);
      break;
    }
    // Some at once, others now and then: they leave their connections idle.
    await pause(index * 10);
  }
  agent.destroy();
}

/** Reads or sends, by turns; whatever the answer is, it is one. */
async function ask(agent: Agent, index: number, count: number): Promise<void> {
  const isSend = (index + count) % 2 === 0;
  const path = isSend ? `/shops/${account.shopId}/messages` : '/me';
  const askedRequest = request(`${stack.apiUrl()}${path}`, {
    agent,
    method: isSend ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
  });
  const to = `+336${String(index * 100_000 + count).padStart(8, '0')}`;
  askedRequest.end(isSend ? JSON.stringify({ channel: 'msgapp', to, text: `${index} ${count}` }) : undefined);
  const [reply] = (await once(askedRequest, 'response')) as [IncomingMessage];
  reply.resume();
  await once(reply, 'end');
}
