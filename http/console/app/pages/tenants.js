// @ts-check
import { html, useState } from '/console/preact.js';
import { useAction, usePages } from '../asking.js';
import { FilterField, Filters } from '../filters.js';
import { submitted, textOf } from '../form.js';
import { day } from '../format.js';
import { Badge, Dialog, Failure, More, RoleButton, Table } from '../parts.js';
import { address, useTitle } from '../route.js';
import { call } from '../session.js';
import { PlanField } from '../tenant/plan.js';

/** @import { Tenant } from '../answers.js' */

/** @param {Tenant} tenant */
const keyOf = ({ id }) => id;

/** @param {{ query: URLSearchParams }} props */
export function Tenants({ query }) {
  const q = query.get('q') ?? '';
  const tenants = usePages(address('/tenants', { q, limit: '50' }).slice(1), { everyMs: 5_000, keyOf });
  const [isCreating, setCreating] = useState(false);
  useTitle('Tenants');
  return html`
    <h1 tabindex="-1">Tenants</h1>
    <${Filters} place="/tenants">
      <label>Search <${FilterField} type="search" name="q" value=${q} placeholder="name" /></label>
      <${RoleButton} role="admin" type="button" class="primary" onClick=${() => setCreating(true)}>New tenant<//>
    <//>
    <${Failure} failure=${tenants.failure} />
    <section class="panel">
      <${Table} caption="Tenants, newest first" empty="No tenant matches." rows=${tenants.items} failure=${tenants.failure} columns=${columns}
        keyOf=${keyOf} />
      <${More} next=${tenants.next} isBusy=${tenants.isBusy} />
    </section>
    ${isCreating && html`<${NewTenant} onClose=${() => setCreating(false)} />`}
  `;
}

const columns = [
  {
    name: 'Tenant',
    cell: (/** @type {Tenant} */ { id, name }) => html`<a href=${address(`/tenants/${id}`)}>${name}</a>`,
  },
  { name: 'Plan', cell: (/** @type {Tenant} */ { plan }) => plan },
  {
    name: 'State',
    cell: (/** @type {Tenant} */ { active }) => (active ? 'active' : html`<${Badge} state="inactive" />`),
  },
  {
    name: 'Owner',
    cell: (/** @type {Tenant} */ { owner }) => html`<span class="given">${owner?.name ?? '–'}</span>`,
  },
  {
    name: 'Since',
    cell: (/** @type {Tenant} */ { createdAt }) => html`<span class="day">${day(createdAt)}</span>`,
  },
  {
    name: 'Id',
    place: /** @type {const} */ ('wide'),
    cell: (/** @type {Tenant} */ { id }) => html`<code class="wrap whole-id">${id}</code>`,
  },
];

/** @param {{ onClose: () => void }} props */
function NewTenant({ onClose }) {
  const action = useAction();
  const submit = (/** @type {SubmitEvent} */ event) => {
    const given = submitted(event);
    const owner = textOf(given, 'owner');
    void action.run(async () => {
      const tenant = await call('/tenants', {
        method: 'POST',
        body: {
          name: textOf(given, 'name'),
          plan: given.get('plan'),
          ...(owner === '' ? {} : { owner: { name: owner, notificationNumber: null } }),
        },
      });
      location.hash = address(`/tenants/${tenant.id}`);
    });
  };
  return html`
    <${Dialog} title="New tenant" onClose=${onClose}>
      <form class="fields" onSubmit=${submit}>
        <label>Name <input name="name" required maxlength="200" /></label>
        <${PlanField} />
        <label>Owner <input name="owner" maxlength="200" /></label>
        <p class="hint">Without an owner the tenant cannot create shops.</p>
        <${Failure} failure=${action.failure} />
        <footer><button class="primary" disabled=${action.isBusy}>Create tenant</button></footer>
      </form>
    <//>
  `;
}
