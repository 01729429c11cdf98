// @ts-check
/** Draws a state machine: states in a column, transitions downwards on the right, upwards on the left. */
import { html } from '/console/preact.js';
import { words } from '../format.js';

const ROW = 44;
const BOX_HEIGHT = 28;
const HALF_BOX = 58;
const SIDE = 84;
const CENTRE = SIDE + HALF_BOX;

/**
 * @typedef {{ from: string, to: string, event: string, guard: string | null }} Way
 * @typedef {{ id: string, states: string[], transitions: Way[] }} Machine
 * @param {{ machine: Machine, current: string, last: { from: string, to: string, event: string } | undefined }} props
 */
export function StateChart({ machine, current, last }) {
  const { id, states, transitions } = machine;
  const height = states.length * ROW;
  const arcs = joined(transitions);
  const exits = transitions.filter(({ from }) => from === current);
  return html`
    <div class="state-chart">
      <svg viewBox=${`0 0 ${2 * CENTRE} ${height}`} role="img" aria-label=${`${id}: ${words(current)} of ${states.map(words).join(', ')}`}>
        <defs>
          ${['', 'exit', 'last'].map(
            (name) => html`
              <marker id=${`tip-${id}-${name}`} class=${`tip ${name}`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">
                <path d="M0 0L8 4L0 8z" />
              </marker>
            `,
          )}
        </defs>
        ${arcs.map(({ from, to, ways }) => {
          const isLast = last?.from === from && last.to === to;
          const name = isLast ? 'last' : from === current ? 'exit' : '';
          return html`
            <path class=${`way ${name}`} d=${arc(states.indexOf(from), states.indexOf(to), states.length - 1)} marker-end=${`url(#tip-${id}-${name})`}>
              <title>${words(from)} → ${words(to)}: ${ways.map(wayName).join(', ')}</title>
            </path>
          `;
        })}
        ${states.map(
          (state, index) => html`
            <g class=${state === current ? 'state current' : 'state'} transform=${`translate(${CENTRE - HALF_BOX} ${index * ROW + (ROW - BOX_HEIGHT) / 2})`}>
              <rect width=${2 * HALF_BOX} height=${BOX_HEIGHT} rx="6" />
              <text x=${HALF_BOX} y=${BOX_HEIGHT / 2 + 4}>${words(state)}</text>
            </g>
          `,
        )}
      </svg>
      <div class="exits">
        <p>Leaves <b>${words(current)}</b> on</p>
        <ul>
          ${joined(exits).map(
            ({ to, ways }) =>
              html`<li>${ways.map((way, index) => html`${index > 0 ? ', ' : ''}<code>${wayName(way)}</code>`)} → ${words(to)}</li>`,
          )}
        </ul>
        ${last && html`<p class="last-step">Last step: ${words(last.from)} → ${words(last.to)} on <code>${last.event}</code></p>`}
      </div>
    </div>
  `;
}

/**
 * Joins the transitions between the same two states into one arc.
 * @param {Way[]} transitions
 */
function joined(transitions) {
  /** @type {Map<string, { from: string, to: string, ways: Way[] }>} */
  const arcs = new Map();
  for (const way of transitions) {
    const key = `${way.from} ${way.to}`;
    const arc = arcs.get(key) ?? { from: way.from, to: way.to, ways: [] };
    arc.ways.push(way);
    arcs.set(key, arc);
  }
  return [...arcs.values()];
}

/** @param {Way} way */
function wayName({ event, guard }) {
  return guard === null ? event : `${event} [${guard}]`;
}

/**
 * @param {number} from
 * @param {number} to
 * @param {number} longest rows that the longest arc may span, whose curve is the widest
 */
function arc(from, to, longest) {
  const middle = (/** @type {number} */ row) => row * ROW + ROW / 2;
  const right = CENTRE + HALF_BOX;
  const left = CENTRE - HALF_BOX;
  if (from === to) return `M${right} ${middle(from) - 5}c16 -10 16 20 1 10`;
  const reach = 12 + (Math.abs(to - from) * (SIDE * 1.25 - 12)) / longest;
  if (to > from)
    return `M${right} ${middle(from) + 6}C${right + reach} ${middle(from) + 6} ${right + reach} ${middle(to) - 6} ${right + 1} ${middle(to) - 6}`;
  return `M${left} ${middle(from) - 6}C${left - reach} ${middle(from) - 6} ${left - reach} ${middle(to) + 6} ${left - 1} ${middle(to) + 6}`;
}
