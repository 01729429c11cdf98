/**
 * Messages between the main thread and a session worker. All of them survive structured cloning. Values of the store
 * are sealed before they cross.
 */
import type { FileHosts } from '../inbound-content.ts';
import type { SendOutcome, SessionEvent } from './session-events.ts';
import type { SendOrder, SessionAddress, SessionOpening, SessionOrder } from './session-host.ts';
import type { SessionTiming } from './session-timing.ts';

/** Attachments come from public addresses at ports 80 and 443. These are the exceptions, and the name servers. */
export interface MediaAccess {
  /** Loopback, at any port: for tests and the simulator. */
  readonly allowLoopback: boolean;
  /** Addresses and CIDR ranges to which no connection is made, though they are public. */
  readonly deniedRanges: readonly string[];
  /** Name servers for addresses, with or without a port. If there are none, the system's. */
  readonly nameServers: readonly string[];
}

/** The version that a client sends. */
export type ClientVersion = readonly [major: number, minor: number, patch: number];

export interface WorkerOpening extends SessionOpening {
  /** If undefined, the client's own. */
  readonly clientVersion: ClientVersion | undefined;
}

/** The settings of a worker, given to its thread at the start. */
export interface WorkerSetup {
  /** The name that phones show of a device linked by QR code. */
  readonly deviceName: string;
  readonly socketUrl: string;
  readonly credentialsKeys: readonly Uint8Array[];
  readonly noiseRootKey: Uint8Array | undefined;
  readonly mediaCa: string | undefined;
  readonly media: MediaAccess;
  readonly timing: SessionTiming;
}

/** A shop's sealed hashes: Signal keys and identity, and the messages of one day, kept for a recipient's retry. */
export type SealedHash = 'credentials' | SentHash;

/** The hash of one day's messages. Its name is used again once it has expired. */
export type SentHash = `sent:${number}`;

/** A message is kept for a retry for this long, in whole days. */
export const SENT_DAYS = 7;

/** All hashes of messages: those of the stored days, today's, and one for the next name. */
export const SENT_HASHES: readonly SentHash[] = Array.from(
  { length: SENT_DAYS + 2 },
  (_, day): SentHash => `sent:${day}`,
);

/** A change of one sealed hash: cleared first if requested, then fields set, then fields removed; all or nothing. */
export interface SealedChange {
  readonly hash: SealedHash;
  readonly clears: boolean;
  readonly set: readonly (readonly [field: string, value: Uint8Array])[];
  readonly remove: readonly string[];
  /** The expiry of the whole hash, milliseconds since the Unix epoch. If undefined, it is unchanged. */
  readonly expiresAtMs?: number | undefined;
}

export interface Preparation {
  /**
   * The replies `prepared` and the outcome repeat it. If the order was given up meanwhile, all but a rate signal are
   * ignored.
   */
  readonly attempt: number;
  readonly order: SendOrder;
  readonly composingMs: number;
}

/** The orders that a worker gets as the shop gave them. `Preparation` has more than its order. */
export type WorkerOrder = Exclude<SessionOrder, { type: 'prepare' }>;

/** Messages to a worker. */
export type WorkerCommand =
  | { readonly kind: 'open'; readonly shop: SessionAddress; readonly opening: WorkerOpening }
  | { readonly kind: 'close'; readonly shopId: string }
  /** Unlinks the device if a session is open, and ends it. The reply is an empty `answer`. */
  | { readonly kind: 'unlink'; readonly shopId: string; readonly questionId: number }
  | ({ readonly kind: 'prepare'; readonly shopId: string } & Preparation)
  | { readonly kind: 'order'; readonly shopId: string; readonly order: WorkerOrder }
  /** The reply is an `answer`, which is empty if no session is open, or the network does not answer. */
  | { readonly kind: 'file_hosts'; readonly shopId: string; readonly questionId: number }
  | { readonly kind: 'ping' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'store_answer'; readonly requestId: number; readonly answer: StoreAnswer };

/** The store's answer to a worker's request. */
export type StoreAnswer =
  | { readonly kind: 'values'; readonly values: readonly (Uint8Array | null)[] }
  | {
      readonly kind: 'surveyed';
      /** A field may come in two parts. */
      readonly fields: readonly string[];
      readonly others: readonly (readonly [field: string, value: Uint8Array])[];
      /** The cursor of the next part, or undefined if this was the last. */
      readonly next: string | undefined;
    }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string };

/** Requests of a worker to the store. Each write is one commit. */
export type StoreRequest =
  | { readonly kind: 'read'; readonly hash: SealedHash; readonly fields: readonly string[] }
  /** The names of all fields. */
  | { readonly kind: 'names'; readonly hash: SealedHash }
  /**
   * Some hundreds of fields from a cursor: all names, and the values that do not begin with `head`. A shop of a year
   * has thousands, of some kilobytes each.
   */
  | {
      readonly kind: 'survey';
      readonly hash: SealedHash;
      readonly head: Uint8Array;
      readonly from: string | undefined;
    }
  | { readonly kind: 'write'; readonly changes: readonly SealedChange[] };

/** Messages of a worker. */
export type WorkerMessage = PoolReport | SessionReport;

/** Messages of a worker about itself, for the pool that supervises it. */
export type PoolReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'pong'; readonly heapBytes: number }
  | { readonly kind: 'stopped' };

/** Something of a session that operators should see, and in which its shop's actor has no part. */
export type SessionNote =
  /** The network announced how many stanzas waited while the session was away. */
  | { readonly kind: 'offline_announced'; readonly count: number }
  /** The network reported that it had sent all waiting stanzas; `drained` of them arrived. */
  | { readonly kind: 'offline_drained'; readonly announced: number; readonly drained: number }
  /** The network stopped sending the waiting stanzas, and did not report that it had sent all. */
  | { readonly kind: 'offline_unfinished'; readonly announced: number; readonly drained: number }
  /** The network ended the stream, because a stanza of that class was not acknowledged. */
  | { readonly kind: 'unanswered'; readonly stanzaClass: string; readonly stanzaType: string | undefined };

/** Messages of a worker about its sessions. */
export type SessionReport =
  | { readonly kind: 'event'; readonly shopId: string; readonly event: SessionEvent & { generation: number } }
  | {
      readonly kind: 'note';
      readonly shopId: string;
      readonly generation: number;
      readonly note: SessionNote;
    }
  /** All is ready but the frame. The commit before the message is transmitted stores the changes; no other one may. */
  | {
      readonly kind: 'prepared';
      readonly shopId: string;
      readonly generation: number;
      readonly attempt: number;
      readonly messageId: string;
      /** The network's own id of a 1:1 recipient, if known. */
      readonly lid: string | undefined;
      /** True if a restricted number may write to that recipient. Undefined if it does not go to a person. */
      readonly hasChat: boolean | undefined;
      readonly changes: readonly SealedChange[];
    }
  | {
      readonly kind: 'outcome';
      readonly shopId: string;
      readonly generation: number;
      readonly attempt: number;
      readonly messageId: string;
      readonly outcome: SendOutcome;
    }
  /** The session ended on request; all its outcomes came before. */
  | { readonly kind: 'closed'; readonly shopId: string; readonly generation: number }
  | { readonly kind: 'answer'; readonly questionId: number; readonly answer: FileHosts | undefined }
  | {
      readonly kind: 'store';
      readonly requestId: number;
      readonly shop: SessionAddress;
      readonly request: StoreRequest;
    }
  | {
      readonly kind: 'log';
      readonly level: 'debug' | 'info' | 'warn' | 'error';
      readonly fields: Record<string, unknown>;
      readonly message: string;
    };
