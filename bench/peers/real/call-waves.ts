import { setTimeout as delay } from 'node:timers/promises';
import { customer } from '../../benches/live-shops.ts';
import type { Figures } from '../../harness/bench.ts';
import { cpuMs } from '../../harness/process-usage.ts';
import { inParallel } from '../../load/in-parallel.ts';
import type { Wave } from './driver.ts';

/** How long this service shows composing before such a text. */
const COMPOSING_MS = { least: 1_200, most: 2_000 };

/** The calls of a side whose caller makes each step of a message. `phone` is the index of a linked phone. */
export interface Steps {
  readonly sessions: number;
  /** The id of the process whose CPU time counts. */
  readonly server: () => number;
  lookUp(phone: number, to: string): Promise<unknown>;
  compose(phone: number, to: string): Promise<unknown>;
  /** Rejects if the text was not handed to the socket. */
  send(phone: number, to: string, text: string): Promise<void>;
}

/**
 * Returns the ways of sending: with this service's steps (look-up, composing, the wait, the message), and as fast as the
 * side can.
 */
export function callWaves(side: Steps): Wave[] {
  let serial = 0;
  const alone = (phone: number, to: string): Promise<void> =>
    side.send(phone, to, `Your order ${serial++} waits at the counter.`);
  const alike = async (phone: number, to: string): Promise<void> => {
    await side.lookUp(phone, to);
    await side.compose(phone, to);
    await delay(COMPOSING_MS.least + Math.random() * (COMPOSING_MS.most - COMPOSING_MS.least));
    await alone(phone, to);
  };
  const first = (offset: number) => (phone: number, turn: number, each: number) =>
    customer(phone + turn + offset * each);
  const known = (phone: number, turn: number) => customer(phone + (turn % 8));
  const ways: readonly (readonly [name: string, times: number, way: Omit<Way, 'each'>])[] = [
    [
      'made to do the same: look-up, composing, wait, send',
      1,
      { atOnce: 1, act: alike, recipient: first(0) },
    ],
    ['send alone, first contacts, 1 call a session', 1, { atOnce: 1, act: alone, recipient: first(1) }],
    ['send alone, first contacts, 4 calls a session', 1, { atOnce: 4, act: alone, recipient: first(2) }],
    ['send alone, known chats, 1 call a session', 4, { atOnce: 1, act: alone, recipient: known }],
    ['send alone, known chats, 4 calls a session', 4, { atOnce: 4, act: alone, recipient: known }],
  ];
  return ways.map(([name, times, way]) => ({
    name,
    send: (each) => calls(side, { ...way, each: times * each }),
  }));
}

/** One way of calling: so many calls of a session under way at a time, each to the recipient of its turn. */
interface Way {
  readonly each: number;
  readonly atOnce: number;
  readonly act: (phone: number, to: string) => Promise<void>;
  readonly recipient: (phone: number, turn: number, each: number) => string;
}

/** `each` messages of every session. */
async function calls({ sessions, server }: Steps, way: Way): Promise<Figures> {
  const { each, atOnce, act, recipient } = way;
  const before = { cpuMs: cpuMs(server()), atMs: performance.now() };
  const tookMs: number[] = [];
  const work = async (phone: number): Promise<void> => {
    const turns = Array.from({ length: each }, (_, turn) => turn);
    await inParallel(turns, atOnce, async (turn) => {
      const startedMs = performance.now();
      await act(phone, recipient(phone, turn, each));
      tookMs.push(performance.now() - startedMs);
    });
  };
  await Promise.all(Array.from({ length: sessions }, (_, phone) => work(phone)));
  const count = each * sessions;
  tookMs.sort((one, other) => one - other);
  return {
    perSecond: (count * 1_000) / (performance.now() - before.atMs),
    cpuMsPerMessage: (cpuMs(server()) - before.cpuMs) / count,
    callP50Ms: tookMs[Math.floor(count * 0.5)] ?? Number.NaN,
    callP99Ms: tookMs[Math.floor(count * 0.99)] ?? Number.NaN,
  };
}
