import { type BatchPlan, ForecastRun } from '../../../policy/batch-forecast.ts';
import type { Actors } from '../../../runtime/actors.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { Yielder } from '../../../runtime/yielder.ts';
import { isoOrNull } from '../../iso-time.ts';
import { committedTenant, settingsOf } from '../../tenants/committed-tenant.ts';
import type { BatchForecastView } from '../batch-operations.ts';
import { limitsNow } from '../judging/new-chats.ts';
import { warmupPairedAtMs } from '../machines/channel-context.ts';
import type { ShopReference } from '../shop-operations.ts';
import { type Batch, type BatchContent, isActive, waitingOf } from '../state/batches.ts';
import type { ShopState } from '../state/shop-state.ts';
import { type EstimateTimes, messageTimeMs } from './queue-place.ts';

/** How long a forecast is shown again while no batch of the shop changes. */
const SHOWN_AGAIN_MS = 10_000;

interface ForecastQuery {
  readonly batchId: string;
  readonly content: BatchContent;
}

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
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly times: EstimateTimes;
}): (shop: ShopReference, state: ShopState, query: ForecastQuery) => Forecast {
  const { actors, clock, times } = options;
  const shownForecasts = new WeakMap<readonly Batch[], Map<string, ShownForecast>>();
  const make = async (shop: ShopReference, state: ShopState, query: ForecastQuery): Forecast => {
    const settings = settingsOf(await committedTenant(actors, shop.tenantId));
    const run = runOf(state, query, { settings, eachMs: messageTimeMs(times), nowMs: clock.wallMs() });
    if (run === undefined) return null;
    const yielder = new Yielder();
    while (run.step()) if (yielder.isOver()) await yielder.next();
    const { firstAtMs, lastAtMs, days } = run.forecast;
    return { firstAt: isoOrNull(firstAtMs), lastAt: isoOrNull(lastAtMs), days };
  };
  return (shop, state, query) => {
    const ofShop = shownForecasts.get(state.batches) ?? new Map<string, ShownForecast>();
    shownForecasts.set(state.batches, ofShop);
    const lastForecast = ofShop.get(query.batchId);
    const nowMs = clock.wallMs();
    if (lastForecast !== undefined && nowMs - lastForecast.madeMs < SHOWN_AGAIN_MS)
      return lastForecast.forecast;
    const forecast = make(shop, state, query);
    ofShop.set(query.batchId, { madeMs: nowMs, forecast });
    forecast.catch(() => ofShop.delete(query.batchId));
    return forecast;
  };
}

function runOf(
  state: ShopState,
  { batchId, content }: ForecastQuery,
  context: Pick<ConstructorParameters<typeof ForecastRun>[2], 'settings' | 'eachMs' | 'nowMs'>,
): ForecastRun | undefined {
  const batch = state.batches.find(({ id }) => id === batchId);
  if (batch === undefined || batch.status === 'cancelled' || batch.status === 'expired') return undefined;
  if (waitingOf(batch) === 0) return undefined;
  const sending = state.batches.filter((otherBatch) => otherBatch === batch || isActive(otherBatch));
  // Contents of other batches are not read: each counts as different from every other.
  const plans = sending.map((otherBatch) =>
    planOf(otherBatch, otherBatch === batch ? content : { text: `batch ${otherBatch.id}` }),
  );
  return new ForecastRun(plans, sending.indexOf(batch), {
    ...context,
    ledger: state.ledger,
    network: limitsNow(state),
    pairedAtMs: warmupPairedAtMs(state.channel.context),
  });
}

function planOf(batch: Batch, { text, mediaUrl = '' }: Partial<BatchContent>): BatchPlan {
  const { declared, unheard } = batch.left;
  const { share, quietHours, notBeforeMs, notAfterMs, isFilled } = batch;
  const content: BatchPlan['sameContent'] =
    text === undefined ? { kind: 'file', mediaUrl } : { kind: 'text', text };
  const sameContent = isFilled ? undefined : content;
  const wrote = waitingOf(batch) - declared - unheard;
  return { wrote, unheard, declared, sameContent, share, quietHours, notBeforeMs, notAfterMs };
}
