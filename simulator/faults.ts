import type { Connection } from './connection.ts';
import { node, streamError } from './stanzas.ts';

/** What can be done to a live connection, by the name the control API gives it. */
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
  /** The stream is broken for a reason the client does not know. Client: 500. */
  bad_session: (connection: Connection) => connection.endWith(streamError(undefined, node('bad-session'))),
  /** The server ends the stream in good order. Client: 428. */
  stream_end: (connection: Connection) => connection.endWith(node('xmlstreamend')),
  /** Open, but nothing is answered any more, pings included. Client: 408, by its own keep-alive. */
  silent: (connection: Connection) => {
    connection.hearing = 'silent';
  },
  /** Open and pings are answered, but nothing else is, and nothing arrives. Client: notices nothing. */
  deaf: (connection: Connection) => {
    connection.hearing = 'deaf';
  },
} as const;

/** What can be done to the next logins of a number, with the code the client gives as its reason. */
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

/** An answer the network gives instead of the right one, so many more times. */
interface Refusal {
  readonly code: number;
  readonly text: string;
  left: number;
}

/** An error of one protocol of a usync question (`contact`, `devices`, `lid`), so many more times. */
export interface UsyncError {
  readonly code: number;
  readonly text: string;
  /** Seconds for which the server wants no such question; undefined: it does not say. */
  readonly backoff: number | undefined;
}

/** Why a login fails: the reason, and what else stands in the `<failure>` (`code` and `expire` of a temporary ban). */
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

  /** The next `count` logins of the number fail with the code, and the attributes besides. 0 ends it. */
  refuseLogins(phone: string, { code, attributes }: LoginFailure, count: number): void {
    arm(this.#logins, phone, { code, attributes, text: '', left: count });
  }

  /** The next `count` upgrades, whoever's, are answered 503. 0 ends it. */
  refuseUpgrades(count: number): void {
    this.#upgrades = count;
  }

  /** The next `count` messages of the number are taken and delivered, but not acknowledged. 0 ends it. */
  withholdAcks(phone: string, count: number): void {
    this.#unacked.set(phone, count);
  }

  /** The next `count` messages of the number get lost on their way to the network. 0 ends it. */
  loseMessages(phone: string, count: number): void {
    this.#lost.set(phone, count);
  }

  /**
   * The next `count` copies of messages of the number cannot be read where they arrive, and are asked for again then.
   * 0 ends it.
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

  /** Whether the account of the number links a client only with a passkey. */
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

  /** When the copy that arrives now is asked for again; undefined: it can be read. */
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
