/** Hostile traffic for a service: a plan as JSON on standard input, its result on standard output. */

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import type { HostilePlan, HostileResult } from './hostile-plan.ts';
import { requestBytes } from './request-bytes.ts';

const plan = JSON.parse(readFileSync(0, 'utf8')) as HostilePlan;
const sockets = new Set<Socket>();
let requests = 0;
let ended = 0;
let isOver = false;

/** Opens a connection that starts again when it is ended, until all is over. */
function keepOpen(trouble: (socket: Socket) => () => void): void {
  const socket = connect(plan.port, '127.0.0.1');
  sockets.add(socket);
  let stop = (): void => undefined;
  socket.on('connect', () => {
    stop = trouble(socket);
  });
  socket.on('error', () => undefined);
  socket.resume();
  socket.on('close', () => {
    stop();
    sockets.delete(socket);
    if (isOver) return;
    ended += 1;
    setTimeout(() => {
      if (!isOver) keepOpen(trouble);
    }, 100);
  });
}

function each(intervalMs: number, act: () => void): () => void {
  act();
  const timer = setInterval(act, intervalMs);
  return () => clearInterval(timer);
}

const HEAD = 'POST /api/v1/shops HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n';
const TINY_CHUNKS = `${HEAD}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(2_000)}0\r\n\r\n`;
const HEADERS = Array.from({ length: 60 }, (_, index) => `X-${index}: ${'a'.repeat(40)}\r\n`).join('');
const MADE_UP_KEY = `Authorization: Bearer tm_live_${'x'.repeat(43)}\r\n`;

/** Bodies in chunks of one byte, heads of sixty lines that do not end, and bodies at a byte a second, by turns. */
const STRANGERS: readonly ((socket: Socket) => () => void)[] = [
  (socket) =>
    each(1_000, () => {
      requests += 1;
      socket.write(TINY_CHUNKS);
    }),
  (socket) => {
    requests += 1;
    return each(1_000, () => void socket.write(HEAD + HEADERS));
  },
  (socket) => {
    requests += 1;
    socket.write(`${HEAD}${MADE_UP_KEY}Content-Length: 60000\r\n\r\n`);
    return each(1_000, () => void socket.write('x'));
  },
];

/** The most expensive calls: invalid bodies of 64 KiB, lists behind a filter, connections of shops. */
function dearCalls(key: string, shopId: string): readonly string[] {
  const nonsense = { contacts: Array.from({ length: 20_000 }, () => ({})) };
  const shop = `/api/v1/shops/${shopId}`;
  return [
    { method: 'POST', path: `${shop}/contacts/consented`, token: key, body: nonsense },
    { method: 'GET', path: `${shop}/messages?status=sent&limit=100`, token: key },
    { method: 'GET', path: `${shop}/contacts/consented?limit=100`, token: key },
    { method: 'POST', path: `${shop}/channels/msgapp/connect`, token: key, body: {} },
  ].map(requestBytes);
}

/** Opens a connection for each call of a second, so that none waits for the answer to another. */
function makeTrouble(): void {
  if (plan.kind === 'stranger') {
    for (let index = 0; index < plan.connections; index += 1)
      keepOpen(STRANGERS[index % STRANGERS.length] ?? (() => () => undefined));
    return;
  }
  const { key, shopIds, callsPerMinute } = plan;
  const connections = Math.floor(callsPerMinute / 60);
  for (let index = 0; index < connections; index += 1) {
    const calls = dearCalls(key, shopIds[index % shopIds.length] ?? '');
    keepOpen((socket) =>
      each(1_000, () => {
        socket.write(calls[index % calls.length] ?? '', 'latin1');
        requests += 1;
      }),
    );
  }
}

makeTrouble();
setTimeout(() => {
  isOver = true;
  for (const socket of sockets) socket.destroy();
  const result: HostileResult = { requests, ended };
  process.stdout.write(JSON.stringify(result));
}, plan.durationMs);
