// @ts-check
import { html, useEffect, useState } from '/console/preact.js';
import { useAction, useAnswer } from './asking.js';
import { ConnectDialog } from './connect-dialog.js';
import { EgressDialog } from './egress-dialog.js';
import { useEvents } from './live.js';
import { Dialog, Failure, RoleButton } from './parts.js';
import { Refusals } from './refusals.js';
import { address } from './route.js';
import { call } from './session.js';
import { ShopDetails } from './shop-details.js';
import { shopStatus } from './shop-status.js';
import { States } from './shops.js';
/** @import { Answer } from './asking.js' */
/** @import { InspectedShop, Machine } from './answers.js' */

/** @param {{ tenantId: string, shopId: string }} props */
export function Shop({ tenantId, shopId }) {
  const path = `/actors/${tenantId}/${shopId}`;
  /** @type {Answer<InspectedShop>} */
  const { data: shop, failure, refresh } = useAnswer(path, { everyMs: 2_000 });
  /** @type {Answer<{ items: Machine[] }>} */
  const { data: machines } = useAnswer('/machines');
  /** @type {Answer<{ name: string }>} */
  const { data: tenant } = useAnswer(`/tenants/${tenantId}`);
  const [connecting, setConnecting] = useState(false);
  const [cancelling, setCancelling] = useState(false);
  const [routing, setRouting] = useState(false);
  const action = useAction();
  useEvents(
    (event) => {
      if ('shopId' in event && event.shopId === shopId) refresh();
    },
    [shopId],
  );
  useEffect(() => {
    document.title = `${shop?.name ?? 'Shop'} · Console`;
  }, [shop?.name]);
  const steer = (/** @type {string} */ what) =>
    action.run(async () => {
      await call(`${path}/${what}`, { method: 'POST', body: {} });
      // To look at a shop wakes it.
      if (what === 'passivate') location.hash = address(`/tenants/${tenantId}`);
      else refresh();
    });
  const cancelQueue = () =>
    action.run(async () => {
      const body = { acceptedBefore: new Date().toISOString() };
      await call(`${path}/queue/cancel`, { method: 'POST', body });
      setCancelling(false);
      refresh();
    });
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
        <${Controls} shop=${shop} busy=${action.busy} steer=${steer} connect=${() => setConnecting(true)} cancel=${() => setCancelling(true)} route=${() => setRouting(true)} />
        <${Refusals} tenantId=${tenantId} />
        <${ShopDetails} shop=${shop} machines=${machines?.items} path=${path} />
      `
    }
    ${
      routing &&
      html`<${EgressDialog} path=${`/tenants/${tenantId}/shops/${shopId}`} egress=${shop?.details?.egress ?? null} onClose=${() => {
        setRouting(false);
        refresh();
      }} />`
    }
    ${
      cancelling &&
      html`
        <${Dialog} title="Cancel the queue" onClose=${() => setCancelling(false)}>
          <p>All messages that wait end as failed, with the reason CANCELLED. The one that is being sent goes on.</p>
          <${Failure} failure=${action.failure} />
          <footer>
            <button class="danger" disabled=${action.busy} onClick=${cancelQueue}>Cancel all messages</button>
          </footer>
        <//>
      `
    }
    ${
      connecting &&
      html`<${ConnectDialog} path=${path} onClose=${() => {
        setConnecting(false);
        refresh();
      }} />`
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

/** @param {{ shop: InspectedShop, busy: boolean, steer: (what: string) => void, connect: () => void, cancel: () => void, route: () => void }} props */
function Controls({ shop, busy, steer, connect, cancel, route }) {
  const isStill = shop.details?.pacing.heldByOperator || shop.status !== 'active';
  const isConnected = shop.details?.channel.state === 'connected';
  return html`
    <div class="controls" role="group" aria-label="Steer this shop">
      ${
        isConnected
          ? html`<${RoleButton} role="operate" disabled=${busy} onClick=${() => steer('disconnect')}>Disconnect<//>`
          : html`<${RoleButton} role="operate" class="primary" disabled=${busy} onClick=${connect}>Connect<//>`
      }
      ${
        isStill
          ? html`<${RoleButton} role="operate" class="primary" disabled=${busy} onClick=${() => steer('resume')}>Resume<//>`
          : html`<${RoleButton} role="operate" disabled=${busy} onClick=${() => steer('pause')}>Pause<//>`
      }
      <${RoleButton} role="operate" disabled=${busy} title="End all messages that wait" onClick=${cancel}>Cancel queue<//>
      <${RoleButton} role="admin" disabled=${busy} title="The proxy of all its connections" onClick=${route}>Egress<//>
      <${RoleButton} role="operate" disabled=${busy} title="Forget what is in memory and load it again" onClick=${() => steer('restart')}>Restart<//>
      <${RoleButton} role="operate" disabled=${busy} title="Take an idle shop out of memory" onClick=${() => steer('passivate')}>Passivate<//>
    </div>
  `;
}
