// @ts-check
import { html, useEffect, useState } from '/console/preact.js';
import { useAction, useAnswer } from '../asking.js';
import { submitted, textOf, withoutSigns } from '../form.js';
import { span, words } from '../format.js';
import { useEvents } from '../live.js';
import { Badge, Dialog, Failure } from '../parts.js';
import { call } from '../session.js';

/** @import { Answer } from '../asking.js' */
/** @import { Channel } from '../answers.js' */

const POLL_MS = 1_500;

/**
 * Starts the shop's connection, shows the newest code until it is scanned or typed, then shows that it is connected.
 * @param {{ path: string, onClose: () => void }} props
 */
export function ConnectDialog({ path, onClose }) {
  const [hasStarted, setStarted] = useState(false);
  const [asksNumber, setAsksNumber] = useState(false);
  const action = useAction();
  /** @type {Answer<Channel>} */
  const { data, failure, refresh } = useAnswer(hasStarted ? `${path}/connect` : undefined, {
    everyMs: POLL_MS,
  });
  const begin = (/** @type {string} */ way, /** @type {object} */ body) =>
    action.run(async () => {
      await call(`${path}/${way}`, { method: 'POST', body });
      setAsksNumber(false);
      setStarted(true);
      refresh();
    });
  const start = () => begin('connect', {});
  useEffect(() => void start(), []);
  useEvents(
    (event) => {
      if (event.type === 'channel' && path.endsWith(event.shopId)) refresh();
    },
    [path],
  );
  const status = data?.status ?? 'starting';
  const mayAsk = data?.reason !== 'TEMPORARILY_BANNED';
  const mayTry = (status === 'disconnected' && mayAsk) || action.failure !== undefined;
  const why = REASONS[data?.reason ?? ''];
  const said = why ?? (data?.code === undefined ? SAID[status] : TYPE_IT);
  return html`
    <${Dialog} title="Connect this shop" onClose=${onClose}>
      ${action.failure === undefined && html`<p role="status"><${Badge} state=${status} /> ${said}</p>`}
      ${data?.qrImageDataUrl !== undefined && status === 'qr_waiting' && html`<${Code} channel=${data} />`}
      ${data?.code !== undefined && html`<${TypedCode} channel=${data} />`}
      ${asksNumber && html`<${NumberForm} isBusy=${action.isBusy} onNumber=${(/** @type {string} */ phone) => void begin('pairing-code', { phone })} />`}
      <${Failure} failure=${action.failure ?? failure} />
      <footer>
        ${status !== 'connected' && mayAsk && !asksNumber && data?.code === undefined && html`<button onClick=${() => setAsksNumber(true)}>Type a code instead</button>`}
        ${(asksNumber || data?.code !== undefined) && html`<button disabled=${action.isBusy} onClick=${start}>Scan a QR code instead</button>`}
        ${mayTry && !asksNumber && html`<button class="primary" disabled=${action.isBusy} onClick=${start}>Try again</button>`}
        ${status === 'connected' && html`<p>Number <b>+${data?.phone}</b></p><button class="primary" onClick=${onClose}>Done</button>`}
      </footer>
    <//>
  `;
}

const SAID = /** @type {Record<string, string>} */ ({
  starting: 'A session is being opened…',
  qr_waiting: 'On the phone: Linked devices, Link a device, then scan.',
  connected: 'The shop is connected.',
  disconnected: 'No code was scanned or typed in time.',
});
/** The reasons why there is no session, in words for an operator. */
const REASONS = /** @type {Record<string, string>} */ ({
  NUMBER_IN_USE: 'Another shop of the tenant has this number.',
  PASSKEY_REQUIRED:
    'The account links devices only with a passkey. Ask its owner to remove the passkey in the app.',
  NUMBER_RESTRICTED: 'The network locked or banned the number: the app on the phone says why.',
  TEMPORARILY_BANNED: 'The network bans the number for a time. The shop comes back by itself.',
  LOGIN_REFUSED: 'The network refuses the login.',
  CLIENT_OUTDATED: 'The network refuses this version of the client, for all shops.',
  EGRESS_UNREACHABLE: "The shop's egress makes no connection.",
  UNLINKED: 'The phone unlinked this device, or its app was not opened for 14 days.',
  REPLACED: "Another program uses this device's session, and took it again after half a minute.",
});
const TYPE_IT = 'On the phone: Linked devices, Link a device, Link with phone number instead, then type.';

/** @param {{ isBusy: boolean, onNumber: (phone: string) => void }} props */
function NumberForm({ isBusy, onNumber }) {
  const submit = (/** @type {SubmitEvent} */ event) => {
    onNumber(withoutSigns(textOf(submitted(event), 'phone')));
  };
  return html`
    <form class="fields" onSubmit=${submit}>
      <label>Number of the phone <input name="phone" type="tel" required placeholder="+41791234567" /></label>
      <footer><button class="primary" disabled=${isBusy}>Get a code</button></footer>
    </form>
  `;
}

/** @param {{ channel: Channel }} props */
function TypedCode({ channel }) {
  const { code = '', expiresAt = '' } = channel;
  return html`
    <figure class="code">
      <p class="typed" aria-label="Code to type">${code.slice(0, 4)}-${code.slice(4)}</p>
      <figcaption class="muted">Good for ${span(Date.parse(expiresAt) - Date.now())}.</figcaption>
    </figure>
  `;
}

/** @param {{ channel: Channel }} props */
function Code({ channel }) {
  return html`
    <figure class="code">
      <img src=${channel.qrImageDataUrl} alt=${`QR code of a session that is ${words(channel.status)}`} />
      <figcaption class="muted">Good for ${span(Date.parse(channel.expiresAt ?? '') - Date.now())}; then a new one appears.</figcaption>
    </figure>
  `;
}
