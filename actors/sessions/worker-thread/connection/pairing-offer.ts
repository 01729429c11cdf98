import { type BinaryNode, getBinaryNodeChild, type WASocket } from '@whiskeysockets/baileys';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import type { SessionContext, UnnumberedEvent } from '../shared/session-context.ts';
import { readClientError } from '../shared/session-end.ts';

/** The client's own times for a QR code, unless options set others. */
const FIRST_QR_MS = MINUTE_MS;
const NEXT_QR_MS = 20_000;
/** QR codes that the network gives a session. With the last one the time of a code to type ends, too. */
const QR_CODES = 6;

/** Offers the owner of a session without credentials its QR codes, or one code to type on the phone. */
export class PairingOffer {
  readonly #context: SessionContext;
  readonly #onOffer: () => void;
  #isFirst = true;

  constructor(context: SessionContext, onOffer: () => void) {
    this.#context = context;
    this.#onOffer = onOffer;
  }

  /** The client may be paired. It reports this with each of its QR codes. */
  mayPair(socket: WASocket, qr: string): void {
    const { clock, timing, opening } = this.#context;
    const { pairWith } = opening;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isFirst) this.#watchForPasskey(socket);
    if (pairWith === undefined) {
      const lifeMs = timing.qrMs ?? (isFirst ? FIRST_QR_MS : NEXT_QR_MS);
      this.#offer({ type: 'session.qr', qr, expiresAtMs: clock.wallMs() + lifeMs });
    } else if (isFirst) {
      void this.#offerCode(socket, pairWith);
    }
  }

  #offer(event: UnnumberedEvent): void {
    if (this.#context.hasEnded) return;
    this.#onOffer();
    this.#context.emit(event);
  }

  /**
   * An account may ask for a passkey after the scan, or after the code was typed. The client does not know this request
   * and would wait in vain until its codes run out (WhiskeySockets/Baileys issues 2684 and 2694).
   */
  #watchForPasskey(socket: WASocket): void {
    socket.ws.on('CB:notification,type:passkey_prologue_request', () => {
      this.#context.end('passkey_required', 'the account links devices with a passkey alone');
    });
  }

  async #offerCode(socket: WASocket, phone: string): Promise<void> {
    const { clock, timing } = this.#context;
    const lifeMs =
      timing.qrMs === undefined ? FIRST_QR_MS + (QR_CODES - 1) * NEXT_QR_MS : QR_CODES * timing.qrMs;
    const expiresAtMs = clock.wallMs() + lifeMs;
    try {
      const { code, answer } = await askForCode(socket, phone);
      if (answer.attrs.type === 'result') {
        this.#offer({ type: 'session.pairing_code', code, expiresAtMs });
        return;
      }
      const error = getBinaryNodeChild(answer, 'error');
      const statusCode = Number(error?.attrs.code) || undefined;
      const detail = error?.attrs.text ?? 'the network gives no code';
      this.#context.end(isRefusal(statusCode) ? 'pairing_refused' : 'transient', detail, { statusCode });
    } catch (error) {
      const { statusCode, message } = readClientError(error);
      this.#context.end('transient', message, { statusCode });
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
