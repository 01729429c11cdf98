// @ts-check
import { html, useState } from '/console/preact.js';
import { useAction, useAnswer } from '../asking.js';
import { submitted, textOf } from '../form.js';
import { count, milliseconds, shortId } from '../format.js';
import { Failure, Panel, RoleButton, Table, When } from '../parts.js';
import { call } from '../session.js';

/** @import { Answer } from '../asking.js' */
/** @import { Webhook, WebhookAttempt, WebhookAttempts } from '../answers.js' */

/** Events that one replay may name. */
const MOST_REPLAYED = 200;

/**
 * Results of a webhook's last attempts, and its dead letters.
 * @param {{ path: string, webhook: Webhook, onClose: () => void, onReplayed: () => void }} props `path`: of the tenant's webhooks
 */
export function Attempts({ path, webhook, onClose, onReplayed }) {
  const { id, url } = webhook;
  /** @type {Answer<WebhookAttempts>} */
  const { data, failure, refresh } = useAnswer(`${path}/${id}/attempts?limit=50`, { everyMs: 5_000 });
  const action = useAction();
  const [said, setSaid] = useState('');
  const replay = (/** @type {readonly string[]} */ eventIds) => void send({ eventIds });
  const send = (/** @type {object} */ body) =>
    action.run(async () => {
      const { replayed } = await call(`${path}/${id}/replay`, { method: 'POST', body });
      setSaid(`${count(replayed)} on their way.`);
      refresh();
      onReplayed();
    });
  const replaySince = (/** @type {SubmitEvent} */ event) =>
    void send({ since: new Date(textOf(submitted(event), 'since')).toISOString() });
  const dead = data?.deadLetters.toReversed();
  return html`
    <${Panel} title=${`Attempts of ${url}`} class="whole" more=${html`<button onClick=${onClose}>Close</button>`}>
      <${Failure} failure=${failure ?? action.failure} />
      <form class="filters" onSubmit=${replaySince}>
        <label>Events since <input name="since" type="datetime-local" step="1" required /></label>
        <${RoleButton} role="operate" disabled=${action.isBusy}>Replay the first 200<//>
        ${said !== '' && html`<p role="status">${said}</p>`}
      </form>
      <${Table} caption="Last attempts, newest first" empty="None is kept." rows=${data?.items} failure=${failure}
        columns=${COLUMNS} keyOf=${(/** @type {WebhookAttempt} */ { eventId, number, at }) => `${eventId} ${number} ${at}`} />
      ${
        dead !== undefined &&
        dead.length > 0 &&
        html`
          <${Table} tight caption="Events given up, newest first" empty="" rows=${dead} keyOf=${String} columns=${[
            { name: 'Event', cell: eventCell },
            {
              name: 'Replay',
              cell: (/** @type {string} */ eventId) =>
                html`<${RoleButton} role="operate" aria-label=${`Replay ${eventId}`} disabled=${action.isBusy} onClick=${() => replay([eventId])}>Replay<//>`,
            },
          ]} />
          <p><${RoleButton} role="operate" disabled=${action.isBusy} onClick=${() => replay(dead.slice(0, MOST_REPLAYED))}>${
            dead.length <= MOST_REPLAYED
              ? `Replay all ${count(dead.length)}`
              : `Replay the newest ${count(MOST_REPLAYED)} of ${count(dead.length)}`
          }<//></p>
        `
      }
    <//>
  `;
}

/** @param {string} eventId */
const eventCell = (eventId) => html`<code title=${eventId}>${shortId(eventId)}</code>`;

const COLUMNS = [
  { name: 'At', cell: (/** @type {WebhookAttempt} */ { at }) => html`<${When} at=${at} />` },
  { name: 'Event', cell: (/** @type {WebhookAttempt} */ { eventId }) => eventCell(eventId) },
  { name: 'Type', cell: (/** @type {WebhookAttempt} */ { type }) => html`<code>${type}</code>` },
  { name: 'Try', numeric: true, cell: (/** @type {WebhookAttempt} */ { number }) => count(number) },
  {
    name: 'Outcome',
    cell: (/** @type {WebhookAttempt} */ { status, error, isDead }) =>
      `${error ?? status}${isDead ? ', given up' : ''}`,
  },
  {
    name: 'Took',
    numeric: true,
    cell: (/** @type {WebhookAttempt} */ { durationMs }) => milliseconds(durationMs),
  },
];
