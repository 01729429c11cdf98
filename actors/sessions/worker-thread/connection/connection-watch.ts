import {
  type BinaryNode,
  DEF_TAG_PREFIX,
  USyncQuery,
  USyncUser,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { ArmedTimer, Clock } from '../../../../runtime/clock.ts';
import type { SessionTiming } from '../../session-timing.ts';
import { personOf } from '../wire/inbound-message.ts';

/** The ping without its id; each one gets a new id. */
const PING = { to: '@s.whatsapp.net', type: 'get', xmlns: 'w:p' } as const;
const PING_CONTENT: BinaryNode[] = [{ tag: 'ping', attrs: {} }];

/** A thread that noticed the end of a wait this late stood still meanwhile. */
const STALL_MS = 1_000;

/** Stanzas that show a working server. A stalled one answers only pings. */
const SIGNS_OF_LIFE = new Set(['ack', 'message', 'notification', 'receipt', 'status']);

interface ConnectionWatchOptions {
  readonly socket: WASocket;
  readonly clock: Clock;
  readonly timing: SessionTiming;
  /** Acts after a while, unless the session has ended. */
  readonly later: (delayMs: number, act: () => void) => ArmedTimer;
  /** The network does not listen. */
  readonly onUnanswered: (question: string) => void;
}

/**
 * Checks whether the network still receives at the other end of an open connection. It sends pings, which a dead
 * connection leaves unanswered. If nothing arrived for a while, it queries devices instead, because a stalled socket
 * may answer pings for hours. A web client never sends that query, so it is left out while stanzas arrive.
 *
 * The client's own keep-alive counts from the last frame, and checks before it reads the frames that have arrived. If a
 * worker stalled for five seconds, it would lose every quiet session, and all of them would reconnect at once. Here a
 * wait that ended late proves nothing, and the query is repeated.
 */
export class ConnectionWatch {
  readonly #options: ConnectionWatchOptions;
  #heardAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionWatchOptions) {
    this.#options = options;
    this.#options.socket.ws.on('frame', (frame: BinaryNode | Uint8Array) => {
      if (!(frame instanceof Uint8Array) && SIGNS_OF_LIFE.has(frame.tag))
        this.#heardAtMs = this.#options.clock.monotonicMs();
    });
  }

  /** Call it when the connection is open. */
  start(): void {
    this.#askLater(this.#nextProbeMs());
  }

  /** Sends a query at once that only a working server answers. */
  async probe(): Promise<void> {
    const { user } = this.#options.socket;
    if (user === undefined) return;
    const question = new USyncQuery()
      .withContext('message')
      .withDeviceProtocol()
      .withUser(new USyncUser().withId(personOf(user.id)));
    await this.#ask('a question', () => this.#inTime(this.#options.socket.executeUSyncQuery(question)));
  }

  /** Schedules the next query. The last one before `probeAtMs` is about devices. */
  #askLater(probeAtMs: number): void {
    const { keepAliveMs } = this.#options.timing;
    const leftMs = probeAtMs - this.#options.clock.monotonicMs();
    const isProbe = leftMs <= keepAliveMs;
    this.#options.later(isProbe ? Math.max(0, leftMs) : keepAliveMs, () => {
      const quietUntilMs = this.#heardAtMs + this.#options.timing.probeEveryMs;
      if (isProbe && quietUntilMs <= this.#options.clock.monotonicMs()) {
        void this.probe().then(() => this.#askLater(this.#nextProbeMs()));
      } else {
        void this.#ask('a ping', () => this.#ping()).then(() =>
          this.#askLater(Math.max(probeAtMs, quietUntilMs)),
        );
      }
    });
  }

  #nextProbeMs(): number {
    return this.#options.clock.monotonicMs() + this.#options.timing.probeEveryMs;
  }

  /**
   * The client's own wait for a reply begins once the connection has accepted the frame. A connection that accepts none
   * counts as silent too.
   */
  #inTime(answer: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timeout = this.#options.later(this.#options.timing.queryMs, () => resolve(undefined));
      answer.finally(() => timeout.cancel()).then(resolve, reject);
    });
  }

  /**
   * Resolves with the reply, or undefined if none came in time. The client's own `query` waits without end on a
   * connection that accepts no frame, and costs more. Pings are most of the cost of sessions at rest.
   */
  #ping(): Promise<unknown> {
    const { ws } = this.#options.socket;
    const id = this.#options.socket.generateMessageTag();
    const answer = `${DEF_TAG_PREFIX}${id}`;
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        timeout.cancel();
        ws.off(answer, heard);
      };
      const heard = (node: unknown): void => {
        giveUp();
        resolve(node);
      };
      const timeout = this.#options.later(this.#options.timing.queryMs, () => heard(undefined));
      ws.on(answer, heard);
      this.#options.socket
        .sendNode({ tag: 'iq', attrs: { ...PING, id }, content: PING_CONTENT })
        .catch((error) => {
          giveUp();
          reject(error);
        });
    });
  }

  async #ask(name: string, question: () => Promise<unknown>): Promise<void> {
    const askedMs = this.#options.clock.monotonicMs();
    try {
      if ((await question()) !== undefined) return;
    } catch {
      // Refused or cut: the network listens, or the end is reported another way.
      return;
    }
    const waitedMs = this.#options.clock.monotonicMs() - askedMs;
    if (waitedMs < this.#options.timing.queryMs + STALL_MS) this.#options.onUnanswered(name);
  }
}
