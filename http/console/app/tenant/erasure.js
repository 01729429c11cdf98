// @ts-check
import { html, useEffect, useState } from '/console/preact.js';
import { useAnswer } from '../asking.js';
import { count } from '../format.js';
import { Failure } from '../parts.js';
/** @import { Answer } from '../asking.js' */
/** @import { RunningErasure } from '../answers.js' */

/**
 * Shows the progress of erasing a tenant, its shops or people, until nothing is left.
 * @param {{ tenantId: string }} props
 */
export function Erasure({ tenantId }) {
  const [isOver, setOver] = useState(false);
  /** @type {Answer<RunningErasure>} */
  const { data, failure } = useAnswer(isOver ? undefined : `/tenants/${tenantId}/erasure`, {
    everyMs: 1_000,
  });
  const isGone = failure !== undefined && 'status' in failure && failure.status === 404;
  useEffect(() => {
    if (isGone) setOver(true);
  }, [isGone]);
  if (!isOver && data === undefined) return html`<${Failure} failure=${isGone ? undefined : failure} />`;
  return html`
    <div class=${`status-line ${isOver ? 'good' : 'warn'}`} role="status">
      <p>${isOver ? 'The erasure is done: nothing is left.' : said(data)}</p>
    </div>
  `;
}

/** @param {RunningErasure | undefined} erasure */
function said(erasure) {
  if (erasure === undefined) return '';
  const { wholeTenant, shopsLeft, peopleLeft } = erasure;
  const shops = `${count(shopsLeft)} ${shopsLeft === 1 ? 'shop is' : 'shops are'} left`;
  if (wholeTenant) return `The whole tenant is being erased: ${shops}.`;
  // A node of 0.2.0 names no people.
  if (!peopleLeft) return `Shops are being erased: ${shops}.`;
  const people = `${count(peopleLeft)} ${peopleLeft === 1 ? 'person is' : 'people are'} left`;
  return shopsLeft === 0
    ? `People are being erased: ${people}.`
    : `Shops and people are being erased: ${shops}, ${people}.`;
}
