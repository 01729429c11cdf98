// @ts-check
import { html } from '/console/preact.js';
import { useAction, usePages } from '../asking.js';
import { Failure, More, Panel, RoleButton, Table, When } from '../parts.js';
import { call } from '../session.js';

/** @typedef {{ id: string, to: string, sendAt: string, notAfter: string, createdAt: string }} ScheduledSend */

/** @param {ScheduledSend} send */
const keyOf = ({ id }) => id;

/**
 * Shows a shop's scheduled sends, each with a button that cancels it.
 * @param {{ path: string }} props of the shop
 */
export function Scheduled({ path }) {
  const listed = usePages(`${path}/scheduled?limit=12`, { everyMs: 5_000, keyOf });
  const action = useAction();
  const cancel = (/** @type {string} */ id) =>
    action.run(async () => {
      await call(`${path}/scheduled/${id}`, { method: 'DELETE', body: {} });
      listed.refresh();
    });
  return html`
    <${Panel} title="Scheduled">
      <${Failure} failure=${listed.failure ?? action.failure} />
      <${Table}
        caption="Sends that wait for their time, newest first"
        empty="None."
        rows=${listed.items}
        failure=${listed.failure}
        keyOf=${keyOf}
        columns=${[
          {
            name: 'At',
            cell: (/** @type {ScheduledSend} */ { sendAt }) => html`<${When} at=${sendAt} dated />`,
          },
          { name: 'To', cell: (/** @type {ScheduledSend} */ { to }) => to },
          {
            name: 'Not after',
            cell: (/** @type {ScheduledSend} */ { notAfter }) => html`<${When} at=${notAfter} dated />`,
          },
          {
            name: 'End',
            cell: (/** @type {ScheduledSend} */ { id }) =>
              html`<${RoleButton} role="operate" disabled=${action.isBusy} onClick=${() => cancel(id)}>Cancel<//>`,
          },
        ]}
      />
      <${More} next=${listed.next} isBusy=${listed.isBusy} />
    <//>
  `;
}
