// @ts-check
/** Components that several pages use. */
import { html, useEffect, useRef, useState } from '/console/preact.js';
import { meaningOf } from './codes.js';
import { away, clockTime, dateAndTime, words } from './format.js';
import { roleRefusal } from './session.js';

/** The colour of each state. */
const TONES = /** @type {Record<string, string>} */ ({
  connected: 'good',
  sent: 'good',
  sending: 'busy',
  running: 'busy',
  finished: 'good',
  stopped: 'bad',
  expired: 'warn',
  preparing: 'busy',
  starting: 'busy',
  qr_waiting: 'warn',
  code_waiting: 'warn',
  reconnecting: 'warn',
  paused: 'warn',
  held: 'warn',
  tenant_inactive: 'warn',
  restricted: 'warn',
  warned: 'warn',
  backoff: 'warn',
  undelivered: 'bad',
  flagged: 'bad',
  banned: 'bad',
  login_refused: 'bad',
  egress_unreachable: 'bad',
  passkey_required: 'bad',
  number_in_use: 'bad',
  suspended: 'bad',
  inactive: 'bad',
  failed: 'bad',
  gone: 'bad',
  failing: 'bad',
  rejected: 'bad',
});

/** @param {{ state: string }} props */
export function Badge({ state }) {
  return html`<span class=${`badge ${TONES[state] ?? 'calm'}`}>${words(state)}</span>`;
}

/**
 * A button for an action that needs a role. If the operator's role is smaller, it is disabled and shows why.
 * @param {{ role: string, disabled?: boolean, title?: string, children?: unknown, [name: string]: unknown }} props
 */
export function RoleButton({ role, disabled = false, title, children, ...attributes }) {
  const refusal = roleRefusal(role);
  return html`<button ...${attributes} disabled=${disabled || refusal !== undefined} title=${refusal ?? title}>${children}</button>`;
}

/** @param {{ status: number, code: string | null }} props how a request was answered */
export function Answered({ status, code }) {
  return html`<span class=${`status c${Math.floor(status / 100)}`}>${status}</span>${code !== null && html` <code title=${meaningOf(code)}>${code}</code>`}`;
}

/** @param {{ failure: Error | undefined }} props */
export function Failure({ failure }) {
  return failure === undefined ? null : html`<p class="failure" role="alert">${failure.message}</p>`;
}

/** @param {{ nodes: readonly string[] }} props nodes that did not answer */
export function SilentNodes({ nodes }) {
  if (nodes.length === 0) return null;
  const missing = nodes.length === 1 ? 'its shops are' : 'their shops are';
  return html`<p class="failure" role="alert">No answer from ${nodes.join(', ')}: ${missing} missing below.</p>`;
}

/** @param {{ at: number | string | null | undefined, relative?: boolean, dated?: boolean }} props `dated`: with the date also today */
export function When({ at, relative = false, dated = false }) {
  if (at === null || at === undefined) return html`<span class="muted">–</span>`;
  const when = new Date(at);
  return html`
    <time datetime=${when.toISOString()} title=${when.toString()}>
      ${relative ? away(when.getTime()) : dated ? dateAndTime(at) : clockTime(at)}
    </time>
  `;
}

/** @param {{ title: string, more?: unknown, class?: string, children?: unknown }} props */
export function Panel({ title, more, class: name = '', children }) {
  return html`
    <section class=${`panel ${name}`}>
      <header><h2>${title}</h2>${more}</header>
      ${children}
    </section>
  `;
}

/**
 * @typedef {{ name: string, cell: (row: never) => unknown, numeric?: boolean, place?: 'full' | 'wide' }} Column `full`: a separate line on a phone; `wide`: not shown there
 * @param {{ caption: string, columns: Column[], rows: readonly unknown[] | undefined, keyOf: (row: never) => string, empty: string, failure?: Error, tight?: boolean }} props `failure`: why there are no rows, shown elsewhere; `tight`: narrow enough to stay a table on a phone
 */
export function Table({ caption, columns, rows, keyOf, empty, failure, tight = false }) {
  if (rows === undefined && failure !== undefined) return null;
  if (rows === undefined) return html`<p class="muted" aria-busy="true">Loading…</p>`;
  // Each table gives rows and cells of one kind.
  const own = /** @type {readonly never[]} */ (rows);
  if (rows.length === 0) return html`<p class="muted">${empty}</p>`;
  return html`
    <table class=${tight ? 'tight' : ''}>
      <caption>${caption}</caption>
      <thead>
        <tr>${columns.map(({ name, numeric }) => html`<th scope="col" class=${numeric ? 'number' : ''}>${name}</th>`)}</tr>
      </thead>
      <tbody>
        ${own.map(
          (row) => html`
            <tr key=${keyOf(row)}>
              ${columns.map(
                ({ name, cell, numeric, place = '' }) =>
                  html`<td data-name=${name} class=${numeric ? `number ${place}` : place}>${cell(row)}</td>`,
              )}
            </tr>
          `,
        )}
      </tbody>
    </table>
  `;
}

/** @param {{ next: (() => void) | undefined, isBusy: boolean }} props */
export function More({ next, isBusy }) {
  return next === undefined
    ? null
    : html`<button class="more" disabled=${isBusy} onClick=${() => next()}>${isBusy ? 'Loading…' : 'Show more'}</button>`;
}

/** @param {{ facts: readonly (readonly [name: string, value: unknown])[] }} props */
export function Facts({ facts }) {
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/**
 * Copies a text. Browsers allow that only on https and on this machine; elsewhere the text can be selected.
 * @param {{ text: string }} props
 */
export function Copy({ text }) {
  const [isCopied, setCopied] = useState(false);
  if (navigator.clipboard === undefined) return null;
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true));
  return html`<button type="button" class="quiet" onClick=${copy}>${isCopied ? 'Copied' : 'Copy'}</button>`;
}

/**
 * A dialog of the browser, which handles the focus and Escape.
 * @param {{ title: string, onClose: () => void, children?: unknown }} props
 */
export function Dialog({ title, onClose, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const { current } = dialog;
    current?.showModal();
    // Closing returns the focus to the element that opened it. Removing alone does not.
    return () => current?.close();
  }, []);
  return html`
    <dialog ref=${dialog} aria-label=${title} onClose=${onClose}>
      <header>
        <h2>${title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick=${() => dialog.current?.close()}>✕</button>
      </header>
      ${children}
    </dialog>
  `;
}
