/** Reads the stored scheduled sends of a shop, including ended ones. */
import type { Read, Store } from '../../../runtime/store.ts';
import { contentOf } from '../message-content.ts';
import type { Retention } from '../records/message-days.ts';
import { keyField, type ShopKeys } from '../records/shop-keys.ts';
import type { ScheduledEnd, ScheduledView } from '../shop-operations.ts';
import { endedKeys, type ScheduledDraft } from '../state/scheduled-sends.ts';

/** One that is stored, and how it ended; `end` undefined: it waits. */
export interface StoredSchedule {
  readonly id: string;
  readonly draft: ScheduledDraft;
  readonly end: ScheduledEnd | undefined;
}

/** The location of schedules, and their retention. */
interface ScheduleReading extends Retention {
  readonly keys: Pick<ShopKeys, 'shop' | 'scheduled' | 'scheduledDrafts'>;
  readonly store: Pick<Store, 'read'>;
}

/** Reads one, or undefined if there is none. */
export async function readSchedule(
  id: string,
  reading: ScheduleReading,
): Promise<StoredSchedule | undefined> {
  const [waitingText, ...endedTexts] = await readEverywhere(
    id,
    ['HGET', reading.keys.scheduledDrafts, id],
    reading,
  );
  if (waitingText !== null && waitingText !== undefined)
    return { id, draft: JSON.parse(waitingText) as ScheduledDraft, end: undefined };
  const endedText = endedTexts.find((text) => text !== null);
  return endedText == null ? undefined : { id, ...(JSON.parse(endedText) as Omit<StoredSchedule, 'id'>) };
}

/** Reads the one that this idempotency key made. */
export async function readKeyedSchedule(
  idempotencyKey: string,
  reading: ScheduleReading,
): Promise<StoredSchedule | undefined> {
  const field = keyField(idempotencyKey);
  const texts = await readEverywhere(field, ['HGET', reading.keys.scheduled, field], reading);
  const id = texts.find((text) => text !== null);
  return id == null ? undefined : await readSchedule(id, reading);
}

async function readEverywhere(
  field: string,
  first: Read<'HGET'>,
  reading: ScheduleReading,
): Promise<(string | null)[]> {
  const endedReads = endedKeys(reading.keys, reading).map((key): Read<'HGET'> => ['HGET', key, field]);
  return await reading.store.read([first, ...endedReads]);
}

/** Returns the schedule as the API shows it. */
export function scheduledView(shopId: string, { id, draft, end }: StoredSchedule): ScheduledView {
  const { to, idempotencyKey } = draft;
  return {
    id,
    shopId,
    status: end?.status ?? 'scheduled',
    sendAt: new Date(draft.sendAtMs).toISOString(),
    notAfter: new Date(draft.notAfterMs).toISOString(),
    to,
    ...contentOf(draft),
    idempotencyKey: idempotencyKey ?? null,
    createdAt: new Date(draft.createdAtMs).toISOString(),
    messageId: end?.messageId ?? null,
    code: end?.code ?? null,
  } satisfies Required<ScheduledView>;
}
