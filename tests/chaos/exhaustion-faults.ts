import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { descriptorLimit } from '../testbed/descriptor-limit.ts';
import { pause, until } from '../testbed/waiting.ts';
import { allConnected } from './chaos-shops.ts';
import { type Fault, homeOfFirst, type Run, within } from './scenario.ts';
import type { SmallDisk } from './small-disk.ts';
import { openSince, QUICK_MS, sendRefusedMs, untilReady } from './store-faults.ts';

/** The longest time until all is well after there is space again. */
const RECOVERY_MS = 15_000;

/** Fills the disk under Redis. With `everysec` Redis refuses writes, and accepts them again when there is space. */
export function diskFull(disk: SmallDisk, forMs: number): Fault {
  const words = 'Redis cannot persist to its disk';
  return {
    name: `the disk of Redis is full (${forMs / 1_000} s)`,
    async inflict(run) {
      const { fleet, shops } = run;
      const redis = new Redis(fleet.servers[0]?.url ?? '');
      const before = await openSince(fleet, shops);
      let slowestMs = 0;
      try {
        await redis.config('SET', 'appendfsync', 'everysec');
        disk.fill();
        await until('Redis refuses writes', async () =>
          redis.set('probe', '1').then(
            () => false,
            () => true,
          ),
        );
        const endMs = performance.now() + forMs;
        while (performance.now() < endMs) {
          slowestMs = Math.max(slowestMs, await sendRefusedMs(run));
          await pause(100);
        }
        await until('the log says why', async () => fleet.nodes.some((node) => node.log().includes(words)));
        await until('the alert begins', async () => (await diskHeld(run)).every((held) => held === 0));
      } finally {
        disk.free();
        redis.disconnect();
      }
      const recoveredMs = await afterFullDisk(run, { slowestMs, before });
      await until('the alert ends', async () => (await diskHeld(run)).every((held) => held === 1));
      return { recoveredMs, note: `time from its end; the log says "${words}"` };
    },
  };
}

/** Fills the disk under a Redis with `always`, which ends then. It is started again when there is space. */
export function diskEndsRedis(disk: SmallDisk, forMs: number): Fault {
  return {
    name: `the disk of Redis is full, and Redis ends (${forMs / 1_000} s)`,
    async inflict(run) {
      const { fleet, shops } = run;
      const [server] = fleet.servers;
      assert.ok(server);
      const before = await openSince(fleet, shops);
      let slowestMs = 0;
      try {
        disk.fill();
        await until('Redis ends', async () => !runs(server.pid));
        const endMs = performance.now() + forMs;
        while (performance.now() < endMs) {
          slowestMs = Math.max(slowestMs, await sendRefusedMs(run));
          await pause(100);
        }
      } finally {
        disk.free();
        await server.restart();
      }
      const recoveredMs = await afterFullDisk(run, { slowestMs, before });
      return { recoveredMs, note: `time from the return of Redis; slowest 503 ${Math.round(slowestMs)} ms` };
    },
  };
}

/** Waits until everything goes on with space on the disk, and checks how fast. Returns the milliseconds of it. */
async function afterFullDisk(
  run: Run,
  {
    slowestMs,
    before,
  }: { readonly slowestMs: number; readonly before: Awaited<ReturnType<typeof openSince>> },
): Promise<number> {
  const { fleet, shops } = run;
  const backMs = performance.now();
  await untilReady(fleet);
  await allConnected(shops);
  const recoveredMs = performance.now() - backMs;
  within(run, QUICK_MS, 'a 503 while the disk was full', slowestMs);
  within(run, RECOVERY_MS, 'going on with room on the disk', recoveredMs);
  assert.deepEqual(await openSince(fleet, shops), before, 'sockets were opened again');
  return recoveredMs;
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Returns the metric of each node for the alert on the disk of Redis: 1 while Redis can write to it. */
function diskHeld({ fleet }: Run): Promise<number[]> {
  const name = 'msgapi_redis_assumption_held{assumption="disk"}';
  return Promise.all(fleet.nodes.map((node) => node.metric(name)));
}

/** The free descriptors of a node during the fault. Its connections and sessions need more. */
const LEFT = 4;
const CONNECTIONS = 30;
/** An alert begins above this share (deploy/monitoring/alert-rules.yaml, DescriptorsNearlyUsed). */
const ALERT_SHARE = 0.8;

/**
 * A node has hardly any descriptor left, and refuses callers, who go to other nodes. Meanwhile it loses its line to
 * Redis and the sessions of all shops. When there are descriptors, it has all back.
 */
export function noDescriptors(forMs: number): Fault {
  const words = 'descriptors are nearly used up';
  return {
    name: `no descriptors left (${forMs / 1_000} s)`,
    async inflict(run) {
      const { node } = await homeOfFirst(run);
      const { hostname, port } = new URL(node.apiUrl());
      const limit = await descriptorLimit(node.pid());
      const pid = node.pid();
      const sockets: Socket[] = [];
      let most: number;
      try {
        most = await limit.leave(LEFT);
        await until('the log says why', async () => node.log().includes(words));
        const used = await node.metric('process_open_fds');
        const share = used / (await node.metric('process_max_fds'));
        assert.ok(share > ALERT_SHARE, `the alert is silent: ${used} of ${most} descriptors`);
        for (let count = 0; count < CONNECTIONS; count += 1)
          sockets.push(connect(Number(port), hostname).on('error', () => undefined));
        await until('none is left', async () => readdirSync(`/proc/${pid}/fd`).length >= most);
        await until('new calls are refused', () => refuses(node.apiUrl()));
        node.link?.cut();
        node.link?.mend();
        for (const { phone } of run.shops) await run.fleet.network.fault(phone, 'drop');
        await pause(forMs);
      } finally {
        await limit.close();
        for (const socket of sockets) socket.destroy();
      }
      const backMs = performance.now();
      await untilReady(run.fleet);
      await until('new calls are accepted', async () => !(await refuses(node.apiUrl())));
      await run.fleet.spread();
      await allConnected(run.shops);
      const recoveredMs = performance.now() - backMs;
      within(run, RECOVERY_MS, 'going on with descriptors', recoveredMs);
      assert.ok(node.runs() && node.pid() === pid, 'the node is the same process');
      return { recoveredMs, note: `time from its end; the log says "${words}"` };
    },
  };
}

/** True if a listener refuses new connections. */
function refuses(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(false));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'));
  }).finally(() => socket.destroy());
}
