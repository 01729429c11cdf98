import type { Store } from '../../../../runtime/store.ts';
import { contentOf } from '../../message-content.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import type { NumberVault } from '../../records/number-vault.ts';
import { readKeyedSchedule, readSchedule, type StoredSchedule } from '../../state/scheduled-sends.ts';
import type { ShopState } from '../../state/shop-state.ts';

/** The stored data of the scheduled send that a command is about. */
export interface ScheduledFacts {
  readonly schedule?: StoredSchedule | undefined;
  /** Digests of the content of a command with an idempotency key, one per secret, the newest first. */
  readonly contentDigests?: readonly string[];
}

type ScheduleCommand = CommandOf<'schedule' | 'unschedule'>;

interface ScheduledSources {
  readonly store: Pick<Store, 'read'>;
  readonly vault: Pick<NumberVault, 'digests'>;
  readonly nowMs: number;
  readonly retentionMs: number;
}

/** Reads the facts for a command that makes or ends a scheduled send. */
export async function readScheduled(
  { keys }: Pick<ShopState, 'keys'>,
  command: ScheduleCommand | { readonly type: 'send'; readonly scheduledId: string },
  { vault, ...around }: ScheduledSources,
): Promise<ScheduledFacts> {
  const reading = { keys, ...around };
  if (command.type !== 'schedule') return { schedule: await readSchedule(command.scheduledId, reading) };
  const { idempotencyKey, to } = command.draft;
  if (idempotencyKey === undefined) return {};
  const content = [to, ...Object.values(contentOf(command.draft))];
  return {
    schedule: await readKeyedSchedule(idempotencyKey, reading),
    contentDigests: vault.digests('scheduled', JSON.stringify(content)),
  };
}
