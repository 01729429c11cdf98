// @ts-check
import { html, useState } from '/console/preact.js';
import { useAction } from '../asking.js';
import { submitted } from '../form.js';
import { Dialog, Failure } from '../parts.js';
import { call } from '../session.js';

const PLANS = ['free', 'starter', 'growth', 'scale'];

/** @param {{ chosen?: string }} props */
export function PlanField({ chosen = 'free' }) {
  const [plan, setPlan] = useState(chosen);
  const choose = (/** @type {Event} */ event) =>
    setPlan(/** @type {HTMLSelectElement} */ (event.currentTarget).value);
  return html`
    <label>Plan <select name="plan" value=${plan} onChange=${choose}>${PLANS.map((each) => html`<option value=${each}>${each}</option>`)}</select></label>
  `;
}

/** @param {{ tenantId: string, plan: string, onClose: () => void }} props */
export function ChangePlan({ tenantId, plan, onClose }) {
  const action = useAction();
  const submit = async (/** @type {SubmitEvent} */ event) => {
    const body = { plan: submitted(event).get('plan') };
    const isChanged = await action.run(() => call(`/tenants/${tenantId}`, { method: 'PATCH', body }));
    if (isChanged) onClose();
  };
  return html`
    <${Dialog} title="Change plan" onClose=${onClose}>
      <form class="fields" onSubmit=${submit}>
        <${PlanField} chosen=${plan} />
        <p class="hint">It applies from the next call on. If a smaller plan allows fewer shops, the existing ones stay. Only new ones are refused.</p>
        <${Failure} failure=${action.failure} />
        <footer><button class="primary" disabled=${action.isBusy}>Change plan</button></footer>
      </form>
    <//>
  `;
}
