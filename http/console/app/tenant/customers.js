// @ts-check
import { html, useState } from '/console/preact.js';
import { useAction, usePages } from '../asking.js';
import { ErasePerson } from '../dialogs/erase-person-dialog.js';
import { submitted, textOf } from '../form.js';
import { Dialog, Failure, More, Panel, RoleButton, Table } from '../parts.js';
import { address } from '../route.js';
import { call } from '../session.js';

/** @typedef {{ phone: string }} Customer */

/** @param {Customer} customer */
const keyOf = ({ phone }) => phone;

/**
 * The numbers in a tenant's customer records.
 * @param {{ tenantId: string }} props
 */
export function Customers({ tenantId }) {
  const path = `/tenants/${tenantId}/customers`;
  /** Only numbers with these digits are shown. */
  const [part, setPart] = useState('');
  const [dialog, open] = useState(/** @type {'add' | 'erase' | undefined} */ (undefined));
  /** Numbers to hide: pages that were read before may still have them. */
  const [removed, setRemoved] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
  const listed = usePages(address(path, { limit: '12', q: part }).slice(1), { keyOf });
  const action = useAction();
  const remove = (/** @type {string} */ phone) =>
    void action.run(async () => {
      await call(path, { method: 'DELETE', body: { phones: [phone] } });
      setRemoved(new Set([...removed, phone]));
    });
  const find = (/** @type {Event} */ event) =>
    setPart(/** @type {HTMLInputElement} */ (event.currentTarget).value.replaceAll(/\D/g, '').slice(0, 15));
  const more = html`<span class="buttons">
    <input type="search" size="14" aria-label="Part of a number" placeholder="part of a number" onChange=${find} />
    <${RoleButton} role="admin" onClick=${() => open('add')}>Add<//>
    <${RoleButton} role="admin" onClick=${() => open('erase')}>Erase a person<//>
  </span>`;
  return html`
    <${Panel} title="Customers" more=${more}>
      <${Failure} failure=${listed.failure ?? action.failure} />
      <${Table} tight caption="Customers by number" empty=${part === '' ? 'None yet.' : 'No number matches.'} rows=${listed.items?.filter(({ phone }) => !removed.has(phone))}
        failure=${listed.failure} keyOf=${keyOf} columns=${[
          { name: 'Number', cell: keyOf },
          {
            name: 'Change',
            numeric: true,
            cell: (/** @type {Customer} */ { phone }) =>
              html`<${RoleButton} role="admin" aria-label=${`Remove ${phone}`} disabled=${action.isBusy} onClick=${() => remove(phone)}>Remove<//>`,
          },
        ]} />
      <${More} next=${listed.next} isBusy=${listed.isBusy} />
      ${
        dialog === 'add' &&
        html`<${AddCustomers} path=${path} onClose=${() => {
          open(undefined);
          setRemoved(new Set());
          listed.refresh();
        }} />`
      }
      ${dialog === 'erase' && html`<${ErasePerson} tenantId=${tenantId} onClose=${() => open(undefined)} />`}
    <//>
  `;
}

/** @param {{ path: string, onClose: () => void }} props */
function AddCustomers({ path, onClose }) {
  const action = useAction();
  const submit = async (/** @type {SubmitEvent} */ event) => {
    const phones = textOf(submitted(event), 'phones')
      .split(/[\s,;]+/)
      .filter((each) => each !== '');
    const added = await action.run(() => call(path, { method: 'POST', body: { phones } }));
    if (added) onClose();
  };
  return html`
    <${Dialog} title="Add customers" onClose=${onClose}>
      <form class="fields" onSubmit=${submit}>
        <label>Numbers <textarea name="phones" required rows="8" placeholder="+41797654321, one a line, 1,000 at most"></textarea></label>
        <p class="hint">Customers are known recipients: they do not count as cold ones.</p>
        <${Failure} failure=${action.failure} />
        <footer><button class="primary" disabled=${action.isBusy}>Add customers</button></footer>
      </form>
    <//>
  `;
}
