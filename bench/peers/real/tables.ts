import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Figures } from '../../harness/bench.ts';
import { customer } from '../../harness/live-shops.ts';
import { percentile } from '../../harness/percentile.ts';
import { cpuMs, loadAverage, residentMiB } from '../../harness/process-usage.ts';
import { HttpConnection } from '../../load/http-connection.ts';
import type { Calls, Gateway, Text } from './driver.ts';

/** After all sessions of a new process are back, before it sends. */
export const NEW_PROCESS_MS = 3_000;
/** Receipts of the last messages come within this time. */
const RECEIPTS_MS = 1_000;
/** How often a caller asks again with the same key, and how often at most. */
const AGAIN_MS = 250;
const MOST_TRIES = 1_200;
const CONNECTIONS = 64;

/** Waits until the simulator sees all phones connected by sessions that began after that time (Unix milliseconds). */
async function allBackSince({ network, phones }: Gateway, sinceMs: number): Promise<void> {
  for (;;) {
    const { items } = await network.sessions({ limit: 10_000 });
    const back = items.filter(({ since }) => Date.parse(since ?? '') >= sinceMs);
    if (back.length >= phones.length) return;
    await delay(50);
  }
}

/** From the signal until all sessions are back, started again at once. */
export async function restart(gateway: Gateway, signal: 'SIGKILL' | 'SIGTERM'): Promise<Figures> {
  const sinceMs = Date.now();
  const startedMs = performance.now();
  await gateway.restart(signal);
  await allBackSince(gateway, sinceMs);
  return { [`allBackAfter${signal}Ms`]: performance.now() - startedMs, loadAverage: loadAverage() };
}

/**
 * Measures memory and CPU of a server that was restarted and has all its sessions back, after it settled. Until then an
 * engine collects the garbage of the start.
 */
export async function atRest(gateway: Gateway, settleSeconds: number, seconds: number): Promise<Figures> {
  await delay(settleSeconds * 1_000);
  const { server, redis } = gateway.watch;
  const before = cpuMs(server);
  await delay(seconds * 1_000);
  return {
    pairAllMs: gateway.pairAllMs,
    restCpuPercent: (cpuMs(server) - before) / (seconds * 10),
    residentMiB: residentMiB(server),
    proportionalMiB: proportionalMiB(server),
    ...(redis === undefined ? {} : { redisMiB: residentMiB(redis) }),
    loadAverage: loadAverage(),
  };
}

/**
 * One way of sending, with the cost of the server, its Redis and the simulator. The time of the server includes what
 * arrives within a second after the last message: acknowledgements and receipts.
 */
export async function sent(gateway: Gateway, wave: Gateway['waves'][number], each: number): Promise<Figures> {
  if (wave.isFirstOfProcess) {
    await restart(gateway, 'SIGKILL');
    await delay(NEW_PROCESS_MS);
  }
  await wave.prepare?.();
  const { server, redis, simulator } = gateway.watch;
  const look = () => ({
    atMs: performance.now(),
    server: cpuMs(server),
    redis: redis === undefined ? 0 : cpuMs(redis),
    simulator: cpuMs(simulator),
  });
  const before = look();
  const { messages, perSecond, others } = await wave.send(each);
  const last = look();
  await delay(RECEIPTS_MS);
  const after = look();
  return {
    perSecond,
    cpuMsPerMessage: (after.server - before.server) / messages,
    ...(redis === undefined ? {} : { redisCpuMsPerMessage: (after.redis - before.redis) / messages }),
    ...others,
    simulatorBusyPercent: ((last.simulator - before.simulator) * 100) / (last.atMs - before.atMs),
    residentMiB: residentMiB(server),
    loadAverage: loadAverage(),
  };
}

/** The cheapest call on 64 connections, each with the next as soon as the last was answered. */
export async function cheapestGet(gateway: Gateway, calls: Calls, seconds: number): Promise<Figures> {
  const { port, bytes } = calls.cheapestGet();
  const { server } = gateway.watch;
  const tookMs: number[] = [];
  const endMs = performance.now() + seconds * 1_000;
  const before = cpuMs(server);
  const work = async (): Promise<void> => {
    let lose: (error: Error) => void = () => undefined;
    const connection = await HttpConnection.open(port, (error) => lose(error));
    await new Promise<void>((resolve, reject) => {
      lose = reject;
      const next = (): void => {
        const askedMs = performance.now();
        connection.send(bytes, (status) => {
          if (status !== 200) return reject(new Error(`the cheapest call was answered ${status}`));
          tookMs.push(performance.now() - askedMs);
          if (performance.now() < endMs) next();
          else resolve();
        });
      };
      next();
    });
    connection.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  const sortedMs = Float64Array.from(tookMs).sort();
  return {
    perSecond: tookMs.length / seconds,
    p50Ms: percentile(sortedMs, 0.5),
    p99Ms: percentile(sortedMs, 0.99),
    cpuUsPerRequest: ((cpuMs(server) - before) * 1_000) / tookMs.length,
    loadAverage: loadAverage(),
  };
}

/** SIGKILL at random moments under callers that ask again with the same key until they are answered. */
export async function kills(
  gateway: Gateway,
  calls: Calls,
  options: { readonly kills: number; readonly each: number },
): Promise<Figures> {
  const messages: Text[] = [];
  const backMs: number[] = [];
  const outcome = { retries: 0, gaveUp: 0 };
  for (let kill = 0; kill < options.kills; kill += 1) {
    const callers = gateway.phones.map(async (_, phone) => {
      await delay(Math.random() * 500);
      for (let turn = 0; turn < options.each; turn += 1) {
        const number = kill * options.each + turn;
        const message = {
          phone,
          to: customer(phone + number),
          text: `Order ${kill}.${turn} of ${phone}`,
          key: `k-${phone}-${number}`,
        };
        messages.push(message);
        await untilTaken(calls, message, outcome);
        await delay(500);
      }
    });
    await delay(200 + Math.random() * 500 * options.each);
    const sinceMs = Date.now();
    const startedMs = performance.now();
    await gateway.restart('SIGKILL');
    await allBackSince(gateway, sinceMs);
    backMs.push(performance.now() - startedMs);
    await Promise.all(callers);
  }
  const saidFailed = await calls.settled();
  await delay(3_000);
  return {
    messages: messages.length,
    ...(await onHandsets(gateway, messages)),
    saidFailed,
    ...outcome,
    worstBackMs: Math.max(...backMs),
    loadAverage: loadAverage(),
  };
}

async function untilTaken(
  calls: Calls,
  message: Text,
  outcome: { retries: number; gaveUp: number },
): Promise<void> {
  for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
    if (await calls.send(message).catch(() => false)) return;
    outcome.retries += 1;
    await delay(AGAIN_MS);
  }
  outcome.gaveUp += 1;
}

async function onHandsets(gateway: Gateway, messages: readonly Text[]): Promise<Figures> {
  const copies = new Map<string, number>();
  for (const to of new Set(messages.map((message) => message.to))) {
    const { items } = await gateway.network.inbox(to, { limit: 10_000 });
    for (const { text } of items) copies.set(`${to} ${text}`, (copies.get(`${to} ${text}`) ?? 0) + 1);
  }
  const counts = messages.map(({ to, text }) => copies.get(`${to} ${text}`) ?? 0);
  return {
    once: counts.filter((count) => count === 1).length,
    doubled: counts.filter((count) => count > 1).length,
    onNoHandset: counts.filter((count) => count === 0).length,
  };
}

/** Memory of a process with its share of what others use as well, in MiB. */
function proportionalMiB(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1_024;
}
