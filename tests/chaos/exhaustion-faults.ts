import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { until } from '../e2e/waiting.ts';
import { untilConnected } from './chaos-shops.ts';
import { type Fault, homeOfFirst, pause, type Run, within } from './scenario.ts';
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
      const backMs = performance.now();
      await untilReady(fleet);
      await untilConnected(shops);
      const recoveredMs = performance.now() - backMs;
      within(run, QUICK_MS, 'a 503 while the disk was full', slowestMs);
      within(run, RECOVERY_MS, 'going on with room on the disk', recoveredMs);
      assert.deepEqual(await openSince(fleet, shops), before, 'sockets were opened again');
      await until('the alert ends', async () => (await diskHeld(run)).every((held) => held === 1));
      return { recoveredMs, note: `time from its end; the log says "${words}"` };
    },
  };
}

/** What each node tells the alert on a disk of Redis: 1 while Redis can write to it. */
function diskHeld({ fleet }: Run): Promise<number[]> {
  const name = 'msgapi_redis_assumption_held{assumption="disk"}';
  return Promise.all(fleet.nodes.map((node) => node.metric(name)));
}

/** More than a node has descriptors left while the fault lasts. */
const CONNECTIONS = 60;
const LEFT = 20;

/** A node has no descriptors left for callers, who go to other nodes. When there are some again, it answers. */
export function noDescriptors(forMs: number): Fault {
  return {
    name: `no descriptors left (${forMs / 1_000} s)`,
    async inflict(run) {
      const { node } = await homeOfFirst(run);
      const { hostname, port } = new URL(node.apiUrl());
      const before = limitOf(node.pid());
      const used = readdirSync(`/proc/${node.pid()}/fd`).length;
      const sockets: Socket[] = [];
      try {
        setLimit(node.pid(), String(used + LEFT));
        for (let count = 0; count < CONNECTIONS; count += 1)
          sockets.push(connect(Number(port), hostname).on('error', () => undefined));
        await pause(forMs);
      } finally {
        setLimit(node.pid(), before);
        for (const socket of sockets) socket.destroy();
      }
      const backMs = performance.now();
      await until('the node answers', async () => {
        const probe = await fetch(`${node.adminUrl()}/readyz`).catch(() => undefined);
        return probe?.status === 200;
      });
      await run.fleet.spread();
      await untilConnected(run.shops);
      const recoveredMs = performance.now() - backMs;
      within(run, RECOVERY_MS, 'going on with descriptors', recoveredMs);
      assert.ok(node.runs(), 'the node is the same process');
      return { recoveredMs, note: `${used} in use, ${LEFT} left, ${CONNECTIONS} asked for` };
    },
  };
}

/** The soft and hard limit of descriptors of a process, as `prlimit` takes them. */
function limitOf(pid: number): string {
  const words = ['--pid', String(pid), '--nofile', '--noheadings', '--output', 'SOFT,HARD'];
  return execFileSync('prlimit', words, { encoding: 'utf8' }).trim().split(/\s+/).join(':');
}

function setLimit(pid: number, limit: string): void {
  const value = limit.includes(':') ? limit : `${limit}:`;
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${value}`]);
}
