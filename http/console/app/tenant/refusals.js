// @ts-check
/** Counts and explains refused calls. Half of all complaints are about these. */
import { html } from '/console/preact.js';
import { useAnswer } from '../asking.js';
import { meaningOf } from '../codes.js';
import { away, clockTime, count } from '../format.js';
import { Panel, Table } from '../parts.js';
import { address } from '../route.js';
/** @import { Answer } from '../asking.js' */
/** @import { RefusalCount, Refusals } from '../answers.js' */

/**
 * Shows a tenant's recent refusals by code, newest first. Shows nothing if there are none.
 * @param {{ tenantId: string }} props
 */
export function Refusals({ tenantId }) {
  /** @type {Answer<Refusals>} */
  const { data } = useAnswer(`/refusals?tenant=${tenantId}`, { everyMs: 5_000 });
  if (data === undefined || data.items.length === 0) return null;
  const all = html`<a href=${address('/requests', { tenant: tenantId, refused: 'true' })}>One by one</a>`;
  return html`
    <${Panel} title=${`Refused to this tenant since ${clockTime(data.since)}`} more=${all}>
      <${Table}
        caption="Refused calls by code, newest first"
        empty="None."
        rows=${data.items}
        keyOf=${(/** @type {RefusalCount} */ { code }) => code}
        columns=${columns}
      />
    <//>
  `;
}

const columns = [
  { name: 'Code', cell: (/** @type {RefusalCount} */ { code }) => html`<code>${code}</code>` },
  { name: 'Calls', numeric: true, cell: (/** @type {RefusalCount} */ { calls }) => count(calls) },
  { name: 'Last', cell: (/** @type {RefusalCount} */ { lastAt }) => away(Date.parse(lastAt)) },
  {
    name: 'What it means',
    place: /** @type {const} */ ('full'),
    cell: (/** @type {RefusalCount} */ { code, route }) =>
      meaningOf(code) ?? html`Last at <code>${route}</code>`,
  },
];
