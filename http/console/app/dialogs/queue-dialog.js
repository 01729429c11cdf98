// @ts-check
import { html, useState } from '/console/preact.js';
import { useAction } from '../asking.js';
import { submitted, withoutSigns } from '../form.js';
import { count } from '../format.js';
import { Dialog, Failure } from '../parts.js';
import { call } from '../session.js';

const DAY_MS = 86_400_000;

/**
 * Cancels the waiting messages of a shop: those that match the filters, or all.
 * @param {{ path: string, onClose: () => void }} props of the shop
 */
export function QueueDialog({ path, onClose }) {
  const action = useAction();
  const [cancelled, setCancelled] = useState(/** @type {number | undefined} */ (undefined));
  const submit = (/** @type {SubmitEvent} */ event) => {
    const body = Object.fromEntries(
      [...submitted(event)].map(([name, value]) => [name, String(value)]).filter(([, value]) => value !== ''),
    );
    // A prefix may end with a blank; without it more would match.
    if (body.to !== undefined) body.to = body.to.trim();
    if (body.to?.startsWith('+')) body.to = withoutSigns(body.to);
    const { acceptedBefore } = body;
    if (acceptedBefore !== undefined) body.acceptedBefore = new Date(acceptedBefore).toISOString();
    // A time in the future matches all messages, also if the clock of this machine is slow.
    if (Object.keys(body).length === 0) body.acceptedBefore = new Date(Date.now() + DAY_MS).toISOString();
    void action.run(async () => {
      const answer = await call(`${path}/queue/cancel`, { method: 'POST', body });
      setCancelled(answer.cancelled);
    });
  };
  return html`
    <${Dialog} title="Cancel the queue" onClose=${onClose}>
      <form class="fields" onSubmit=${submit}>
        <p>Messages that wait end as failed, with the reason CANCELLED. A message that is being sent is not cancelled.</p>
        <label>Idempotency key begins with <input name="idempotencyKeyPrefix" maxlength="128" autocomplete="off" placeholder="campaign-7-" /></label>
        <label>To <input name="to" autocomplete="off" placeholder="+41797654321, or a group's id" /></label>
        <label>Accepted before <input name="acceptedBefore" type="datetime-local" step="1" /></label>
        <p class="hint">A message is cancelled if it matches every field that you fill in. If you fill in none, all are cancelled.</p>
        <${Failure} failure=${action.failure} />
        ${cancelled !== undefined && html`<p role="status">${cancelled === 1 ? '1 message is cancelled.' : `${count(cancelled)} messages are cancelled.`}</p>`}
        <footer>
          ${cancelled !== undefined && html`<button type="button" onClick=${onClose}>Done</button>`}
          <button class="danger" disabled=${action.isBusy}>Cancel messages</button>
        </footer>
      </form>
    <//>
  `;
}
