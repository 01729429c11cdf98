import { type BinaryNode, getBinaryNodeChild, type WASocket } from '@whiskeysockets/baileys';
import type { Clock } from '../../../../runtime/clock.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import type { SessionEnd } from '../../session-events.ts';
import type { SessionTiming } from '../../session-timing.ts';
import { readClientError } from '../shared/session-end.ts';

/** The client's own times for a QR code, unless options set others. */
const FIRST_QR_MS = MINUTE_MS;
const NEXT_QR_MS = 20_000;
/** QR codes that the network gives a session. With the last one the time of a code to type ends, too. */
const QR_CODES = 6;

/** The offer of a session without credentials to its owner. */
type PairingEvent =
  | { readonly type: 'session.qr'; readonly qr: string; readonly expiresAtMs: number }
  | { readonly type: 'session.pairing_code'; readonly code: string; readonly expiresAtMs: number };

/** The session that a pairing is offered for. */
interface PairingOfferOptions {
  readonly clock: Clock;
  readonly timing: SessionTiming;
  /** Digits of the number whose phone is to type a code. If undefined, QR codes are shown. */
  readonly pairWith: string | undefined;
  readonly offer: (event: PairingEvent) => void;
  readonly onFailed: (
    end: SessionEnd,
    cause: { readonly statusCode: number | undefined; readonly detail: string },
  ) => void;
}

/** Offers the owner of a session without credentials its QR codes, or one code to type on the phone. */
export class PairingOffer {
  readonly #options: PairingOfferOptions;
  #isFirst = true;

  constructor(options: PairingOfferOptions) {
    this.#options = options;
  }

  /** The client may be paired. It reports this with each of its QR codes. */
  mayPair(socket: WASocket, qr: string): void {
    const { clock, timing, pairWith, offer } = this.#options;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isFirst) this.#watchForPasskey(socket);
    if (pairWith === undefined) {
      const lifeMs = timing.qrMs ?? (isFirst ? FIRST_QR_MS : NEXT_QR_MS);
      offer({ type: 'session.qr', qr, expiresAtMs: clock.wallMs() + lifeMs });
    } else if (isFirst) {
      void this.#offerCode(socket, pairWith);
    }
  }

  /**
   * An account may ask for a passkey after the scan, or after the code was typed. The client does not know this request
   * and would wait in vain until its codes run out (WhiskeySockets/Baileys issues 2684 and 2694).
   */
  #watchForPasskey(socket: WASocket): void {
    socket.ws.on('CB:notification,type:passkey_prologue_request', () => {
      this.#options.onFailed('passkey_required', {
        statusCode: undefined,
        detail: 'the account links devices with a passkey alone',
      });
    });
  }

  async #offerCode(socket: WASocket, phone: string): Promise<void> {
    const { clock, timing, offer, onFailed } = this.#options;
    const lifeMs =
      timing.qrMs === undefined ? FIRST_QR_MS + (QR_CODES - 1) * NEXT_QR_MS : QR_CODES * timing.qrMs;
    const expiresAtMs = clock.wallMs() + lifeMs;
    try {
      const { code, answer } = await askForCode(socket, phone);
      if (answer.attrs.type === 'result') {
        offer({ type: 'session.pairing_code', code, expiresAtMs });
        return;
      }
      const error = getBinaryNodeChild(answer, 'error');
      const statusCode = Number(error?.attrs.code) || undefined;
      const detail = error?.attrs.text ?? 'the network gives no code';
      onFailed(isRefusal(statusCode) ? 'pairing_refused' : 'transient', { statusCode, detail });
    } catch (error) {
      const { statusCode, message } = readClientError(error);
      onFailed('transient', { statusCode, detail: message });
    }
  }
}

/**
 * Asks for a code that is to be typed on the phone of that number (digits). The client makes the code and does not wait
 * for the network's reply. This function waits for it, because no code may be shown before it. Pends while the network
 * is silent. No other request is sent until the device is paired, so any refusal belongs to this one.
 */
async function askForCode(
  socket: WASocket,
  phone: string,
): Promise<{ readonly code: string; readonly answer: BinaryNode }> {
  const answer = new Promise<BinaryNode>((resolve) => {
    socket.ws.once('CB:iq,,link_code_companion_reg', resolve);
    socket.ws.once('CB:iq,type:error', resolve);
  });
  const code = await socket.requestPairingCode(phone);
  return { code, answer: await answer };
}

/** True if the network refuses the number, or the frequency of requests. Otherwise the request may be repeated. */
function isRefusal(statusCode: number | undefined): boolean {
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500;
}
