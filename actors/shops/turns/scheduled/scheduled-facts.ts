import type { Store } from '../../../../runtime/store.ts';
import { readKeyedSchedule, readSchedule, type StoredSchedule } from '../../state/scheduled-sends.ts';
import type { ShopState } from '../../state/shop-state.ts';
import type { ShopCommand } from '../builder/shop-commands.ts';

/** What is stored of the scheduled send that a command is about. */
export interface ScheduledFacts {
  readonly schedule?: StoredSchedule | undefined;
}

type ScheduleCommand = Extract<ShopCommand, { type: 'schedule' | 'unschedule' }>;

/** Whether a command makes or ends a scheduled send. */
export function isScheduleCommand(command: ShopCommand): command is ScheduleCommand {
  return command.type === 'schedule' || command.type === 'unschedule';
}

/** Reads what such a command needs. */
export async function readScheduled(
  { keys }: Pick<ShopState, 'keys'>,
  command: ScheduleCommand | { readonly type: 'send'; readonly scheduledId: string },
  around: { readonly store: Pick<Store, 'read'>; readonly nowMs: number; readonly retentionMs: number },
): Promise<ScheduledFacts> {
  const reading = { keys, ...around };
  if (command.type === 'unschedule') return { schedule: await readSchedule(command.scheduledId, reading) };
  if (command.type === 'send') return { schedule: await readSchedule(command.scheduledId, reading) };
  const { idempotencyKey } = command.draft;
  if (idempotencyKey === undefined) return {};
  return { schedule: await readKeyedSchedule(idempotencyKey, reading) };
}
