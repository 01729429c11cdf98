import { setTimeout as delay } from 'node:timers/promises';
import { composingMs, DEFAULT_SESSION_TIMING } from '../../../actors/sessions/session-timing.ts';
import { customer, textOf } from '../../harness/live-shops.ts';
import { MIDDLE } from '../../harness/through-the-wire.ts';
import { inParallel } from '../../load/in-parallel.ts';
import type { Sent, Wave } from './driver.ts';

/** People that each phone writes to repeatedly, in the ways for known chats. */
const KNOWN = 8;

/** The calls of a side whose caller makes each step of a message. `phone` is the index of a linked phone. */
export interface Steps {
  readonly sessions: number;
  lookUp(phone: number, to: string): Promise<unknown>;
  compose(phone: number, to: string): Promise<unknown>;
  /** Rejects if the text was not handed to the socket. */
  send(phone: number, to: string, text: string): Promise<void>;
}

/**
 * Returns the ways of sending: with this service's steps (look-up, composing, the wait, the message), and as fast as the
 * side can. A number is looked up once for all phones, as this service does.
 */
export function callWaves(side: Steps): Wave[] {
  let serial = 0;
  const lookedUp = new Set<string>();
  const alone = (phone: number, to: string, text = textOf(serial++)): Promise<void> =>
    side.send(phone, to, text);
  const alike = async (phone: number, to: string): Promise<void> => {
    const text = textOf(serial++);
    if (!lookedUp.has(to)) {
      lookedUp.add(to);
      await side.lookUp(phone, to);
    }
    await side.compose(phone, to);
    await delay(composingMs(DEFAULT_SESSION_TIMING, text.length, Math.random()));
    await alone(phone, to, text);
  };
  const first = (offset: number) => (phone: number, turn: number, each: number) =>
    customer(phone + turn + offset * each);
  // The people that the present process wrote to.
  const known = (phone: number, turn: number, each: number) =>
    first(1)(phone, turn % Math.min(KNOWN, each), each);
  return [
    wave('made to do the same: look-up, composing, wait, send', 1, alike, first(0)),
    {
      ...wave('send alone, first contacts, 1 call a session', 1, alone, first(1)),
      isFirstOfProcess: true,
    },
    wave('send alone, first contacts, 4 calls a session', 4, alone, first(2)),
    wave('send alone, known chats, 1 call a session', 1, alone, known),
    wave('send alone, known chats, 4 calls a session', 4, alone, known),
  ];

  function wave(name: string, atOnce: number, act: Way['act'], recipient: Way['recipient']): Wave {
    return { name, send: (each) => calls(side.sessions, { each, atOnce, act, recipient }) };
  }
}

/** One way of calling: how many calls of a session are under way at a time, and to whom each goes. */
interface Way {
  readonly each: number;
  readonly atOnce: number;
  readonly act: (phone: number, to: string) => Promise<void>;
  readonly recipient: (phone: number, turn: number, each: number) => string;
}

/** `each` messages of every session. */
async function calls(sessions: number, send: Way): Promise<Sent> {
  const { each, atOnce, act, recipient } = send;
  const tookMs: number[] = [];
  const endedMs: number[] = [];
  const work = async (phone: number): Promise<void> => {
    const turns = Array.from({ length: each }, (_, turn) => turn);
    await inParallel(turns, atOnce, async (turn) => {
      const startedMs = performance.now();
      await act(phone, recipient(phone, turn, each));
      endedMs.push(performance.now());
      tookMs.push(performance.now() - startedMs);
    });
  };
  await Promise.all(Array.from({ length: sessions }, (_, phone) => work(phone)));
  const messages = each * sessions;
  const placeOf = (share: number): number => Math.floor((messages - 1) * share);
  const valueAt = (sorted: readonly number[], share: number): number => sorted[placeOf(share)] ?? Number.NaN;
  const middleMs = valueAt(endedMs, MIDDLE.to) - valueAt(endedMs, MIDDLE.from);
  tookMs.sort((one, other) => one - other);
  return {
    messages,
    perSecond: ((placeOf(MIDDLE.to) - placeOf(MIDDLE.from)) * 1_000) / middleMs,
    others: { callP50Ms: valueAt(tookMs, 0.5), callP99Ms: valueAt(tookMs, 0.99) },
  };
}
