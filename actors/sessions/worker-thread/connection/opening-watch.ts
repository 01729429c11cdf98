import type { WASocket } from '@whiskeysockets/baileys';
import type { ArmedTimer } from '../../../../runtime/clock.ts';
import type { SessionContext } from '../shared/session-context.ts';

/**
 * Ends a session that gets nothing from the network for a while as it opens. The client does not report a refused
 * upgrade, HTTP 503 or 429 (docs/chat-client.md, What the client surfaces). Each frame of the network starts the wait
 * from the beginning. On a busy machine many openings with long backlogs take long, and a retry costs a login.
 */
export class OpeningWatch {
  readonly #context: SessionContext;
  readonly #onStopped: () => void;
  #ws: WASocket['ws'] | undefined;
  #watchdog: ArmedTimer | undefined;
  #endsMs: number | undefined;
  #isStopped = false;

  /** `onStopped` is called once, at the first event of the connection or at its end: the next session may open. */
  constructor(context: SessionContext, onStopped: () => void) {
    this.#context = context;
    this.#onStopped = onStopped;
  }

  /** Waits from now on, until `stop` is called. */
  readonly start = (): void => {
    if (this.#isStopped) return;
    const { clock, timing } = this.#context;
    this.#endsMs ??= clock.monotonicMs() + timing.openingMs;
    const leftMs = this.#endsMs - clock.monotonicMs();
    this.#watchdog?.cancel();
    this.#watchdog = clock.after(Math.max(0, Math.min(timing.connectMs, leftMs)), () =>
      this.#context.end('transient', 'the connection came to nothing in time', { statusCode: 408 }),
    );
  };

  /** Starts the wait again with each frame. */
  follow({ ws }: WASocket): void {
    if (this.#isStopped) return;
    this.#ws = ws;
    ws.on('frame', this.start);
  }

  /** Ends the wait. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#watchdog?.cancel();
    this.#ws?.off('frame', this.start);
    // Its listeners hold the whole client, and a shop may keep its ended session for months.
    this.#ws = undefined;
    this.#onStopped();
  }
}
