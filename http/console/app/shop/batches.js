// @ts-check
import { html, useState } from '/console/preact.js';
import { usePages } from '../asking.js';
import { count } from '../format.js';
import { Badge, Failure, More, Panel, Table, When } from '../parts.js';
import { BatchDetails } from './batch-details.js';

/** @import { Batch } from '../answers.js' */

/** @param {Batch} batch */
const keyOf = ({ id }) => id;

/**
 * Shows the batches of a shop, also those that have ended. Shows nothing if there are none. While none runs, the list
 * is read once, because a repeated call would load a shop that was taken out of memory.
 * @param {{ path: string, running: number }} props of the shop, and how many of its batches have not ended
 */
export function Batches({ path, running }) {
  const listed = usePages(`${path}/batches?limit=8`, { ...(running > 0 ? { everyMs: 5_000 } : {}), keyOf });
  /** The batch whose details are shown. */
  const [lookedAt, lookAt] = useState('');
  if ((listed.items ?? []).length === 0 && listed.failure === undefined) return null;
  return html`
    <${Panel} title="Batches">
      <${Failure} failure=${listed.failure} />
      <${Table}
        caption="Batches, newest first"
        empty="None."
        rows=${listed.items}
        failure=${listed.failure}
        keyOf=${keyOf}
        columns=${[
          { name: 'Name', cell: (/** @type {Batch} */ { name }) => html`<span class="given">${name}</span>` },
          { name: 'State', cell: (/** @type {Batch} */ { status }) => html`<${Badge} state=${status} />` },
          { name: 'Written to', cell: (/** @type {Batch} */ batch) => html`<${Written} batch=${batch} />` },
          {
            name: 'Refused',
            numeric: true,
            cell: (/** @type {Batch} */ { progress }) => count(progress.refused),
          },
          {
            name: 'Made',
            cell: (/** @type {Batch} */ { createdAt }) => html`<${When} at=${createdAt} dated />`,
          },
          {
            name: 'More',
            cell: (/** @type {Batch} */ { id, name }) =>
              html`<button aria-label=${`Show ${name}`} onClick=${() => lookAt(id)}>Show</button>`,
          },
        ]}
      />
      <${More} next=${listed.next} isBusy=${listed.isBusy} />
    <//>
    ${lookedAt !== '' && html`<${BatchDetails} key=${lookedAt} path=${`${path}/batches/${lookedAt}`} onClose=${() => lookAt('')} onSteered=${listed.refresh} />`}
  `;
}

/** @param {{ batch: Batch }} props */
function Written({ batch: { name, recipients, progress } }) {
  const written = recipients - progress.waiting;
  const share = recipients === 0 ? 0 : written / recipients;
  return html`
    ${count(written)} of ${count(recipients)}
    <div class="meter good" role="meter" aria-label=${`Recipients of ${name} written to`} aria-valuemin="0"
      aria-valuemax=${recipients} aria-valuenow=${written}><i style=${{ width: `${share * 100}%` }}></i></div>
  `;
}
