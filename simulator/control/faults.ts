import type { Connection } from '../socket/connection.ts';
import { node, streamError } from '../socket/stanzas.ts';

/** The faults of a live connection, by their names in the control API. */
export const LIVE_FAULTS = {
  /** The socket is cut. Client: 428. */
  drop: (connection: Connection) => connection.drop(),
  /** Another client took the session. Client: 440. */
  replaced: (connection: Connection) =>
    connection.endWith(streamError(undefined, node('conflict', { type: 'replaced' }))),
  /** A conflict without a reason. Client: 440. */
  conflict: (connection: Connection) => connection.endWith(streamError(undefined, node('conflict'))),
  /** The server is unavailable. Client: 503. */
  unavailable: (connection: Connection) => connection.endWith(streamError(503, node('service-unavailable'))),
  /** The server wants a fresh connection. Client: 515. */
  restart: (connection: Connection) => connection.endWith(streamError(515, node('restart'))),
  /** The stream is broken, for a reason that the client does not know. Client: 500. */
  bad_session: (connection: Connection) => connection.endWith(streamError(undefined, node('bad-session'))),
  /** The server ends the stream in order. Client: 428. */
  stream_end: (connection: Connection) => connection.endWith(node('xmlstreamend')),
  /** The socket stays open, but nothing is answered any more, pings included. Client: 408, by its own keep-alive. */
  silent: (connection: Connection) => {
    connection.hearing = 'silent';
  },
  /**
   * The socket stays open and pings are answered. Nothing else is answered, and nothing arrives. Client: notices
   * nothing.
   */
  deaf: (connection: Connection) => {
    connection.hearing = 'deaf';
  },
} as const;

/** The faults of the next logins of a number, with the code that the client reports. */
export const LOGIN_FAULTS = {
  unauthorized: 401,
  forbidden: 403,
  outdated: 405,
  login_unavailable: 503,
} as const;

/**
 * Faults that change later answers to a number, with what the simulator gets when one is taken. The live connections
 * stay.
 */
export const COUNTED_FAULTS = {
  /** The login gets the LID without the device. */
  bare_lid: true,
  /** The message gets lost on its way to the network. */
  lost: true,
  /** The login does not get the LID. */
  no_lid: true,
  /** The message is accepted and delivered, but not acknowledged. */
  unacked: true,
  /** The message is accepted and delivered. It is not acknowledged, and no handset's receipt arrives. */
  unconfirmed: true,
  /** The answer to the usync question leaves out every row. */
  unlisted: true,
  /** The copy of a message is unreadable at its recipient, which asks for it again at the sender's next login. */
  unread: 'at_login',
  /** The copy of a message is unreadable at its recipient, which asks for it again at once. */
  unreadable: 'at_once',
} as const;

export type LiveFault = keyof typeof LIVE_FAULTS;
export type LoginFault = keyof typeof LOGIN_FAULTS;
export type CountedFault = keyof typeof COUNTED_FAULTS;
/** Every kind of fault the control API takes. */
export type FaultKind = (typeof FAULT_KINDS)[number];

export const FAULT_KINDS = [
  ...(Object.keys(LIVE_FAULTS) as LiveFault[]),
  ...(Object.keys(LOGIN_FAULTS) as LoginFault[]),
  ...(Object.keys(COUNTED_FAULTS) as CountedFault[]),
  'hears',
  'logged_out',
  'refuse_upgrade',
] as const;

/** An error that the network answers. */
interface Refusal {
  readonly code: number;
  readonly text: string;
}

/** An error of one protocol of a usync question (`contact`, `devices`, `lid`). */
export interface UsyncError extends Refusal {
  /** Seconds during which the server refuses such questions; undefined: the answer gives no time. */
  readonly backoff: number | undefined;
}

/** The faults that can be armed, with the value that `take` returns. */
type ArmedFaults = {
  /** The code that refuses a message of the number. */
  readonly message: number;
  /** Refuses a query. The key is the number, a space and the name space (`usync`, `w:g2`, …). */
  readonly query: Refusal;
  /** Refuses a protocol of a usync question. The key is the number, a space and the protocol. */
  readonly usync: UsyncError;
  /** Fails a login, with other attributes of its `<failure>` (`code` and `expire` of a temporary ban). */
  readonly login: { readonly code: number; readonly attributes: Readonly<Record<string, string>> };
  /** The code that anyone gets who asks for the keys of the number's devices. */
  readonly keys: number;
  /** The number's account links clients only with a passkey. */
  readonly passkey: true;
  /** Answers an upgrade of any number with 503. The key is empty. */
  readonly upgrade: true;
} & typeof COUNTED_FAULTS;

/** Faults in force. They end with the process: a restarted network is a healthy one. */
export class Faults {
  readonly #armed = new Map<string, { readonly value: unknown; left: number }>();

  /** The next `count` events that meet the fault get the value. 0 ends the fault; `Infinity` lasts until then. */
  arm<Fault extends keyof ArmedFaults>(
    fault: Fault,
    key: string,
    value: ArmedFaults[Fault],
    count: number,
  ): void {
    if (count > 0) this.#armed.set(`${fault} ${key}`, { value, left: count });
    else this.#armed.delete(`${fault} ${key}`);
  }

  /** Counts one event that meets the fault, and returns its value; undefined: the fault is not armed. */
  take<Fault extends keyof ArmedFaults>(fault: Fault, key: string): ArmedFaults[Fault] | undefined {
    const armed = this.#armed.get(`${fault} ${key}`);
    if (armed === undefined) return undefined;
    armed.left -= 1;
    if (armed.left === 0) this.#armed.delete(`${fault} ${key}`);
    return armed.value as ArmedFaults[Fault];
  }
}
