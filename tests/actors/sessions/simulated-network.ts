import { randomBytes } from 'node:crypto';
import diagnostics from 'node:diagnostics_channel';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { BaileysHost } from '../../../actors/sessions/main-thread/baileys-host.ts';
import type { BaileysHostOptions } from '../../../actors/sessions/main-thread/baileys-host-options.ts';
import type { SessionHost } from '../../../actors/sessions/session-host.ts';
import type { SessionTiming } from '../../../actors/sessions/session-timing.ts';
import { systemClock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { SimulatorEvent } from '../../../simulator/network.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../../simulator/simulator.ts';
import { seededRandom } from '../../testbed/seeded-random.ts';
import { type SimulatorControl, simulatorControl } from '../../testbed/simulator-control.ts';
import { until } from '../../testbed/waiting.ts';
import { type ConformanceNetwork, SHOP_PHONE } from './conformance-network.ts';
import { HOST_SETTINGS } from './host-settings.ts';
import { MemoryStore } from './memory-store.ts';
import { releasingActor } from './releasing-actor.ts';
import { SessionLog } from './session-log.ts';

/** The real client on the simulator, with all parts that a test may inspect. */
export interface SimulatedNetwork extends ConformanceNetwork {
  readonly simulator: Simulator;
  readonly control: SimulatorControl;
  readonly store: MemoryStore;
  /** The host's log: fields and message, as text. */
  readonly logged: string[];
  /** Stops the host, and starts another one on the same store and network, as after a restart. */
  another(change?: Partial<BaileysHostOptions>): Promise<SimulatedNetwork>;
}

/** Short waits, so that tests take less time. */
const QUICK: Partial<SessionTiming> = {
  firstSendAfterMs: 20,
  composeFloorMs: 5,
  composePerCharacterMs: 0,
  groupsFloorMs: 0,
};

const STATUSES = { first: 'FIRST_WARNING', second: 'SECOND_WARNING', capped: 'CAPPED' } as const;

const secondsUntil = (atMs: number): number => Math.round((atMs - Date.now()) / 1_000);

const DROPS = {
  transient: 'drop',
  replaced: 'replaced',
  logged_out: 'logged_out',
  restart_required: 'restart',
} as const;

/** Starts a simulator and a host on it. Resolves when a worker is ready. */
export async function startSimulated(
  change: Partial<BaileysHostOptions> = {},
  simulation: Partial<SimulatorOptions> = {},
): Promise<SimulatedNetwork> {
  const dataDir = mkdtempSync(join(tmpdir(), 'session-simulator-'));
  const events: SimulatorEvent[] = [];
  const simulator = await startSimulator({
    port: 0,
    dataDir,
    ...simulation,
    log(event) {
      events.push(event);
      simulation.log?.(event);
    },
  });
  const control = simulatorControl(simulator.url);
  const store = new MemoryStore();
  const credentialsKeys = [randomBytes(32)];
  const end = async (): Promise<void> => {
    await simulator.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  const last = { stop: async (): Promise<void> => undefined };
  return connect({ simulator, events, control, store, last, end, change: { credentialsKeys, ...change } });
}

async function connect(parts: {
  simulator: Simulator;
  /** The simulator's log. */
  events: readonly SimulatorEvent[];
  control: SimulatorControl;
  store: MemoryStore;
  /** The last host. */
  last: { stop(): Promise<void> };
  end: () => Promise<void>;
  change: Partial<BaileysHostOptions>;
}): Promise<SimulatedNetwork> {
  const { simulator, events, control, store, last, end, change } = parts;
  const log = new SessionLog();
  const logged: string[] = [];
  const threads: Worker[] = [];
  const seen = (message: unknown): void => {
    threads.push((message as { worker: Worker }).worker);
  };
  diagnostics.subscribe('worker_threads', seen);
  const actor = releasingActor(log.listener, { host: () => host, store });
  const host: SessionHost = new BaileysHost({
    store,
    clock: systemClock,
    random: seededRandom(7),
    log: recordingLogger(logged),
    listener: actor.listener,
    credentialsKeys: [],
    socketUrl: simulator.chatUrl,
    noiseRootKey: Buffer.from(simulator.noiseRootKey, 'base64'),
    mediaCa: await control.mediaCa(),
    ...HOST_SETTINGS,
    ...change,
    timing: { ...QUICK, ...change.timing },
  });
  await until('a worker is ready', async () => host.isAvailable());
  last.stop = async () => {
    diagnostics.unsubscribe('worker_threads', seen);
    await host.stop();
  };
  return {
    host,
    log,
    actor,
    simulator,
    control,
    store,
    logged,
    async scan(_shop, qr, phone) {
      await control.scan(qr, phone);
    },
    async typeCode(_shop, code, phone) {
      await control.typeCode(code, phone);
    },
    async refuseCode(_shop, phone, code) {
      await control.queryErrors(phone, { xmlns: 'md', code });
    },
    async write(_shop, from, text) {
      return (await control.write(from, { to: SHOP_PHONE, text })).delivered;
    },
    async markedRead(_shop, writer) {
      const read = events.filter((event) => event.event === 'messages read' && `+${event.writer}` === writer);
      return read.flatMap(({ ids }) => ids as string[]);
    },
    async received(_shop, recipient) {
      return (await control.inbox(recipient)).items.map(({ text }) => text ?? '');
    },
    async remove(number) {
      await control.setNumber(number, false);
    },
    async addForm(number, form) {
      await control.setNumber(number, true, [form]);
    },
    async meets(_shop, problem) {
      if (problem === 'no_ack') await control.fault(SHOP_PHONE, 'unconfirmed', 1);
      else await control.ackErrors(SHOP_PHONE, Number(problem.ackError));
    },
    async drop(_shop, kind) {
      await control.fault(SHOP_PHONE, DROPS[kind as keyof typeof DROPS]);
    },
    async setGroup(_shop, { id, name, members, admin }) {
      const others = Array.from({ length: members - 1 }, (_, index) => `+3363333333${index}`);
      await control.setGroup(id, {
        name,
        participants: [SHOP_PHONE, ...others],
        admins: admin ? [SHOP_PHONE] : [],
      });
    },
    async restrict(_shop, { isActive, kind, endsAtMs }) {
      const named = endsAtMs === null ? { namesEnd: false } : { endsInSeconds: secondsUntil(endsAtMs) };
      await control.restrict(SHOP_PHONE, { active: isActive, kind, ...named });
    },
    async limitNewChats(_shop, { quota, used, warning, endsAtMs }) {
      const status = warning === null ? 'NONE' : STATUSES[warning];
      const endsInSeconds = secondsUntil(endsAtMs ?? 0);
      await control.limitNewChats(SHOP_PHONE, { quota, used, status, endsInSeconds });
    },
    async loseWorker() {
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
    async another(more = {}) {
      await last.stop();
      return connect({ ...parts, change: { ...change, ...more } });
    },
    async stop() {
      await last.stop();
      await end();
    },
  };
}

function recordingLogger(logged: string[]): Logger {
  const write = (fields: object, message: string): void => {
    logged.push(`${JSON.stringify(fields)} ${message}`);
  };
  return { debug: write, info: write, warn: write, error: write };
}
