import { MOST_EVENT_WAITS } from '../../actors/tenants/stored-events/event-waiters.ts';
import { DEFAULT_BATCH_SHARE } from '../../policy/batch-forecast.ts';
import { CAPTION_LIMIT, MESSAGE_TEXT_LIMIT } from '../../policy/content-rules.ts';
import { DECLARATION_BATCH_LIMIT, DECLARATIONS_PER_DAY } from '../../policy/declaration-limits.ts';
import { GROUP_SIZE_UNIT } from '../../policy/evaluate-group.ts';
import {
  BULK_RECIPIENTS_PER_HOUR,
  RECIPIENT_PER_DAY,
  RECIPIENT_SPACING_MS,
} from '../../policy/evaluate-message.ts';
import { DEFAULT_RATE_LIMITS } from '../../policy/limits/key-limits.ts';
import { PLANS } from '../../policy/plan.ts';
import { SETTINGS_RANGES } from '../../policy/tenant-settings.ts';
import { DAILY_ROOF, hourlyCap, shareOf, WARMUP_STEPS } from '../../policy/warm-up.ts';
import { MINUTE_MS } from '../../runtime/durations.ts';

const BATCH_PER_DAY = shareOf(DAILY_ROOF, DEFAULT_BATCH_SHARE);
const BATCH_PER_HOUR = shareOf(hourlyCap(DAILY_ROOF), DEFAULT_BATCH_SHARE);

/** The figures of the send policy and of the limits as articles write them, taken from the code that enforces them. */
export const ARTICLE_FIGURES = {
  dailyCaps: dailyCaps(),
  dailyRoof: showFigure(DAILY_ROOF),
  hourlyRoof: showFigure(hourlyCap(DAILY_ROOF)),
  batchShare: showFigure(DEFAULT_BATCH_SHARE),
  batchPerDay: showFigure(BATCH_PER_DAY),
  batchPerHour: showFigure(BATCH_PER_HOUR),
  batchAfterSingles: showFigure(BATCH_PER_DAY - 100),
  singlesPerDay: showFigure(DAILY_ROOF - BATCH_PER_DAY),
  singlesPerHour: showFigure(hourlyCap(DAILY_ROOF) - BATCH_PER_HOUR),
  declaredPerDay: showFigure(SETTINGS_RANGES.declaredPerDay.default),
  groupsPerDay: showFigure(SETTINGS_RANGES.groupsPerDay.default),
  groupPerRecipient24h: showFigure(SETTINGS_RANGES.groupPerRecipient24h.default),
  statusesPerDay: showFigure(SETTINGS_RANGES.statusesPerDay.default),
  groupSizeUnit: showFigure(GROUP_SIZE_UNIT),
  recipientPerDay: showFigure(RECIPIENT_PER_DAY),
  recipientSpacingMinutes: showFigure(RECIPIENT_SPACING_MS / MINUTE_MS),
  bulkRecipients: showFigure(BULK_RECIPIENTS_PER_HOUR),
  declarationBatch: showFigure(DECLARATION_BATCH_LIMIT),
  declarationsPerDay: showFigure(DECLARATIONS_PER_DAY),
  callsPerMinute: showFigure(DEFAULT_RATE_LIMITS.minute),
  callsPerHour: showFigure(DEFAULT_RATE_LIMITS.hour),
  callsPerDay: showFigure(DEFAULT_RATE_LIMITS.day),
  planRows: planRows(),
  eventWaits: showFigure(MOST_EVENT_WAITS.tenant),
  textCharacters: showFigure(MESSAGE_TEXT_LIMIT),
  captionCharacters: showFigure(CAPTION_LIMIT),
} as const;

function showFigure(figure: number): string {
  return figure.toLocaleString('en-US');
}

/** Returns `0–2: 20, 3–6: 50, from 7: 100`: days since the pairing, and the cap of each. */
function dailyCaps(): string {
  return WARMUP_STEPS.map(({ fromDay, perDay }, index) => {
    const next = WARMUP_STEPS[index + 1];
    return `${next === undefined ? `from ${fromDay}` : `${fromDay}–${next.fromDay - 1}`}: ${perDay}`;
  }).join(', ');
}

/** Rows of a table without its outer bars: plan, shops, calls a month. */
function planRows(): string {
  return Object.entries(PLANS)
    .map(([name, { shops, apiCallsPerMonth }]) => `\`${name}\` | ${shops} | ${showFigure(apiCallsPerMonth)}`)
    .join(' |\n| ');
}
