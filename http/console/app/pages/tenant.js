// @ts-check
import { html, useState } from '/console/preact.js';
import { useAction, useAnswer } from '../asking.js';
import { ChangeAccount } from '../dialogs/account-dialog.js';
import { ConfirmDialog } from '../dialogs/confirm-dialog.js';
import { submitted, textOf } from '../form.js';
import { day } from '../format.js';
import { Badge, Dialog, Facts, Failure, Panel, RoleButton, Table } from '../parts.js';
import { address, shopAddress, useTitle } from '../route.js';
import { call } from '../session.js';
import { ofActor } from '../shop/shop-status.js';
import { Customers } from '../tenant/customers.js';
import { Erasure } from '../tenant/erasure.js';
import { Keys } from '../tenant/keys.js';
import { ChangePlan } from '../tenant/plan.js';
import { Refusals } from '../tenant/refusals.js';
import { Webhooks } from '../tenant/webhooks.js';
/** @import { Answer } from '../asking.js' */
/** @import { InspectedTenant, TenantShop } from '../answers.js' */

/** @param {{ tenantId: string, query: URLSearchParams }} props `erasing` in the query: `tenant` or `shops` are being erased */
export function Tenant({ tenantId, query }) {
  const erasing = query.get('erasing');
  const path = `/tenants/${tenantId}`;
  /** @type {Answer<InspectedTenant>} */
  const {
    data: tenant,
    failure,
    refresh,
  } = useAnswer(erasing === 'tenant' ? undefined : path, { everyMs: 10_000 });
  const action = useAction();
  const [dialog, open] = useState(/** @type {'plan' | 'account' | 'erase' | undefined} */ (undefined));
  const close = () => {
    open(undefined);
    refresh();
  };
  useTitle(tenant?.name ?? 'Tenant');
  const change = (/** @type {string} */ method, /** @type {string} */ to, /** @type {object} */ body) =>
    action.run(async () => {
      await call(to, { method, body });
      refresh();
    });
  const erase = async () => {
    const { deleted } = await call(path, { method: 'DELETE', body: {} });
    location.hash = deleted ? address('/tenants') : address(path, { erasing: 'tenant' });
  };
  return html`
    <nav class="trail" aria-label="Where this is"><a href=${address('/tenants')}>Tenants</a></nav>
    <h1 tabindex="-1">${tenant?.name ?? 'Tenant'}</h1>
    <${Failure} failure=${failure ?? action.failure} />
    ${erasing !== null && html`<${Erasure} tenantId=${tenantId} />`}
    ${
      tenant !== undefined &&
      html`
        <${Trouble} actor=${tenant.actor} />
        <div class="controls" role="group" aria-label="Control this tenant">
          ${tenant.actor.status !== 'active' && html`<${RoleButton} role="operate" class="primary" disabled=${action.isBusy} onClick=${() => change('POST', `${path}/resume`, {})}>Resume<//>`}
          <${RoleButton} role="admin" disabled=${action.isBusy} onClick=${() => change('PATCH', path, { active: !tenant.active })}>${tenant.active ? 'Deactivate tenant' : 'Activate tenant'}<//>
          <${RoleButton} role="admin" onClick=${() => open('plan')}>Change plan<//>
          <${RoleButton} role="admin" onClick=${() => open('account')}>Change account<//>
          <${RoleButton} role="admin" class="danger" onClick=${() => open('erase')}>Erase tenant<//>
          <a class="button" href=${address('/requests', { tenant: tenantId })}>Its requests</a>
        </div>
        <${Refusals} tenantId=${tenantId} />
        <div class="columns">
          <${Keys} tenantId=${tenantId} />
          <${Webhooks} tenantId=${tenantId} />
          <div class="stack">
            <${TenantShops} tenantId=${tenantId} />
            <${Panel} title="Account"><${Facts} facts=${factsOf(tenant)} /><//>
          </div>
          <${Customers} tenantId=${tenantId} />
        </div>
        ${dialog === 'account' && html`<${ChangeAccount} tenant=${tenant} onClose=${close} />`}
        ${dialog === 'plan' && html`<${ChangePlan} tenantId=${tenantId} plan=${tenant.plan} onClose=${close} />`}
        ${
          dialog === 'erase' &&
          html`
            <${ConfirmDialog} title="Erase this tenant" label="Erase it for good" typed=${tenant.name} work=${erase} onClose=${() => open(undefined)}>
              <p>All its sessions end. Its shops, keys, messages, customers and its part of the request log are erased. This cannot be undone.</p>
            <//>
          `
        }
      `
    }
  `;
}

