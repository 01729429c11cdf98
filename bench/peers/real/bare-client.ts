import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { simulatorControl } from '../../../tests/testbed/simulator-control.ts';
import { OWN_BUILD } from '../../harness/build.ts';
import { ownerPhone } from '../../harness/live-shops.ts';
import { startSimulatorProcess } from '../../harness/live-side.ts';
import { type Program, portOf, startProgram } from '../../harness/program.ts';
import { inParallel } from '../../load/in-parallel.ts';
import type { Line, Step } from '../../sides/bare-client.ts';
import { callWaves } from './call-waves.ts';
import type { Driver, Gateway, Place } from './driver.ts';

const LINKED_AT_ONCE = 8;

/** The chat client of this service alone, in one thread: what any gateway on Node pays at least. */
export const bareClient: Driver = {
  name: 'bare client, no gateway',
  // It answers no stranger's calls, and a message lost at a kill is lost.
  tables: ['rest', 'restart', 'send'],
  start,
};

/** The program with its phones, and how it is asked for a step. */
interface Running {
  readonly program: Program;
  ask(kind: Step['kind'], phone: string, to?: string, text?: string): Promise<void>;
}

async function start(place: Place, sessions: number): Promise<Gateway> {
  const directory = mkdtempSync(join(place.directory, 'bare-'));
  const kept = join(directory, 'kept');
  mkdirSync(kept);
  const simulator = await startSimulatorProcess(directory);
  const network = simulatorControl(simulator.url);
  const args = [
    join(OWN_BUILD.directory, 'bench/sides/bare-client.js'),
    `--directory=${kept}`,
    `--chat-url=${simulator.url.replace('http', 'ws')}/ws/chat`,
    `--root-key=${await network.rootKey()}`,
  ];
  const begin = (): Promise<Running> =>
    startBare({ args, directory, scan: (qr, phone) => network.scan(qr, phone) });
  let running = await begin();
  const phones = Array.from({ length: sessions }, (_, index) => ownerPhone(index));
  const startedMs = performance.now();
  await inParallel(phones, LINKED_AT_ONCE, (phone) => running.ask('link', phone));
  const pairAllMs = performance.now() - startedMs;
  const server = (): number => running.program.process.pid;
  const phoneAt = (index: number): string => phones[index] ?? '';
  return {
    network,
    phones,
    get watch() {
      return { server: server(), simulator: simulator.process.pid };
    },
    pairAllMs,
    waves: callWaves({
      sessions,
      lookUp: (phone, to) => running.ask('look-up', phoneAt(phone), to),
      compose: (phone, to) => running.ask('composing', phoneAt(phone), to),
      send: (phone, to, text) => running.ask('send', phoneAt(phone), to, text),
    }),
    async restart(signal) {
      await running.ask('keep', '');
      running.program.process.signal(signal);
      await running.program.process.ended;
      running = await begin();
    },
    async stop() {
      for (const process of [running.program.process, simulator.process]) {
        process.signal('SIGKILL');
        await process.ended;
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Starts the program, which logs in all phones that it kept, and scans the codes of the others. */
async function startBare(options: {
  readonly args: readonly string[];
  readonly directory: string;
  readonly scan: (qr: string, phone: string) => Promise<unknown>;
}): Promise<Running> {
  const { args, directory, scan } = options;
  const name = 'bare-client';
  const program = await startProgram({ name, core: undefined, args, environment: {}, directory });
  const waiting = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  const socket = connect(portOf(program.api), '127.0.0.1').setNoDelay();
  await once(socket, 'connect');
  const lose = (): void => {
    for (const { reject } of waiting.values())
      reject(new Error(`the bare client ended: ${readFileSync(join(directory, `${name}.log`), 'utf8')}`));
  };
  socket.on('error', lose).on('close', lose);
  createInterface({ input: socket }).on('line', (text) => {
    const line = JSON.parse(text) as Line;
    if ('qr' in line) return void scan(line.qr, line.phone).catch(lose);
    const { resolve, reject } = waiting.get(line.id) ?? {};
    waiting.delete(line.id);
    if (line.failed === undefined) resolve?.();
    else reject?.(new Error(`the bare client: ${line.failed}`));
  });
  let id = 0;
  return {
    program,
    ask: (kind, phone, to = '', text = '') =>
      new Promise((resolve, reject) => {
        id += 1;
        waiting.set(id, { resolve, reject });
        socket.write(`${JSON.stringify({ id, kind, phone, to, text } satisfies Step)}\n`);
      }),
  };
}
