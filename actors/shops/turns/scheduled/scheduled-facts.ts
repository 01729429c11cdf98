import { digestedContent } from '../../message-content.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import { readKeyedSchedule, readSchedule, type StoredSchedule } from '../../reading/schedule-reading.ts';
import type { AskedPart } from '../../shop-operations.ts';
import type { ShopState } from '../../state/shop-state.ts';
import type { FactSources } from '../builder/fact-sources.ts';

/** The stored data of the scheduled send that a command is about. */
export interface ScheduledFacts {
  readonly schedule?: StoredSchedule | undefined;
  /** Digests of the content of a command with an idempotency key, one per secret, the newest first. */
  readonly contentDigests?: readonly string[];
}

type ScheduleCommand = CommandOf<'schedule' | 'unschedule'>;

/** Reads the facts for a command that makes or ends a scheduled send. */
export async function readScheduled(
  { keys }: ShopState,
  command: ScheduleCommand | { readonly type: 'send'; readonly scheduledId: string },
  { vault, ...sources }: FactSources,
): Promise<ScheduledFacts> {
  const reading = { keys, ...sources };
  if (command.type !== 'schedule') return { schedule: await readSchedule(command.scheduledId, reading) };
  const { draft } = command;
  const { idempotencyKey, to } = draft;
  if (idempotencyKey === undefined) return {};
  // The order of the digest. A new part of a draft without an entry does not compile. An undefined value is left out,
  // so that stored digests stay equal.
  const askedParts: Readonly<Record<Exclude<AskedPart, 'reply'>, readonly unknown[]>> = {
    to: [to],
    content: digestedContent(draft),
  };
  const values = Object.values(askedParts)
    .flat()
    .filter((value) => value !== undefined);
  return {
    schedule: await readKeyedSchedule(idempotencyKey, reading),
    contentDigests: vault.digests('scheduled', JSON.stringify(values)),
  };
}
