import {
  type BinaryNode,
  DEF_TAG_PREFIX,
  USyncQuery,
  USyncUser,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { SessionContext } from '../shared/session-context.ts';
import { personOf } from '../wire/inbound-message.ts';

/** The ping without its id; each one gets a new id. */
const PING = { to: '@s.whatsapp.net', type: 'get', xmlns: 'w:p' } as const;
const PING_CONTENT: BinaryNode[] = [{ tag: 'ping', attrs: {} }];

/** A thread that noticed the end of a wait this late stood still meanwhile. */
const STALL_MS = 1_000;

/** Stanzas that show a working server. A stalled one answers only pings. */
const SIGNS_OF_LIFE = new Set(['ack', 'message', 'notification', 'receipt', 'status']);

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
  readonly #context: SessionContext;
  readonly #socket: WASocket;
  #heardAtMs = Number.NEGATIVE_INFINITY;

  constructor(context: SessionContext, socket: WASocket) {
    this.#context = context;
    this.#socket = socket;
    socket.ws.on('frame', (frame: BinaryNode | Uint8Array) => {
      if (!(frame instanceof Uint8Array) && SIGNS_OF_LIFE.has(frame.tag))
        this.#heardAtMs = this.#context.clock.monotonicMs();
    });
  }

  /** Call it when the connection is open. */
  start(): void {
    this.#askLater(this.#nextProbeMs());
  }

  /** Sends a query at once that only a working server answers. */
  async probe(): Promise<void> {
    const { user } = this.#socket;
    if (user === undefined) return;
    const question = new USyncQuery()
      .withContext('message')
      .withDeviceProtocol()
      .withUser(new USyncUser().withId(personOf(user.id)));
    await this.#ask('a question', () => this.#inTime(this.#socket.executeUSyncQuery(question)));
  }

  /** Schedules the next query. At `probeAtMs` it is about devices, unless a stanza arrived within `probeEveryMs`. */
  #askLater(probeAtMs: number): void {
    const { keepAliveMs } = this.#context.timing;
    const leftMs = probeAtMs - this.#context.clock.monotonicMs();
    const isProbe = leftMs <= keepAliveMs;
    this.#context.later(isProbe ? Math.max(0, leftMs) : keepAliveMs, () => {
      const quietUntilMs = this.#heardAtMs + this.#context.timing.probeEveryMs;
      if (isProbe && quietUntilMs <= this.#context.clock.monotonicMs()) {
        void this.probe().then(() => this.#askLater(this.#nextProbeMs()));
      } else {
        void this.#ask('a ping', () => this.#ping()).then(() =>
          this.#askLater(Math.max(probeAtMs, quietUntilMs)),
        );
      }
    });
  }

  #nextProbeMs(): number {
    return this.#context.clock.monotonicMs() + this.#context.timing.probeEveryMs;
  }

  /**
   * The client's own wait for a reply begins once the connection has accepted the frame. A connection that accepts none
   * counts as silent too.
   */
  #inTime(answer: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timeout = this.#context.later(this.#context.timing.queryMs, () => resolve(undefined));
      answer.finally(() => timeout.cancel()).then(resolve, reject);
    });
  }

  /**
   * Resolves with the reply, or undefined if none came in time. The client's own `query` waits without end on a
   * connection that accepts no frame, and costs more. Pings are most of the cost of sessions at rest.
   */
  #ping(): Promise<unknown> {
    const { ws } = this.#socket;
    const id = this.#socket.generateMessageTag();
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
      const timeout = this.#context.later(this.#context.timing.queryMs, () => heard(undefined));
      ws.on(answer, heard);
      this.#socket.sendNode({ tag: 'iq', attrs: { ...PING, id }, content: PING_CONTENT }).catch((error) => {
        giveUp();
        reject(error);
      });
    });
  }

  async #ask(name: string, question: () => Promise<unknown>): Promise<void> {
    const askedMs = this.#context.clock.monotonicMs();
    try {
      if ((await question()) !== undefined) return;
    } catch {
      // Refused or cut: the network listens, or the end is reported another way.
      return;
    }
    const waitedMs = this.#context.clock.monotonicMs() - askedMs;
    if (waitedMs < this.#context.timing.queryMs + STALL_MS) {
      const detail = `the socket is open and nobody answers ${name}`;
      this.#context.end('transient', detail, { statusCode: 408 });
    }
  }
}
