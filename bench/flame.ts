import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sendingFleet } from './benches/compared.ts';
import { identityRequests, load, sendRequests } from './benches/loads.ts';
import { build } from './harness/build.ts';
import { byRoom, type CpuProfile, flameGraph, hottest } from './harness/flame-graph.ts';
import { startSide } from './harness/side.ts';

// npm run bench:flame [-- me|send]: where the service's CPU time goes under load, as a flame graph and a list.
const work = process.argv[2] ?? 'send';
if (work !== 'me' && work !== 'send') {
  console.error(`me or send can be looked at, not ${work}`);
  process.exit(2);
}
const SECONDS = 5;
const directory = mkdtempSync(join(tmpdir(), 'flame-'));
try {
  build();
  const profiles = join(directory, 'profiles');
  mkdirSync(profiles);
  const fleet =
    work === 'send'
      ? sendingFleet(SECONDS + 3, true)
      : { tenants: 10, shopsPerTenant: 1, customers: 100, connected: false, held: false };
  const side = await startSide('service', {
    directory,
    fleet,
    durability: 'everysec',
    nodeFlags: ['--cpu-prof', `--cpu-prof-dir=${profiles}`],
  });
  const fromUs = Number(process.hrtime.bigint() / 1_000n);
  const requests = work === 'send' ? sendRequests(side) : identityRequests(side);
  const { perSecond } = await load(side, requests, { seconds: SECONDS });
  const toUs = Number(process.hrtime.bigint() / 1_000n);
  await side.stop();
  const texts = readdirSync(profiles).map((name) => readFileSync(join(profiles, name), 'utf8'));
  // Worker threads write one each; the main thread's is by far the largest.
  const largest = texts.reduce((one, other) => (other.length > one.length ? other : one), '');
  const profile = JSON.parse(largest) as CpuProfile;
  const window = { fromUs, toUs };
  const list = (shares: readonly { readonly name: string; readonly percent: number }[]): void => {
    for (const { name, percent } of shares) console.log(`${percent.toFixed(1).padStart(6)} %  ${name}`);
  };
  console.log(`${Math.round(perSecond)} requests a second while profiled; self time under load, by room:`);
  list(byRoom(profile, window).slice(0, 12));
  console.log('and by function:');
  list(hottest(profile, window).slice(0, 30));
  const folder = resolve(import.meta.dirname, 'results');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `flame-${work}.svg`);
  writeFileSync(path, flameGraph(profile, window));
  console.log(`Flame graph: ${path}`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
