import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sendingFleet } from './benches/compared.ts';
import { build } from './harness/build.ts';
import { byFolder, type CpuProfile, flameGraph, hottest } from './harness/flame-graph.ts';
import type { FleetSize } from './harness/fleet.ts';
import { identityRequests, load, sendRequests } from './harness/load.ts';
import type { RunningSide } from './harness/running-side.ts';
import { startSide } from './harness/side.ts';
import type { Requests } from './load/load-plan.ts';

const SECONDS = 5;
const ACCOUNT = { tenants: 10, shopsPerTenant: 1, customers: 100, isConnected: false, isPaused: false };

/** A subject of a flame graph: the accounts it needs, and its requests. */
interface Work {
  readonly fleet: FleetSize;
  readonly requests: (side: RunningSide) => Requests | Promise<Requests>;
}

const works: Readonly<Record<string, Work>> = {
  me: { fleet: ACCOUNT, requests: identityRequests },
  read: {
    fleet: sendingFleet(3, true),
    requests: async (side) => {
      const { messages } = await load(side, sendRequests(side), { seconds: 2, warmupMs: 500 });
      return { kind: 'read', messages };
    },
  },
  send: { fleet: sendingFleet(SECONDS + 3, true), requests: (side) => sendRequests(side) },
  shops: {
    fleet: { ...ACCOUNT, tenants: 60, shopsPerTenant: 500, isConnected: true },
    requests: ({ fleet: { shops } }) => ({ kind: 'channel', shops }),
  },
};

// npm run bench:flame [-- me|read|send|shops]: where the service's CPU time goes, as a flame graph and a list.
const name = process.argv[2] ?? 'send';
const work = works[name];
if (work === undefined) {
  console.error(`${Object.keys(works).join(', ')} can be profiled, not ${name}`);
  process.exit(2);
}
const directory = mkdtempSync(join(tmpdir(), 'flame-'));
try {
  build();
  const profiles = join(directory, 'profiles');
  mkdirSync(profiles);
  const side = await startSide('service', {
    directory,
    fleet: work.fleet,
    appendfsync: 'everysec',
    nodeFlags: ['--cpu-prof', `--cpu-prof-dir=${profiles}`],
  });
  const requests = await work.requests(side);
  const fromUs = Number(process.hrtime.bigint() / 1_000n);
  const { perSecond } = await load(side, requests, { seconds: SECONDS });
  const toUs = Number(process.hrtime.bigint() / 1_000n);
  await side.stop();
  const texts = readdirSync(profiles).map((file) => readFileSync(join(profiles, file), 'utf8'));
  // Worker threads write one each; the main thread's is by far the largest.
  const largest = texts.reduce((one, other) => (other.length > one.length ? other : one), '');
  const profile = JSON.parse(largest) as CpuProfile;
  const window = { fromUs, toUs };
  const list = (shares: readonly { readonly name: string; readonly percent: number }[]): void => {
    for (const share of shares) console.log(`${share.percent.toFixed(1).padStart(6)} %  ${share.name}`);
  };
  console.log(`${Math.round(perSecond)} requests a second while profiled; self time under load, by folder:`);
  list(byFolder(profile, window).slice(0, 12));
  console.log('and by function:');
  list(hottest(profile, window).slice(0, 30));
  const folder = resolve(import.meta.dirname, 'results');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `flame-${name}.svg`);
  writeFileSync(path, flameGraph(profile, window));
  console.log(`Flame graph: ${path}`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
