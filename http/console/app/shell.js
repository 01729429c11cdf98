// @ts-check
/** The frame of every page: navigation, connection state, light or dark, sign-out. */
import { Component, html, useEffect, useRef, useState } from '/console/preact.js';
import { submitted, textOf } from './form.js';
import { clockTime } from './format.js';
import { useConnection } from './live.js';
import { address } from './route.js';
import { operator, signOut } from './session.js';
import { setTheme, theme } from './theme.js';

const PLACES = [
  { path: '', name: 'Overview', drawing: 'M3 12h4l3-7 4 14 3-7h4' },
  {
    path: 'shops',
    name: 'Shops',
    drawing: 'M4 9l1.5-5h13L20 9M4 9v11h16V9M4 9c0 3 5 3 5 0 0 3 6 3 6 0 0 3 5 3 5 0',
  },
  {
    path: 'tenants',
    name: 'Tenants',
    drawing:
      'M8 11a4 4 0 100-8 4 4 0 000 8zM1.5 21a6.5 6.5 0 0113 0M16 4a4 4 0 010 7M18 14.5a6.500 6.5 0 014.500 6.500',
  },
  { path: 'requests', name: 'Requests', drawing: 'M4 6h16M4 12h16M4 18h10' },
  { path: 'audit', name: 'Audit', drawing: 'M6 3h9l4 4v14H6zM9 11h7M9 15h7' },
  { path: 'dead-letters', name: 'Dead letters', drawing: 'M3 6h18v13H3zM3 7l9 7 9-7' },
];

const THEMES = { system: 'Auto', light: 'Light', dark: 'Dark' };

/** @param {{ route: { path: string[], hash: string }, children?: unknown }} props */
export function Shell({ route, children }) {
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const shown = useRef(route.path.join('/'));
  const place = route.path[0] ?? '';
  useEffect(() => {
    const now = route.path.join('/');
    if (now === shown.current) return;
    shown.current = now;
    scrollTo(0, 0);
    // Move the focus of screen readers and keyboards to the start of the new page.
    main.current?.querySelector('h1')?.focus();
  }, [route.hash]);
  return html`
    <a class="skip" href="#main" onClick=${(/** @type {Event} */ event) => {
      event.preventDefault();
      main.current?.focus();
    }}>Skip to content</a>
    <header class="bar">
      <a class="brand" href="#/"><img src="/console/icon.svg" alt="" width="24" height="24" /><span>Console</span></a>
      <${Finder} key=${place === 'shops' ? route.hash : ''} />
      <${Heard} />
      <${Who} />
      <${ThemeChoice} />
      <button class="quiet" onClick=${signOut}>Sign out</button>
    </header>
    <nav class="places" aria-label="Pages">
      ${PLACES.map(
        ({ path, name, drawing }) => html`
          <a href=${address(`/${path}`)} aria-current=${path === place ? 'page' : undefined}>
            <svg viewBox="0 0 24 24" aria-hidden="true"><path d=${drawing} /></svg><span>${name}</span>
          </a>
        `,
      )}
    </nav>
    <main id="main" tabindex="-1" ref=${main}><${Loss} /><${Boundary} key=${route.path.join('/')}>${children}<//></main>
  `;
}

/** Shows an error instead of a page that throws. The rest of the console still works. */
class Boundary extends Component {
  /** @override */
  state = { broken: /** @type {Error | undefined} */ (undefined) };

  /**
   * @param {Error} broken
   * @override
   */
  componentDidCatch(broken) {
    reportError(broken);
    this.setState({ broken });
  }

  /** @override */
  render() {
    const { broken } = this.state;
    if (broken === undefined) return this.props.children;
    return html`<h1 tabindex="-1">This page broke</h1><p class="failure" role="alert">${broken.message}</p>`;
  }
}

function Finder() {
  const submit = (/** @type {SubmitEvent} */ event) => {
    location.hash = address('/shops', { q: textOf(submitted(event), 'q') });
  };
  return html`
    <form class="finder" role="search" onSubmit=${submit}>
      <input type="search" name="q" aria-label="Find a shop" placeholder="Find a shop: name, phone or id" />
    </form>
  `;
}

function Who() {
  const { name, role } = operator();
  return html`<span class="who" title=${`Signed in as ${name} with the role ${role}`}>${name} <small>${role}</small></span>`;
}

const HEARD = { connecting: 'Connecting', open: 'Live', lost: 'Not connected' };

function Heard() {
  const { state } = useConnection();
  return html`<span class=${`heard ${state}`} role="status">${HEARD[state]}</span>`;
}

/** Warns that the shown data may be old. */
function Loss() {
  const { state, sinceMs, silentNodes } = useConnection();
  if (state !== 'lost' && silentNodes.size > 0) {
    return html`
      <p class="loss" role="alert">
        <strong>No events from ${[...silentNodes].join(', ')}.</strong> This page does not show live what happens there. Trying again…
      </p>
    `;
  }
  if (state !== 'lost') return null;
  return html`
    <p class="loss" role="alert">
      <strong>The connection to the service is lost.</strong> This page shows the state of ${clockTime(sinceMs)}. Trying again…
    </p>
  `;
}

function ThemeChoice() {
  const [value, setValue] = useState(theme());
  const choose = (/** @type {Event} */ event) => {
    const chosen = /** @type {keyof typeof THEMES} */ (
      /** @type {HTMLSelectElement} */ (event.currentTarget).value
    );
    setTheme(chosen);
    setValue(chosen);
  };
  return html`
    <select class="theme-choice" aria-label="Light or dark" value=${value} onChange=${choose}>
      ${Object.entries(THEMES).map(([name, label]) => html`<option value=${name}>${label}</option>`)}
    </select>
  `;
}
