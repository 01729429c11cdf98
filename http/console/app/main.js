// @ts-check
import { html, render, useEffect, useState } from '/console/preact.js';
import { listen } from './live.js';
import { Audit } from './pages/audit.js';
import { DeadLetters } from './pages/dead-letters.js';
import { Overview } from './pages/overview.js';
import { Requests } from './pages/requests.js';
import { Shop } from './pages/shop.js';
import { Shops } from './pages/shops.js';
import { SignIn } from './pages/sign-in.js';
import { Tenant } from './pages/tenant.js';
import { Tenants } from './pages/tenants.js';
import { useRoute } from './route.js';
import { onSignOut, token } from './session.js';
import { Shell } from './shell.js';
import { applyTheme } from './theme.js';

/** @param {{ route: ReturnType<typeof useRoute> }} props */
function Place({ route }) {
  const [place, first, second] = route.path;
  if (place === undefined) return html`<${Overview} />`;
  if (place === 'shops' && first !== undefined && second !== undefined)
    return html`<${Shop} key=${second} tenantId=${first} shopId=${second} />`;
  if (place === 'shops') return html`<${Shops} query=${route.query} />`;
  if (place === 'tenants' && first !== undefined)
    return html`<${Tenant} key=${first} tenantId=${first} query=${route.query} />`;
  if (place === 'tenants') return html`<${Tenants} query=${route.query} />`;
  if (place === 'requests') return html`<${Requests} query=${route.query} />`;
  if (place === 'audit') return html`<${Audit} query=${route.query} />`;
  if (place === 'dead-letters') return html`<${DeadLetters} />`;
  return html`<h1 tabindex="-1">Nothing here</h1><p>The console has no such page. <a href="#/">Overview</a></p>`;
}

function Console() {
  const [isSignedIn, setSignedIn] = useState(token() !== '');
  const route = useRoute();
  useEffect(() => onSignOut(() => setSignedIn(false)), []);
  useEffect(() => {
    if (isSignedIn) void listen();
  }, [isSignedIn]);
  if (!isSignedIn) return html`<${SignIn} onSignedIn=${() => setSignedIn(true)} />`;
  return html`<${Shell} route=${route}><${Place} route=${route} /><//>`;
}

applyTheme();
render(html`<${Console} />`, /** @type {HTMLElement} */ (document.getElementById('console')));
