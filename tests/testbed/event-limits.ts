import type { EventLimits } from '../../actors/tenants/stored-events/tenant-event.ts';
import { DAY_MS } from '../../runtime/durations.ts';

/** The limits of the default settings. */
export const EVENT_LIMITS: EventLimits = { maxAgeMs: 7 * DAY_MS, maxEntries: 50_000 };
