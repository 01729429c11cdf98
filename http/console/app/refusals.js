// @ts-check
/** Calls that never became messages, in words: half of all complaints end here. */
import { html } from '/console/preact.js';
import { useAnswer } from './asking.js';
import { MEANINGS } from './codes.js';
import { away, count } from './format.js';
import { Panel, Table } from './parts.js';
import { address } from './route.js';

const SINCE_MS = 15 * 60_000;
/** The address must not change with every drawing, or it would be asked anew each time. */
const STEP_MS = 60_000;

/**
 * What was refused to a tenant lately, by code, the newest first.
 * @param {{ tenantId: string }} props
 */
export function Refusals({ tenantId }) {
  const after = new Date(Math.floor(Date.now() / STEP_MS) * STEP_MS - SINCE_MS).toISOString();
  const asked = address('/requests', { tenant: tenantId, refused: 'true', after, limit: '100' }).slice(1);
  const { data } = useAnswer(asked, { everyMs: 5_000 });
  if (data === undefined || data.items.length === 0) return null;
  const all = html`<a href=${address('/requests', { tenant: tenantId, refused: 'true' })}>All of them</a>`;
  return html`
    <${Panel} title="Refused to this tenant, last 15 minutes" class="refusals" more=${all}>
      <${Table}
        caption="Refused calls by code, newest first"
        empty="None."
        rows=${byCode(data.items)}
        keyOf=${(/** @type {any} */ { code }) => code}
        columns=${columns(data.nextCursor !== null)}
      />
    <//>
  `;
}

/** @param {boolean} isPart */
function columns(isPart) {
  return [
    { name: 'Code', cell: (/** @type {any} */ { code }) => html`<code>${code}</code>` },
    {
      name: 'Calls',
      numeric: true,
      cell: (/** @type {any} */ { times }) => `${count(times)}${isPart ? ' or more' : ''}`,
    },
    { name: 'Last', cell: (/** @type {any} */ { at }) => away(Date.parse(at)) },
    {
      name: 'What it means',
      place: /** @type {const} */ ('full'),
      cell: (/** @type {any} */ { code, route }) => MEANINGS[code] ?? html`Last at <code>${route}</code>`,
    },
  ];
}

/** @param {any[]} items newest first */
function byCode(items) {
  const rows = new Map();
  for (const { code, status, at, route } of items) {
    const name = code ?? String(status);
    const row = rows.get(name);
    if (row === undefined) rows.set(name, { code: name, at, route, times: 1 });
    else row.times += 1;
  }
  return [...rows.values()];
}
