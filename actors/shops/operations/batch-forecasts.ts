import { type BatchPlan, ForecastRun } from '../../../policy/batch-forecast.ts';
import { hasText } from '../../../policy/content-rules.ts';
import type { Actors } from '../../../runtime/actors.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Store } from '../../../runtime/store.ts';
import { Yielder } from '../../../runtime/yielder.ts';
import { isoOrNull } from '../../iso-time.ts';
import { committedTenant, settingsOf } from '../../tenants/committed-tenant.ts';
import type { BatchForecastView } from '../batch-operations.ts';
import { limitsNow } from '../judging/new-chats.ts';
import { warmupPairedAtMs } from '../machines/channel-context.ts';
import { readBatches } from '../reading/batch-reading.ts';
import type { ShopReference } from '../shop-operations.ts';
import { type Batch, type BatchContent, isActive, waitingOf } from '../state/batches.ts';
import type { ShopState } from '../state/shop-state.ts';
import { type EstimateTimes, messageTimeMs } from './queue-place.ts';

/** How long a forecast is shown again while no batch of the shop changes. */
const SHOWN_AGAIN_MS = 10_000;

type Forecast = Promise<BatchForecastView | null>;

interface ShownForecast {
  readonly madeMs: number;
  readonly forecast: Forecast;
}

/**
 * Forecasts a batch that may still send. A paused or stopped batch is forecast as if it resumed now. A forecast covers
 * months, so it is made in slices, and simultaneous callers share one.
 */
export function batchForecasts(options: {
  readonly actors: Pick<Actors, 'state'>;
  readonly store: Pick<Store, 'read'>;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly times: EstimateTimes;
}): (shop: ShopReference, state: ShopState, batchId: string) => Forecast {
  const { actors, store, clock, times } = options;
  const shownForecasts = new WeakMap<readonly Batch[], Map<string, ShownForecast>>();
  const make = async ({ tenantId }: ShopReference, state: ShopState, batchId: string): Forecast => {
    const batch = state.batches.find(({ id }) => id === batchId);
    if (batch === undefined || batch.status === 'cancelled' || batch.status === 'expired') return null;
    if (waitingOf(batch) === 0) return null;
    const sending = state.batches.filter((otherBatch) => otherBatch === batch || isActive(otherBatch));
    const [tenant, contents] = await Promise.all([
      committedTenant(actors, tenantId),
      readSameContents(sending, { keys: state.keys, store }),
    ]);
    const plans = sending.map((planned) => planOf(planned, contents.get(planned.id)));
    const run = new ForecastRun(plans, sending.indexOf(batch), {
      settings: settingsOf(tenant),
      eachMs: messageTimeMs(times),
      nowMs: clock.wallMs(),
      ledger: state.ledger,
      network: limitsNow(state),
      pairedAtMs: warmupPairedAtMs(state.channel.context),
    });
    const yielder = new Yielder();
    while (run.step()) if (yielder.isOver()) await yielder.next();
    const { firstAtMs, lastAtMs, days } = run.forecast;
    return { firstAt: isoOrNull(firstAtMs), lastAt: isoOrNull(lastAtMs), days };
  };
  return (shop, state, batchId) => {
    const ofShop = shownForecasts.get(state.batches) ?? new Map<string, ShownForecast>();
    shownForecasts.set(state.batches, ofShop);
    const lastForecast = ofShop.get(batchId);
    const nowMs = clock.wallMs();
    if (lastForecast !== undefined && nowMs - lastForecast.madeMs < SHOWN_AGAIN_MS)
      return lastForecast.forecast;
    const forecast = make(shop, state, batchId);
    ofShop.set(batchId, { madeMs: nowMs, forecast });
    forecast.catch(() => ofShop.delete(batchId));
    return forecast;
  };
}

/** Reads the contents of those batches that give all recipients the same one. A content may be gone by now. */
async function readSameContents(
  batches: readonly Batch[],
  reading: Parameters<typeof readBatches>[1],
): Promise<ReadonlyMap<string, BatchContent | undefined>> {
  const ids = batches.flatMap(({ id, isFilled }) => (isFilled ? [] : [id]));
  const storedBatches = await readBatches(ids, reading);
  return new Map(ids.map((id, index) => [id, storedBatches[index]?.content]));
}

function planOf(batch: Batch, content: BatchContent | undefined): BatchPlan {
  const { declared, unheard } = batch.left;
  const { share, quietHours, notBeforeMs, notAfterMs } = batch;
  const sameContent = content && sameContentOf(content);
  const wrote = waitingOf(batch) - declared - unheard;
  return { wrote, unheard, declared, sameContent, share, quietHours, notBeforeMs, notAfterMs };
}

function sameContentOf({ text, mediaUrl }: BatchContent): BatchPlan['sameContent'] {
  return hasText(text) ? { kind: 'text', text } : { kind: 'file', mediaUrl: mediaUrl ?? '' };
}
