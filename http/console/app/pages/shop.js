// @ts-check
import { html, useState } from '/console/preact.js';
import { useAction, useAnswer } from '../asking.js';
import { ConfirmDialog } from '../dialogs/confirm-dialog.js';
import { ConnectDialog } from '../dialogs/connect-dialog.js';
import { EgressDialog } from '../dialogs/egress-dialog.js';
import { QueueDialog } from '../dialogs/queue-dialog.js';
import { useEvents } from '../live.js';
import { Failure, RoleButton } from '../parts.js';
import { address, useTitle } from '../route.js';
import { call } from '../session.js';
import { ShopDetails } from '../shop/shop-details.js';
import { shopStatus } from '../shop/shop-status.js';
import { Refusals } from '../tenant/refusals.js';
import { States } from './shops.js';
/** @import { Answer } from '../asking.js' */
/** @import { InspectedShop, Machine } from '../answers.js' */

/** @param {{ tenantId: string, shopId: string }} props */
export function Shop({ tenantId, shopId }) {
  const path = `/actors/${tenantId}/${shopId}`;
  /** @type {Answer<InspectedShop>} */
  const { data: shop, failure, refresh } = useAnswer(path, { everyMs: 2_000 });
  /** @type {Answer<{ items: Machine[] }>} */
  const { data: machines } = useAnswer('/machines');
  /** @type {Answer<{ name: string }>} */
  const { data: tenant } = useAnswer(`/tenants/${tenantId}`);
  const [dialog, open] = useState(
    /** @type {'connect' | 'queue' | 'egress' | 'erase' | undefined} */ (undefined),
  );
  const close = () => {
    open(undefined);
    refresh();
  };
  const action = useAction();
  useEvents(
    (event) => {
      if ('shopId' in event && event.shopId === shopId) refresh();
    },
    [shopId],
  );
  useTitle(shop?.name ?? 'Shop');
  const steer = (/** @type {string} */ what) =>
    action.run(async () => {
      await call(`${path}/${what}`, { method: 'POST', body: {} });
      // Viewing a shop loads it, so leave its page.
      if (what === 'passivate') location.hash = address(`/tenants/${tenantId}`);
      else refresh();
    });
  const erase = async () => {
    const { deleted } = await call(`/tenants/${tenantId}/shops/${shopId}`, { method: 'DELETE', body: {} });
    location.hash = address(`/tenants/${tenantId}`, { erasing: deleted ? '' : 'shops' });
  };
  return html`
    <nav class="trail" aria-label="Where this is">
      <a href=${address('/shops')}>Shops</a> / <a href=${address(`/tenants/${tenantId}`)}>${tenant?.name ?? 'Tenant'}</a>
    </nav>
    <h1 tabindex="-1">${shop?.name ?? 'Shop'}</h1>
    <${Failure} failure=${failure ?? action.failure} />
    ${
      shop !== undefined &&
      html`
        <${StatusLine} shop=${shop} />
        <${Controls} shop=${shop} isBusy=${action.isBusy} steer=${steer} open=${open} />
        <${Refusals} tenantId=${tenantId} />
        <${ShopDetails} shop=${shop} machines=${machines?.items} path=${path} />
      `
    }
    ${dialog === 'connect' && html`<${ConnectDialog} path=${path} onClose=${close} />`}
    ${dialog === 'queue' && html`<${QueueDialog} path=${path} onClose=${close} />`}
    ${dialog === 'egress' && html`<${EgressDialog} path=${`/tenants/${tenantId}/shops/${shopId}`} egress=${shop?.details?.egress ?? null} onClose=${close} />`}
    ${
      dialog === 'erase' &&
      html`
        <${ConfirmDialog} title="Erase this shop" label="Erase it for good" typed=${shop?.name ?? shopId} work=${erase} onClose=${() => open(undefined)}>
          <p>Its session ends. Its credentials, messages and events are erased. This cannot be undone.</p>
        <//>
      `
    }
  `;
}

/** @param {{ shop: InspectedShop }} props */
function StatusLine({ shop }) {
  const { tone, text, todo } = shopStatus(shop);
  return html`
    <div class=${`status-line ${tone}`} role="status">
      <${States} shop=${shop} />
      <p>${text} ${todo !== undefined && html`<strong>${todo}</strong>`}</p>
    </div>
  `;
}

/** @param {{ shop: InspectedShop, isBusy: boolean, steer: (what: string) => void, open: (dialog: 'connect' | 'queue' | 'egress' | 'erase') => void }} props */
function Controls({ shop, isBusy, steer, open }) {
  const isStill = shop.details?.pacing.heldByOperator || shop.status !== 'active';
  // A banned shop connects by itself when the ban ends. It cannot log in before.
  const mayEnd = ['connected', 'banned'].includes(shop.details?.channel.state ?? '');
  return html`
    <div class="controls" role="group" aria-label="Control this shop">
      ${
        mayEnd
          ? html`<${RoleButton} role="operate" disabled=${isBusy} onClick=${() => steer('disconnect')}>Disconnect<//>`
          : html`<${RoleButton} role="operate" class="primary" disabled=${isBusy} onClick=${() => open('connect')}>Connect<//>`
      }
      ${
        isStill
          ? html`<${RoleButton} role="operate" class="primary" disabled=${isBusy} onClick=${() => steer('resume')}>Resume<//>`
          : html`<${RoleButton} role="operate" disabled=${isBusy} onClick=${() => steer('pause')}>Pause<//>`
      }
      <${RoleButton} role="operate" disabled=${isBusy} title="End messages that wait" onClick=${() => open('queue')}>Cancel queue<//>
      <${RoleButton} role="admin" disabled=${isBusy} title="The proxy of all its connections" onClick=${() => open('egress')}>Egress<//>
      <${RoleButton} role="operate" disabled=${isBusy} title="Forget what is in memory and load it again" onClick=${() => steer('restart')}>Restart<//>
      <${RoleButton} role="operate" disabled=${isBusy} title="Take an idle shop out of memory" onClick=${() => steer('passivate')}>Passivate<//>
      <${RoleButton} role="admin" class="danger" disabled=${isBusy} title="End its session and erase all that is stored of it" onClick=${() => open('erase')}>Erase<//>
    </div>
  `;
}
