// @ts-check
import { html } from '/console/preact.js';
import { away, count } from '../format.js';

/** The name of each window of the policy. */
export const WINDOW_NAMES = /** @type {Record<string, string>} */ ({
  perDay: 'Messages, 24 hours',
  perHour: 'Messages, 60 minutes',
  coldPerDay: 'Cold recipients, 24 hours',
  declaredPerDay: 'Declared recipients, 24 hours',
  groupsPerDay: 'Group shares, 24 hours',
  statusesPerDay: 'Statuses, 24 hours',
});

/**
 * The policy's windows with use and cap, and the time at which the next slot becomes free.
 * @param {{ windows: { window: string, used: number, cap: number, nextReliefMs: number | null }[] }} props
 */
export function Windows({ windows }) {
  return html`
    <ul class="windows">
      ${windows.map(({ window, used, cap, nextReliefMs }) => {
        const share = cap === 0 ? 1 : Math.min(1, used / cap);
        const tone = share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : 'good';
        return html`
          <li>
            <span>${WINDOW_NAMES[window] ?? window}</span>
            <b>${count(used)} of ${count(cap)}</b>
            <div class=${`meter ${tone}`} role="meter" aria-label=${WINDOW_NAMES[window] ?? window}
              aria-valuemin="0" aria-valuemax=${cap} aria-valuenow=${Math.min(used, cap)} aria-valuetext=${`${used} of ${cap}`}>
              <i style=${{ width: `${share * 100}%` }}></i>
            </div>
            <small class="muted">${left({ used, cap, nextReliefMs })}</small>
          </li>
        `;
      })}
    </ul>
  `;
}

/**
 * Returns how many slots are free, or when the next one becomes free.
 * @param {{ used: number, cap: number, nextReliefMs: number | null }} window
 */
function left({ used, cap, nextReliefMs }) {
  if (used < cap) return `${count(cap - used)} free`;
  return nextReliefMs === null ? 'none free' : `next place ${away(nextReliefMs)}`;
}
