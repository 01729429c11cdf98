// @ts-check
import { html, useState } from '/console/preact.js';
import { useAction } from '../asking.js';
import { Dialog, Failure } from '../parts.js';
import { call } from '../session.js';
import { Erasure } from '../tenant/erasure.js';

/**
 * Erases one person who wrote to a tenant's shops: asks who it is, then if it is meant, and then shows the progress.
 * @param {{ tenantId: string, onClose: () => void }} props
 */
export function ErasePerson({ tenantId, onClose }) {
  const action = useAction();
  const [personId, setPersonId] = useState('');
  const [step, setStep] = useState(/** @type {'who' | 'sure' | 'erasing' | 'erased'} */ ('who'));
  const erase = () =>
    action.run(async () => {
      const path = `/tenants/${tenantId}/people/${encodeURIComponent(personId.trim())}`;
      const { deleted } = await call(path, { method: 'DELETE', body: {} });
      setStep(deleted ? 'erased' : 'erasing');
    });
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (step === 'sure') void erase();
    else setStep('sure');
  };
  const isAsking = step === 'who' || step === 'sure';
  return html`
    <${Dialog} title="Erase a person" onClose=${onClose}>
      <form class="fields" onSubmit=${submit}>
        ${step === 'who' && html`<${WhoIsIt} personId=${personId} onInput=${setPersonId} />`}
        ${step === 'sure' && html`<${AreYouSure} personId=${personId} />`}
        ${step === 'erasing' && html`<${Erasure} tenantId=${tenantId} />`}
        ${step === 'erased' && html`<p role="status">The person is erased.</p>`}
        <${Failure} failure=${action.failure} />
        <footer>
          ${step === 'who' && html`<button class="primary">Continue</button>`}
          ${step === 'sure' && html`<button type="button" onClick=${() => setStep('who')}>Back</button>`}
          ${step === 'sure' && html`<button class="danger" disabled=${action.isBusy}>Erase them for good</button>`}
          ${!isAsking && html`<button type="button" class="primary" onClick=${onClose}>Done</button>`}
        </footer>
      </form>
    <//>
  `;
}

/** @param {{ personId: string, onInput: (personId: string) => void }} props */
function WhoIsIt({ personId, onInput }) {
  const read = (/** @type {Event} */ event) =>
    onInput(/** @type {HTMLInputElement} */ (event.currentTarget).value);
  return html`
    <label>Person id <input required pattern=".*\\S.*" maxlength="100" autocomplete="off" spellcheck="false" value=${personId} onInput=${read} /></label>
    <p class="hint">It is the fromId of the messages that they wrote. The tenant can read it there.</p>
  `;
}

/** @param {{ personId: string }} props */
function AreYouSure({ personId }) {
  return html`
    <p>Person <code class="wrap">${personId.trim()}</code>, in all shops of this tenant.</p>
    <p>Their messages, name and number are erased, and so are the texts that shops wrote to them. An opt-out stays. This cannot be undone.</p>
  `;
}
