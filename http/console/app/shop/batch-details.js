// @ts-check
import { html, useState } from '/console/preact.js';
import { useAction, useAnswer } from '../asking.js';
import { meaningOf } from '../codes.js';
import { ConfirmDialog } from '../dialogs/confirm-dialog.js';
import { count, words } from '../format.js';
import { Badge, Facts, Failure, Panel, RoleButton, Table, When } from '../parts.js';
import { call } from '../session.js';
import { BatchForecast } from './batch-forecast.js';

/** @import { Answer } from '../asking.js' */
/** @import { Batch } from '../answers.js' */

/** Each answer holds a forecast, which costs the service more than other answers do. */
const POLL_MS = 10_000;
const ACTIVE = ['waiting', 'running'];
const HELD = ['paused', 'stopped'];

/** Why a batch stopped by itself. */
const STOPPED = /** @type {Record<string, string>} */ ({
  RECIPIENTS_OPTED_OUT: 'Three of the last 50 people who got a message wrote STOP.',
  NUMBER_WARNED: 'The network warned the number.',
  NUMBER_RESTRICTED: 'The network restricted the number.',
  RATE_SIGNALS: 'The network asked the number twice in a day to send less.',
  SESSION_LOST: 'The session was lost permanently, or the network banned the number.',
});

/**
 * One batch: its progress, why people got nothing, and when the rest will be sent.
 * @param {{ path: string, onClose: () => void, onSteered: () => void }} props
 */
export function BatchDetails({ path, onClose, onSteered }) {
  /** @type {Answer<Batch>} */
  const { data: batch, failure, refresh } = useAnswer(path, { everyMs: POLL_MS });
  const action = useAction();
  const [isCancelling, setCancelling] = useState(false);
  const steer = async (/** @type {string} */ order) => {
    await call(`${path}/${order}`, { method: 'POST', body: {} });
    refresh();
    onSteered();
  };
  const status = batch?.status ?? '';
  const isOver = ![...ACTIVE, ...HELD].includes(status);
  return html`
    <${Panel} title=${batch === undefined ? 'Batch' : `Batch “${batch.name}”`} more=${html`<button onClick=${onClose}>Close</button>`}>
      <${Failure} failure=${failure ?? action.failure} />
      ${
        batch !== undefined &&
        html`
          ${
            !isOver &&
            html`
              <div class="controls" role="group" aria-label="Control this batch">
                ${
                  ACTIVE.includes(status)
                    ? html`<${RoleButton} role="operate" disabled=${action.isBusy} onClick=${() => action.run(() => steer('pause'))}>Pause batch<//>`
                    : html`<${RoleButton} role="operate" class="primary" disabled=${action.isBusy} onClick=${() => action.run(() => steer('resume'))}>Resume batch<//>`
                }
                <${RoleButton} role="operate" class="danger" disabled=${action.isBusy} onClick=${() => setCancelling(true)}>Cancel batch<//>
              </div>
            `
          }
          <${Facts} facts=${factsOf(batch)} />
          ${batch.forecast !== null && batch.forecast.days.length > 0 && html`<${BatchForecast} forecast=${batch.forecast} timeZone=${batch.quietHours?.timeZone ?? 'UTC'} />`}
          ${Object.keys(batch.codes).length > 0 && html`<${Codes} codes=${batch.codes} />`}
        `
      }
      ${
        isCancelling &&
        batch !== undefined &&
        html`
          <${ConfirmDialog} title="Cancel batch" label="Cancel it for good" work=${() => steer('cancel')} onClose=${() => setCancelling(false)}>
            <p>${count(batch.progress.waiting)} people of <b>${batch.name}</b> will get no message. Its messages that wait end as failed, with the reason CANCELLED. A message that is being sent is not cancelled. This cannot be undone.</p>
          <//>
        `
      }
    <//>
  `;
}

/** @param {Batch} batch */
function factsOf({ status, stopped, progress, recipients, share, quietHours, ...times }) {
  const told = Object.entries(progress)
    .filter(([, value]) => value > 0)
    .map(([name, value]) => `${count(value)} ${name}`);
  return [
    [
      'State',
      html`<${Badge} state=${status} />${stopped !== null && html` ${STOPPED[stopped.reason] ?? words(stopped.reason)} <${When} at=${stopped.at} relative />`}`,
    ],
    ['Recipients', `${count(recipients)} accepted: ${told.join(', ')}`],
    ['Share of each cap', `${count(share * 100)} %`],
    [
      'Quiet hours',
      quietHours === null ? 'none' : `${quietHours.from} to ${quietHours.to}, ${quietHours.timeZone}`,
    ],
    ['Not before', html`<${When} at=${times.notBefore} dated />`],
    ['Not after', html`<${When} at=${times.notAfter} dated />`],
    ['Started', html`<${When} at=${times.startedAt} dated />`],
    ['Ended', html`<${When} at=${times.endedAt} dated />`],
  ];
}

/** @typedef {[code: string, people: number]} CodeRow */

/** @param {{ codes: Batch['codes'] }} props */
function Codes({ codes }) {
  return html`
    <${Table}
      caption="Why people got nothing, by code"
      empty=""
      rows=${Object.entries(codes).sort(([, one], [, other]) => other - one)}
      keyOf=${(/** @type {CodeRow} */ [code]) => code}
      columns=${[
        { name: 'Code', cell: (/** @type {CodeRow} */ [code]) => html`<code>${code}</code>` },
        { name: 'People', numeric: true, cell: (/** @type {CodeRow} */ [, people]) => count(people) },
        {
          name: 'What it means',
          place: /** @type {const} */ ('full'),
          cell: (/** @type {CodeRow} */ [code]) => meaningOf(code) ?? '–',
        },
      ]}
    />
  `;
}
