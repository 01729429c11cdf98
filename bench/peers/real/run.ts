/** Runs the comparison: see README.md beside this file. `node --import tsx bench/peers/real/run.ts` */

import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Run } from '../../harness/bench.ts';
import { compile } from '../../harness/build.ts';
import { loadAverage } from '../../harness/process-usage.ts';
import { tableOf } from '../../harness/table.ts';
import { baileysApi } from './baileys-api.ts';
import { bareClient } from './bare-client.ts';
import { type Driver, type Gateway, type Place, TABLES, type Table } from './driver.ts';
import { atRest, cheapestGet, kills, restart, sent } from './tables.ts';
import { thisService } from './this-service.ts';

const { values } = parseArgs({
  options: {
    peer: { type: 'string' },
    directory: { type: 'string' },
    sides: { type: 'string', default: 'this-service,baileys-api,bare-client' },
    tables: { type: 'string', default: TABLES.join() },
    sessions: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '3' },
    settle: { type: 'string', default: '90' },
    rest: { type: 'string', default: '30' },
    messages: { type: 'string', default: '12' },
    kills: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '5' },
  },
});
const TITLES: Readonly<Record<Table, string>> = {
  rest: `${values.sessions} sessions at rest, after a SIGKILL`,
  restart: 'one server ended and started again at once, until all sessions are back',
  send: `${values.messages} messages of each session, one after the other way of sending`,
  get: 'the cheapest call that asks for a key, 64 connections',
  kills: `${values.kills} SIGKILLs under callers that ask again`,
};
const SIDES: Readonly<Record<string, Driver>> = {
  'this-service': thisService,
  'baileys-api': baileysApi,
  'bare-client': bareClient,
};
const drivers = values.sides.split(',').map((name) => {
  const driver = SIDES[name];
  if (driver === undefined) throw new Error(`--sides= takes ${Object.keys(SIDES)}, not ${name}`);
  return driver;
});
const wanted = values.tables.split(',');
const sessions = Number(values.sessions);
const directory = values.directory ?? mkdtempSync(join(tmpdir(), 'real-peers-'));
const progress = (text: string): void => void process.stderr.write(`${text}\n`);
const tables = new Map<Table, Run[]>();

const add = (table: Table, run: Run): void => {
  tables.set(table, [...(tables.get(table) ?? []), run]);
  progress(`${table}, ${run.side}, round ${run.round}: ${JSON.stringify(run.figures)}`);
};

try {
  // Each side needs the simulator.
  progress('compiling');
  compile();
  const ready: Driver[] = [];
  for (const driver of drivers) {
    const reason = await driver.prepare?.(placeOf(driver));
    if (reason === undefined) ready.push(driver);
    else progress(reason);
  }
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    for (const driver of ready) await measure(driver, round);
  }
  for (const [name, runs] of tables) {
    console.log(
      tableOf({ name, title: TITLES[name], isMain: false, targets: [], run: async () => runs }, runs),
    );
  }
  console.log(
    `${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}, load average ${loadAverage()}`,
  );
} finally {
  if (values.directory === undefined) rmSync(directory, { recursive: true, force: true });
}

function placeOf(driver: Driver): Place {
  const source = driver === baileysApi ? values.peer : undefined;
  return { directory, source, progress };
}

/** All tables that are wanted, of one gateway. Kills have a start of their own: they use up what a shop may send. */
async function measure(driver: Driver, round: number): Promise<void> {
  const { name, tables: possible = TABLES } = driver;
  const isWanted = (table: Table): boolean => wanted.includes(table) && possible.includes(table);
  if ((['rest', 'restart', 'send', 'get'] as const).some(isWanted)) {
    await on(driver, async (gateway) => {
      const back = await restart(gateway, 'SIGKILL');
      if (isWanted('rest')) {
        const figures = await atRest(gateway, Number(values.settle), Number(values.rest));
        add('rest', { side: name, round, figures });
      }
      if (isWanted('restart')) {
        const figures = { ...back, ...(await restart(gateway, 'SIGTERM')) };
        add('restart', { side: name, round, figures });
      }
      if (isWanted('get') && gateway.calls !== undefined) {
        const figures = await cheapestGet(gateway, gateway.calls, Number(values.seconds));
        add('get', { side: name, round, figures });
      }
      if (!isWanted('send')) return;
      for (const wave of gateway.waves) {
        const figures = await sent(gateway, wave, Number(values.messages));
        add('send', { side: `${name}: ${wave.name}`, round, figures });
      }
    });
  }
  if (!isWanted('kills')) return;
  await on(driver, async (gateway) => {
    if (gateway.calls === undefined) return;
    const figures = await kills(gateway, gateway.calls, { kills: Number(values.kills), each: 4 });
    add('kills', { side: name, round, figures });
  });
}

async function on(driver: Driver, act: (gateway: Gateway) => Promise<void>): Promise<void> {
  progress(`${driver.name}: linking ${sessions} phones`);
  const gateway = await driver.start(placeOf(driver), sessions);
  try {
    await act(gateway);
  } finally {
    await gateway.stop();
  }
}
