import type { Connection } from './connection.ts';
import { node, streamError } from './stanzas.ts';

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

export type LiveFault = keyof typeof LIVE_FAULTS;
export type LoginFault = keyof typeof LOGIN_FAULTS;
/** Every kind of fault the control API takes. */
export type FaultKind =
  | LiveFault
  | LoginFault
  | 'bare_lid'
  | 'hears'
  | 'logged_out'
  | 'lost'
  | 'no_lid'
  | 'refuse_upgrade'
  | 'unacked'
  | 'unlisted'
  | 'unread'
  | 'unreadable';

export const FAULT_KINDS = [
  ...(Object.keys(LIVE_FAULTS) as LiveFault[]),
  ...(Object.keys(LOGIN_FAULTS) as LoginFault[]),
  'bare_lid',
  'hears',
  'logged_out',
  'lost',
  'no_lid',
  'refuse_upgrade',
  'unacked',
  'unlisted',
  'unread',
  'unreadable',
] as const satisfies readonly FaultKind[];

/** An error that the network answers the next `left` times. */
interface Refusal {
  readonly code: number;
  readonly text: string;
  left: number;
}

/** An error of one protocol of a usync question (`contact`, `devices`, `lid`). */
export interface UsyncError {
  readonly code: number;
  readonly text: string;
  /** Seconds during which the server refuses such questions; undefined: the answer gives no time. */
  readonly backoff: number | undefined;
}

/** The reason of a failed login, and other attributes of its `<failure>` (`code` and `expire` of a temporary ban). */
export interface LoginFailure {
  readonly code: number;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Faults in force. They end with the process: a restarted network is a healthy one. */
export class Faults {
  readonly #acks = new Map<string, Refusal>();
  readonly #queries = new Map<string, Refusal>();
  readonly #logins = new Map<string, LoginFailure & Refusal>();
  readonly #unacked = new Map<string, number>();
  readonly #lost = new Map<string, number>();
  readonly #keyErrors = new Map<string, number>();
  readonly #unread = new Map<string, number>();
  readonly #unnamed = new Map<string, number>();
  readonly #bareLids = new Map<string, number>();
  readonly #unlisted = new Map<string, number>();
  readonly #usync = new Map<string, UsyncError & Refusal>();
  readonly #unreadable = new Map<string, number>();
  readonly #passkeys = new Set<string>();
  #upgrades = 0;

