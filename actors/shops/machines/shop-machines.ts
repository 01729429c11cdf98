import { NewerState } from '../../../runtime/runtime-failure.ts';
import type { ChannelContext } from './channel-context.ts';
import type { ChannelEffect } from './channel-events.ts';
import { channelMachine } from './channel-machine.ts';
import { type PacingContext, type PacingEffect, pacingMachine } from './pacing-machine.ts';
import { type MachineSnapshot, type StoredMachine, stepper } from './stepper.ts';

/** The channel machine, driven as a pure function. */
export const channelStepper = stepper<typeof channelMachine, ChannelEffect>(channelMachine);
/** The pacing machine, driven as a pure function. */
export const pacingStepper = stepper<typeof pacingMachine, PacingEffect>(pacingMachine);

/** The snapshots of a shop's two machines. */
export interface ShopMachines {
  readonly channel: MachineSnapshot<typeof channelMachine>;
  readonly pacing: MachineSnapshot<typeof pacingMachine>;
}

/** Version of a shop's stored form; a newer one is refused. Version 1 was never released. */
const STORED_VERSION = 3;

/**
 * The version of a shop without egress, which 0.2.0 can load. It knows no egress, and would connect a shop with one
 * from its own address.
 */
const VERSION_WITHOUT_EGRESS = 2;

interface StoredMachines {
  readonly version: number;
  readonly channel: StoredMachine;
  readonly pacing: StoredMachine;
}

/** Returns the stored form of both machines, from which a restart continues. */
export function encodeMachines(
  { channel, pacing, egress }: ShopMachines & { readonly egress?: unknown },
  nowMs: number,
): string {
  const storedMachines: StoredMachines = {
    version: egress === undefined ? VERSION_WITHOUT_EGRESS : STORED_VERSION,
    channel: lastingChannel(channel),
    pacing: lastingPacing(pacing, nowMs),
  };
  return JSON.stringify(storedMachines);
}

/**
 * A code to type does not outlast a process. `code_waiting` is stored as `starting`, because a restart opens a session
 * anyway. A ban is stored as waiting for the next attempt, as 0.2.0 stores it too.
 */
function lastingChannel({ value, context }: ShopMachines['channel']): StoredMachine {
  if (value === 'banned') return { value: 'reconnecting', context };
  return { value: value === 'code_waiting' ? 'starting' : value, context };
}

/** A channel that waits for the end of a ban is `banned`. */
function presentChannel({ value, context }: StoredMachine): StoredMachine {
  const { ban, reconnectAtMs } = context as unknown as ChannelContext;
  const isBanned = value === 'reconnecting' && ban != null && reconnectAtMs === ban.untilMs;
  return { value: isBanned ? 'banned' : value, context };
}

/** True if both have the same stored form, so that no write is needed. */
export function sameWhenRestored(before: ShopMachines, after: ShopMachines, nowMs: number): boolean {
  if (before.channel !== after.channel) return false;
  if (before.pacing === after.pacing) return true;
  return lastingText(before, nowMs) === lastingText(after, nowMs);
}

function lastingText({ pacing }: ShopMachines, nowMs: number): string {
  return JSON.stringify(lastingPacing(pacing, nowMs));
}

/**
 * Returns the part of the pacing that outlasts a process. No reply of the session reaches another process. A message in
 * progress before the wire is therefore stored as queued, and the machine as idle. A gap or pause that is over is
 * stored as idle too. The steps before the wire and the end of a gap need no commit
 * (docs/decisions/003-pacing-stores-what-lasts.md).
 */
function lastingPacing({ value, context }: ShopMachines['pacing'], nowMs: number): StoredMachine {
  const waits = (value === 'gap' || value === 'paused') && (context.untilMs ?? 0) > nowMs;
  if (value === 'sending' || waits) return { value, context: storedPacing(context) };
  return { value: 'idle', context: storedPacing(context, NOTHING_IN_PROGRESS) };
}

const NOTHING_IN_PROGRESS = { currentMessage: null, untilMs: null };

/** The context of the pacing machine under the names that are stored. Operators see them, too. */
interface StoredPacing extends Omit<PacingContext, 'currentMessage' | 'unprepared'> {
  readonly hand: PacingContext['currentMessage'];
  readonly unsent?: NonNullable<PacingContext['unprepared']>;
}

/** Returns the context of the pacing machine under its stored names, with another progress if one is given. */
export function storedPacing(
  context: PacingContext,
  progress: Pick<PacingContext, 'currentMessage' | 'untilMs'> = context,
): StoredPacing {
  const { heldByOperator, pausedForMs, unprepared } = context;
  const fields = { hand: progress.currentMessage, untilMs: progress.untilMs, heldByOperator };
  // Most shops have neither of the others, and every send compares two contexts.
  if (pausedForMs === undefined && unprepared === undefined) return fields;
  return {
    ...fields,
    ...(pausedForMs === undefined ? {} : { pausedForMs }),
    ...(unprepared === undefined ? {} : { unsent: unprepared }),
  };
}

/** Reads what `storedPacing` returned. */
function presentPacing({ value, context }: StoredMachine): StoredMachine {
  const { hand, unsent, ...fields } = context as StoredPacing;
  const namedFields = { currentMessage: hand, ...fields };
  return { value, context: unsent === undefined ? namedFields : { ...namedFields, unprepared: unsent } };
}

/**
 * Returns both machines as they were stored, or in their initial state if nothing was. Throws `NewerState` on data that
 * a newer program stored.
 */
export function restoreMachines(text: string | null): ShopMachines {
  if (text === null) return { channel: channelStepper.initial(), pacing: pacingStepper.initial() };
  const storedMachines = JSON.parse(text) as StoredMachines;
  if (storedMachines.version > STORED_VERSION)
    throw new NewerState('a shop', { stored: storedMachines.version, known: STORED_VERSION });
  return {
    channel: channelStepper.restore(presentChannel(storedMachines.channel)),
    pacing: pacingStepper.restore(presentPacing(storedMachines.pacing)),
  };
}
