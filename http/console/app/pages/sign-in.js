// @ts-check
import { html, useEffect, useRef } from '/console/preact.js';
import { useAction } from '../asking.js';
import { Failure } from '../parts.js';
import { useTitle } from '../route.js';
import { call, keepToken } from '../session.js';

/** @param {{ onSignedIn: () => void }} props */
export function SignIn({ onSignedIn }) {
  const action = useAction();
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useTitle('Sign in');
  useEffect(() => field.current?.focus(), []);
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const given = field.current?.value.trim() ?? '';
    const accepted = await action.run(async () => {
      if (given === '') throw new Error('Enter the token first.');
      // Tokens are printable ASCII, and a browser refuses a header with letters beyond Latin-1.
      if (/[^ -~]/.test(given)) throw new Error('This operator token is not valid.');
      keepToken(given, await call('/me', { token: given }));
    });
    if (accepted) onSignedIn();
    else field.current?.select();
  };
  return html`
    <main class="sign-in">
      <form class="panel" onSubmit=${submit}>
        <img src="/console/icon.svg" alt="" width="40" height="40" />
        <h1>Operator console</h1>
        <label for="token">Operator token</label>
        <input id="token" ref=${field} type="password" autocomplete="off" spellcheck=${false} />
        <p class="hint">The service's <code>ADMIN_TOKEN</code>, or your own of <code>ADMIN_TOKENS</code>. This tab keeps it until you close the tab.</p>
        <${Failure} failure=${action.failure} />
        <button class="primary" disabled=${action.isBusy}>${action.isBusy ? 'Signing in…' : 'Sign in'}</button>
      </form>
    </main>
  `;
}
