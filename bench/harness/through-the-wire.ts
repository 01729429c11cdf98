import { setTimeout as delay } from 'node:timers/promises';
import { composingMs, DEFAULT_SESSION_TIMING } from '../../actors/sessions/session-timing.ts';
import { callAll } from '../load/http-calls.ts';
import { inParallel } from '../load/in-parallel.ts';
import type { Figures } from './bench.ts';
import { type LiveCpu, liveCpu } from './live-cpu.ts';
import { orderText, recipientOf, textOf } from './live-shops.ts';
import type { LiveShop, LiveSide } from './live-side.ts';
import { loadAverage } from './process-usage.ts';

/**
 * Interval of progress checks, at full speed and at production's pace. Each makes the service read its metrics, which
 * costs it milliseconds.
 */
const LOOK_MS = 500;
const PACED_LOOK_MS = 2_000;
/** The part of all messages that counts: the ramp before and the tail after show little of the pace. */
export const MIDDLE = { from: 0.1, to: 0.8 };

/** Calls to the network under way at a time. */
const WRITING_AT_ONCE = 64;

/** How a side paces its shops. */
export interface Pace {
  readonly gapMs: { readonly least: number; readonly most: number };
  /** How long composing is shown on average, for any text. If undefined, as in production. */
  readonly composingMs: number | undefined;
}

/** Messages acknowledged and received, and CPU used, up to one moment. */
interface Progress extends LiveCpu {
  readonly atMs: number;
  readonly acknowledged: number;
  readonly received: number;
}

async function progressOf(side: LiveSide): Promise<Progress> {
  const metrics = await side.metrics();
  return {
    atMs: performance.now(),
    acknowledged: metrics.get('msgapi_session_outcomes_total{outcome="acknowledged",code=""}') ?? 0,
    received: metrics.get('msgapi_session_received_total') ?? 0,
    ...liveCpu(side),
  };
}

/** A wave of messages, `each` a shop. Two waves with the same recipients: the second finds known chats. */
export interface Wave {
  readonly shops: readonly LiveShop[];
  readonly each: number;
  readonly pace: Pace;
  /** A mark that makes its texts differ from those of other waves: no text is sent twice. */
  readonly word?: string;
  /** How many messages were sent before to numbers that this wave is not to write to; default 0. */
  readonly from?: number;
}

/**
 * Accepts all messages of a wave at once and waits until the network acknowledged each. Returns messages a second and
 * CPU time a message, for the whole wave and for its middle. The middle has the CPU time of each thread: `other` is
 * V8's collectors and compilers.
 */
export async function throughTheWire(side: LiveSide, wave: Wave): Promise<Figures> {
  const { shops, each, pace, word = '', from: before = 0 } = wave;
  const count = each * shops.length;
  const calls = Array.from({ length: count }, (_, turn) =>
    orderText(shops, before + turn, `${textOf(before + turn)}${word}`),
  );
  const first = await progressOf(side);
  const course = [first];
  // Few requests at a time: sessions are measured, not the HTTP front.
  const accepted = callAll(side.apiPort, calls, { connections: 4 });
  let acceptedMs = 0;
  accepted.then(
    () => {
      acceptedMs = performance.now() - first.atMs;
    },
    () => undefined,
  );
  const lookMs = pace.composingMs === undefined ? PACED_LOOK_MS : LOOK_MS;
  while ((course.at(-1) as Progress).acknowledged - first.acknowledged < count) {
    await Promise.race([delay(lookMs), accepted.then(() => delay(lookMs))]);
    course.push(await progressOf(side));
  }
  const last = course.at(-1) as Progress;
  const share = ({ acknowledged }: Progress): number => (acknowledged - first.acknowledged) / count;
  const from = course.findLast((progress) => share(progress) <= MIDDLE.from) ?? first;
  const to = course.find((progress) => share(progress) >= MIDDLE.to) ?? last;
  return {
    wirePerSecond: perSecond(first, last),
    middlePerSecond: perSecond(from, to),
    composingAllowsPerSecond: allowedPerSecond(shops.length, pace, textOf(count).length + word.length),
    acceptedMs,
    messageCpuMs: (last.server - first.server) / count,
    ...middleCpu(from, to),
    loadAverage: loadAverage(),
  };
}

/**
 * Lets all recipients of a wave, which began at message `from`, reply at once. Returns messages a second until the
 * service has them all, each stored before its receipt, and CPU time a message.
 */
export async function repliesOf(
  side: LiveSide,
  shops: readonly LiveShop[],
  each: number,
  from = 0,
): Promise<Figures> {
  const first = await progressOf(side);
  const turns = Array.from({ length: each * shops.length }, (_, turn) => from + turn);
  await inParallel(turns, WRITING_AT_ONCE, (turn) => {
    const { phone } = shops[turn % shops.length] as LiveShop;
    const text = `When does order ${turn} come?`;
    return side.network.write(recipientOf(shops, turn), { to: phone, text, wait: false });
  });
  const writtenMs = performance.now() - first.atMs;
  let last = await progressOf(side);
  while (last.received - first.received < each * shops.length) {
    await delay(LOOK_MS);
    last = await progressOf(side);
  }
  const count = each * shops.length;
  return {
    writtenMs,
    repliesPerSecond: (count * 1_000) / (last.atMs - first.atMs),
    replyCpuMs: (last.server - first.server) / count,
    replyWorkerCpuMs: (last.workers - first.workers) / count,
    replySimulatorCpuMs: (last.simulator - first.simulator) / count,
    loadAverage: loadAverage(),
  };
}

function perSecond(from: Progress, to: Progress): number {
  return ((to.acknowledged - from.acknowledged) * 1_000) / (to.atMs - from.atMs);
}

/** Returns how many messages the shops could send in a second if only composing and the gap took time. */
function allowedPerSecond(shops: number, { gapMs, composingMs: shownMs }: Pace, textLength: number): number {
  const composing = shownMs ?? composingMs(DEFAULT_SESSION_TIMING, textLength, 0.5);
  return (shops * 1_000) / (composing + (gapMs.least + gapMs.most) / 2);
}

/** Returns CPU milliseconds a message, and how busy service and simulator were, in percent of a core. */
function middleCpu(from: Progress, to: Progress): Figures {
  const messages = to.acknowledged - from.acknowledged;
  const each = (figureOf: (progress: Progress) => number): number =>
    (figureOf(to) - figureOf(from)) / messages;
  const busy = (figureOf: (progress: Progress) => number): number =>
    ((figureOf(to) - figureOf(from)) * 100) / (to.atMs - from.atMs);
  return {
    middleCpuMs: each(({ server }) => server),
    middleMainCpuMs: each(({ main }) => main),
    middleWorkerCpuMs: each(({ workers }) => workers),
    middleOtherCpuMs: each(({ server, main, workers }) => server - main - workers),
    middleSimulatorCpuMs: each(({ simulator }) => simulator),
    middleRedisCpuMs: each(({ redis }) => redis),
    serverBusyPercent: busy(({ server }) => server),
    simulatorBusyPercent: busy(({ simulator }) => simulator),
  };
}
