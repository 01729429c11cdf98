// @ts-check
import { html, useEffect, useState } from '/console/preact.js';
import { useAction, useAnswer } from './asking.js';
import { span, words } from './format.js';
import { useEvents } from './live.js';
import { Badge, Dialog, Failure } from './parts.js';
import { call } from './session.js';

const POLL_MS = 1_500;

/**
 * Starts the shop's connection, shows the newest code until it is scanned, and says when it is connected.
 * @param {{ path: string, onClose: () => void }} props
 */
export function ConnectDialog({ path, onClose }) {
  const [started, setStarted] = useState(false);
  const action = useAction();
  const { data, failure, refresh } = useAnswer(started ? `${path}/connect` : undefined, { everyMs: POLL_MS });
  const start = () =>
    action.run(async () => {
      await call(`${path}/connect`, { method: 'POST', body: {} });
      setStarted(true);
    });
  useEffect(() => void start(), []);
  useEvents(
    (event) => {
      if (event.type === 'channel' && path.endsWith(String(event.shopId))) refresh();
    },
    [path],
  );
  const status = data?.status ?? 'starting';
  const mayTry = status === 'disconnected' || action.failure !== undefined;
  return html`
    <${Dialog} title="Connect this shop" onClose=${onClose}>
      ${action.failure === undefined && html`<p role="status"><${Badge} state=${status} /> ${SAID[status]}</p>`}
      ${status === 'qr_waiting' && data.qrImageDataUrl !== undefined && html`<${Code} channel=${data} />`}
      <${Failure} failure=${action.failure ?? failure} />
      <footer>
        ${mayTry && html`<button class="primary" disabled=${action.busy} onClick=${start}>Try again</button>`}
        ${status === 'connected' && html`<p>Number <b>+${data.phone}</b></p><button class="primary" onClick=${onClose}>Done</button>`}
      </footer>
    <//>
  `;
}

const SAID = /** @type {Record<string, string>} */ ({
  starting: 'A session is being opened…',
  qr_waiting: 'On the phone: Linked devices, Link a device, then scan.',
  connected: 'The shop is connected.',
  disconnected: 'No code was scanned in time.',
});

/** @param {{ channel: any }} props */
function Code({ channel }) {
  return html`
    <figure class="code">
      <img src=${channel.qrImageDataUrl} alt=${`QR code of a session that is ${words(channel.status)}`} />
      <figcaption class="muted">Good for ${span(Date.parse(channel.expiresAt) - Date.now())}; then a new one appears.</figcaption>
    </figure>
  `;
}