/** @param {{ actor: InspectedTenant['actor'] }} props */
function Trouble({ actor }) {
  const said = ofActor(actor);
  if (said === undefined) return null;
  const { tone, text, todo } = said;
  return html`
    <div class=${`status-line ${tone}`} role="status">
      <${Badge} state=${actor.status} />
      <p>${text} Until this tenant runs again, its calls wait or are refused. ${todo !== undefined && html`<strong>${todo}</strong>`}</p>
    </div>
  `;
}

/** @param {InspectedTenant} tenant */
function factsOf({ id, plan, active, owner, settings, poolFallback, platform, inbound, createdAt }) {
  const tuned = Object.entries(settings).filter(([, value]) => value !== null && value !== undefined);
  return [
    ['Id', html`<code class="wrap">${id}</code>`],
    ['Plan', plan],
    ['State', active ? 'active' : html`<${Badge} state="inactive" />`],
    ['Owner', owner?.name ?? 'none'],
    ['Notified at', owner?.notificationNumber ?? '–'],
    ['Tuned', tuned.length === 0 ? 'nothing' : tuned.map(([name, value]) => `${name} ${value}`).join(', ')],
    ['Pool fallback', poolFallback ? 'yes' : 'no'],
    ['Platform', platform ? 'yes' : 'no'],
    ['Inbound', inbound],
    ['Since', day(createdAt)],
  ];
}

/** @param {{ tenantId: string }} props */
function TenantShops({ tenantId }) {
  const [page, setPage] = useState(1);
  const [isImporting, setImporting] = useState(false);
  /** @type {Answer<{ items: TenantShop[], total: number }>} */
  const { data, failure, refresh } = useAnswer(`/tenants/${tenantId}/shops?page=${page}&limit=20`, {
    everyMs: 5_000,
  });
  const add = html`<${RoleButton} role="admin" onClick=${() => setImporting(true)}>Import shop<//>`;
  return html`
    <${Panel} title="Shops" more=${add}>
      <${Failure} failure=${failure} />
      <${Table}
        caption="Shops of this tenant, newest first"
        empty="None yet."
        rows=${data?.items}
        failure=${failure}
        keyOf=${(/** @type {TenantShop} */ { id }) => id}
        columns=${[
          {
            name: 'Shop',
            cell: (/** @type {TenantShop} */ { id, name }) =>
              html`<a href=${shopAddress({ tenantId, shopId: id })}>${name}</a>`,
          },
          {
            name: 'Channel',
            cell: (/** @type {TenantShop} */ { channelStatus }) =>
              html`<${Badge} state=${channelStatus.msgapp ?? 'never connected'} />`,
          },
          {
            name: 'Since',
            cell: (/** @type {TenantShop} */ { createdAt }) =>
              html`<span class="day">${day(createdAt)}</span>`,
          },
        ]}
      />
      ${data !== undefined && data.total > 20 && html`<${Pager} page=${page} last=${Math.ceil(data.total / 20)} onPage=${setPage} />`}
      ${
        isImporting &&
        html`<${ImportShop} tenantId=${tenantId} onClose=${() => {
          setImporting(false);
          refresh();
        }} />`
      }
    <//>
  `;
}

/** @param {{ page: number, last: number, onPage: (page: number) => void }} props */
function Pager({ page, last, onPage }) {
  return html`
    <p class="pager">
      <button disabled=${page === 1} onClick=${() => onPage(page - 1)}>Newer</button>
      <span>${page} of ${last}</span>
      <button disabled=${page === last} onClick=${() => onPage(page + 1)}>Older</button>
    </p>
  `;
}

/** @param {{ tenantId: string, onClose: () => void }} props */
function ImportShop({ tenantId, onClose }) {
  const action = useAction();
  const submit = async (/** @type {SubmitEvent} */ event) => {
    const body = { name: textOf(submitted(event), 'name') };
    const isMade = await action.run(() => call(`/tenants/${tenantId}/shops`, { method: 'POST', body }));
    if (isMade) onClose();
  };
  return html`
    <${Dialog} title="Import shop" onClose=${onClose}>
      <form class="fields" onSubmit=${submit}>
        <label>Name <input name="name" required maxlength="100" /></label>
        <${Failure} failure=${action.failure} />
        <footer><button class="primary" disabled=${action.isBusy}>Import shop</button></footer>
      </form>
    <//>
  `;
}
