import type { Store } from '../../../../runtime/store.ts';
import { contentOf } from '../../message-content.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import { readKeyedSchedule, readSchedule, type StoredSchedule } from '../../reading/schedule-reading.ts';
import type { Retention } from '../../records/message-days.ts';
import type { NumberVault } from '../../records/number-vault.ts';
import type { AskedField } from '../../shop-operations.ts';
import type { ShopState } from '../../state/shop-state.ts';

/** The stored data of the scheduled send that a command is about. */
export interface ScheduledFacts {
  readonly schedule?: StoredSchedule | undefined;
  /** Digests of the content of a command with an idempotency key, one per secret, the newest first. */
  readonly contentDigests?: readonly string[];
}

/**
 * The values that the digest covers, in this order. A new field of a draft without an entry does not compile. An absent
 * one is not in the digest, so that stored digests stay equal.
 */
type AskedFields = { readonly [Field in Exclude<AskedField, 'reply'>]: string | null | undefined };

type ScheduleCommand = CommandOf<'schedule' | 'unschedule'>;

interface ScheduledSources extends Retention {
  readonly store: Pick<Store, 'read'>;
  readonly vault: Pick<NumberVault, 'digests'>;
}

/** Reads the facts for a command that makes or ends a scheduled send. */
export async function readScheduled(
  { keys }: Pick<ShopState, 'keys'>,
  command: ScheduleCommand | { readonly type: 'send'; readonly scheduledId: string },
  { vault, ...scheduleSources }: ScheduledSources,
): Promise<ScheduledFacts> {
  const reading = { keys, ...scheduleSources };
  if (command.type !== 'schedule') return { schedule: await readSchedule(command.scheduledId, reading) };
  const { draft } = command;
  const { idempotencyKey, to } = draft;
  if (idempotencyKey === undefined) return {};
  const askedFields: AskedFields = { to, ...contentOf(draft) };
  const values = Object.values(askedFields).filter((value) => value !== undefined);
  return {
    schedule: await readKeyedSchedule(idempotencyKey, reading),
    contentDigests: vault.digests('scheduled', JSON.stringify(values)),
  };
}