  /** The next `count` messages of the number are refused with the code. 0 ends it. */
  refuseMessages(phone: string, code: number, count: number): void {
    arm(this.#acks, phone, { code, text: '', left: count });
  }

  /** The next `count` queries of the number in that name space (`usync`, `w:g2`, …) are refused. 0 ends it. */
  refuseQueries(options: { phone: string; xmlns: string; code: number; text: string; count: number }): void {
    const { phone, xmlns, code, text, count } = options;
    arm(this.#queries, `${phone} ${xmlns}`, { code, text, left: count });
  }

  /** The next `count` logins of the number fail with the code and the attributes. 0 ends it. */
  refuseLogins(phone: string, { code, attributes }: LoginFailure, count: number): void {
    arm(this.#logins, phone, { code, attributes, text: '', left: count });
  }

  /** The next `count` upgrades of any number are answered 503. 0 ends it. */
  refuseUpgrades(count: number): void {
    this.#upgrades = count;
  }

  /** The next `count` messages of the number are accepted and delivered, but not acknowledged. 0 ends it. */
  withholdAcks(phone: string, count: number): void {
    this.#unacked.set(phone, count);
  }

  /** The next `count` messages of the number get lost on their way to the network. 0 ends it. */
  loseMessages(phone: string, count: number): void {
    this.#lost.set(phone, count);
  }

  /**
   * The next `count` copies of messages of the number are unreadable at their recipients. Those ask for them again
   * `at_once`, or at the sender's next login. 0 ends it.
   */
  garbleMessages(phone: string, count: number, when: 'at_once' | 'at_login'): void {
    (when === 'at_once' ? this.#unreadable : this.#unread).set(phone, count);
  }

  /** Anyone who asks for the keys of the number's devices gets this error instead. 0 ends it. */
  refuseKeys(phone: string, code: number): void {
    if (code === 0) this.#keyErrors.delete(phone);
    else this.#keyErrors.set(phone, code);
  }

  keyError(phone: string): number | undefined {
    return this.#keyErrors.get(phone);
  }

  /** The next `count` logins of the number do not get their LID. 0 ends it. */
  leaveOutLid(phone: string, count: number): void {
    this.#unnamed.set(phone, count);
  }

  takeLeftOutLid(phone: string): boolean {
    return takeOne(this.#unnamed, phone);
  }

  /** The next `count` logins of the number get their LID without the device. 0 ends it. */
  bareLid(phone: string, count: number): void {
    this.#bareLids.set(phone, count);
  }

  takeBareLid(phone: string): boolean {
    return takeOne(this.#bareLids, phone);
  }

  /** The next `count` usync questions of the number leave out every row. 0 ends it. */
  leaveOutRows(phone: string, count: number): void {
    this.#unlisted.set(phone, count);
  }

  /** The next `count` usync questions of the number for that protocol answer with an error instead of it. 0 ends it. */
  refuseProtocol(phone: string, protocol: string, { count, ...error }: UsyncError & { count: number }): void {
    arm(this.#usync, `${phone} ${protocol}`, { ...error, left: count });
  }

  /** Makes the number's account link clients only with a passkey, or without one again. */
  requirePasskey(phone: string, required: boolean): void {
    if (required) this.#passkeys.add(phone);
    else this.#passkeys.delete(phone);
  }

  asksForPasskey(phone: string): boolean {
    return this.#passkeys.has(phone);
  }

  takeLeftOutRows(phone: string): boolean {
    return takeOne(this.#unlisted, phone);
  }

  takeProtocolError(phone: string, protocol: string): UsyncError | undefined {
    return take(this.#usync, `${phone} ${protocol}`);
  }

  takeMessageError(phone: string): number | undefined {
    return take(this.#acks, phone)?.code;
  }

  takeQueryError(phone: string, xmlns: string): { code: number; text: string } | undefined {
    return take(this.#queries, `${phone} ${xmlns}`);
  }

  takeLoginFailure(phone: string): LoginFailure | undefined {
    return take(this.#logins, phone);
  }

  takeUpgradeRefusal(): boolean {
    if (this.#upgrades <= 0) return false;
    this.#upgrades -= 1;
    return true;
  }

  takeWithheldAck(phone: string): boolean {
    return takeOne(this.#unacked, phone);
  }

  takeLost(phone: string): boolean {
    return takeOne(this.#lost, phone);
  }

  /** Returns when the recipient of this copy asks for it again; undefined: the copy is readable. */
  takeGarbled(phone: string): 'at_once' | 'at_login' | undefined {
    if (takeOne(this.#unread, phone)) return 'at_login';
    return takeOne(this.#unreadable, phone) ? 'at_once' : undefined;
  }
}

function takeOne(counts: Map<string, number>, phone: string): boolean {
  const left = counts.get(phone) ?? 0;
  if (left > 0) counts.set(phone, left - 1);
  return left > 0;
}

function arm<Armed extends Refusal>(refusals: Map<string, Armed>, key: string, refusal: Armed): void {
  if (refusal.left > 0) refusals.set(key, refusal);
  else refusals.delete(key);
}

function take<Armed extends Refusal>(refusals: Map<string, Armed>, key: string): Armed | undefined {
  const refusal = refusals.get(key);
  if (!refusal) return undefined;
  refusal.left -= 1;
  if (refusal.left === 0) refusals.delete(key);
  return refusal;
}
