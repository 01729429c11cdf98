import type { Write } from '../../runtime/store.ts';
import type { EgressAddress } from '../egress-address.ts';
import type { FileHosts, InboundContent, InboundKind } from '../inbound-content.ts';
import type { InboundMode } from '../inbound-mode.ts';
import type { MediaType } from '../media-type.ts';

/**
 * The port to the sending component: one live session per shop on the chat network. It has two implementations, the
 * real client in worker threads and one in memory. One conformance suite runs on both.
 *
 * Calls only start things. Results arrive as events, each delivered to the shop's actor. An order that was not recalled
 * gets exactly one outcome event, even if the session or its worker ends.
 */
export interface SessionHost {
  /**
   * Opens the shop's session. With stored credentials it resumes. Without them it asks for pairing and reports QR codes
   * or, if `pairWith` names a phone, one code to type on that phone.
   *
   * An open session is ended first. Every event carries `generation`, so that an actor can distinguish late events of
   * an old session from those of a new one.
   */
  open(shop: SessionAddress, options: SessionOpening): void;
  /** Ends the shop's session on this node and keeps its credentials. Silent: no `closed` event follows. */
  close(shop: SessionAddress): void;
  /** Ends the session, unlinks this device on the network if it can, and erases the credentials. */
  erase(shop: SessionAddress): Promise<void>;
  /**
   * Prepares a message or status for the wire. It looks a 1:1 recipient up (cached), shows composing for a time that
   * fits the text, fetches the attachment, requests devices and keys, and seals.
   *
   * Reports `prepared` when only the frame is missing, and waits for `transmit`. `recipient_known` comes before that if
   * the network knows the recipient by another number than the order's. Outcome: `send_outcome`, once, also if it was
   * never ready.
   */
  prepare(shop: SessionAddress, order: SendOrder): void;
  /**
   * Sends the prepared message. The writes that came with `prepared` are stored by now. Each `prepared` allows one
   * stanza. Does nothing if the order already has an outcome; that event is then on its way.
   */
  transmit(shop: SessionAddress, messageId: string): void;
  /** Cancels an order that was not transmitted: no event follows for it. A transmitted order continues. */
  recall(shop: SessionAddress, messageId: string): void;
  /**
   * A transmitted message is not sent once more. Its outcome is `unknown` if its connection is lost before the
   * acknowledgement, and `refused` if it reached no one.
   */
  doNotRepeat(shop: SessionAddress, messageId: string): void;
  /**
   * The event with this token is committed: the receipt of an inbound message, or the acknowledgement of receipts, may
   * be sent.
   */
  confirmInbound(shop: SessionAddress, token: string): void;
  /** Marks a person's message as read, by number or by the network's own id. Reports no result. */
  markRead(shop: SessionAddress, message: ReadMessage): void;
  /** Sets whether the shop's sessions report the content of inbound messages from now on. */
  setInboundMode(shop: SessionAddress, inbound: InboundMode): void;
  /**
   * Requests all groups again, or one of them. Outcome: a `groups` event with all known groups once the network
   * replied. It comes at once if they were requested a moment ago. No event comes before the first list was received.
   */
  refreshGroups(shop: SessionAddress, groupId?: string): void;
  /**
   * Makes a connection to the chat network through that proxy, as a session would. Resolves with the reason if it
   * fails, after ten seconds at the latest. The reason contains no password. Undefined if it works.
   */
  tryEgress(address: EgressAddress): Promise<string | undefined>;
  /**
   * Returns the network's file hosts, with their ports. Undefined if no session is open, or the network names none.
   * Never rejects.
   */
  fileHosts(shop: SessionAddress): Promise<FileHosts | undefined>;
  /** True while a worker can take orders, or the first one is starting. */
  available(): boolean;
  /** Returns the counts since the start, and the state of the workers. */
  figures(): SessionFigures;
  /** Facts of the live session for operators; no secrets. */
  describe(shop: SessionAddress): Record<string, unknown> | undefined;
  /** Ends all sessions and workers. */
  stop(): Promise<void>;
}

/** How a session is opened. */
export interface SessionOpening {
  readonly generation: number;
  /** Digits of the number whose phone is to type a code, if there are no credentials. If absent, a QR code is shown. */
  readonly pairWith?: string;
  /** The inbound messages that the tenant gets. If absent, none. */
  readonly inbound?: InboundMode;
  /** The proxy for all its connections, as `EgressVault` sealed it. If absent, they use the node's own address. */
  readonly egress?: string;
}

/** The counts of one node's sending component since it started, and the state of its workers. */
export interface SessionFigures {
  readonly workersLost: number;
  /** JavaScript heap in use by each ready worker, by its index, as reported with its last heartbeat. */
  readonly workerHeapBytes: ReadonlyMap<number, number>;
  /** Sessions that ended by themselves, by cause. */
  readonly ends: ReadonlyMap<SessionEnd | 'worker_lost', number>;
  /** The counts of orders by their outcome. */
  readonly outcomes: readonly OutcomeCount[];
  /** Messages that people wrote to shops, repeated deliveries included. */
  readonly received: number;
  /** The messages whose content is published to the tenant, by kind. */
  readonly published: ReadonlyMap<InboundKind, number>;
  /** Sessions that the network ended because it missed an acknowledgement, by the class of the stanza. */
  readonly unanswered: ReadonlyMap<string, number>;
  /** Stanzas that waited while sessions were offline: the announced number, and the number that arrived. */
  readonly offline: { readonly announced: number; readonly drained: number };
}

/** How many orders had an outcome. `code` is the network's code of a refusal, and empty for all other outcomes. */
export interface OutcomeCount {
  readonly outcome: SendOutcome['kind'];
  readonly code: string;
  readonly count: number;
}

/** Which shop a session belongs to, and the shard its credentials are stored under. */
export interface SessionAddress {
  readonly shard: number;
  readonly tenantId: string;
  readonly shopId: string;
}

/** One message or status to be put on the wire. */
export interface SendOrder {
  /** Our message's id (ObjectId). */
  readonly messageId: string;
  /** The network's id of the stanza, made and stored before the order. */
  readonly wireId: string;
  readonly kind: 'message' | 'status';
  /**
   * E.164 with plus, as the caller wrote it; or a group id ending in `@g.us`; or the network's own id of a person
   * (`@lid`). Unused for a status.
   */
  readonly to: string;
  /** The number that the network last named for the recipient. If undefined, `to`. */
  readonly knownAs: string | undefined;
  readonly text: string | undefined;
  readonly mediaUrl: string | undefined;
  readonly mediaType: MediaType | undefined;
  /** The numbers a status is shown to, E.164 with plus. */
  readonly audience: readonly string[] | undefined;
  /** How long the network may take to acknowledge before the outcome counts as unknown, in milliseconds. */
  readonly deadlineMs: number;
  /** The recipient's message that this message quotes. */
  readonly quoted?: QuotedMessage;
  /**
   * True if it may not start a chat. Without a token of the recipient the order then ends as `no_chat`, before
   * composing is shown.
   */
  readonly needsChat?: true;
}

/** A message that was read: its stanza, and its sender by number or by the network's own id. */
export interface ReadMessage {
  readonly from: string;
  readonly wireId: string;
}

/** The quoted part of a message. */
export interface QuotedMessage {
  /** The network's id of its stanza. */
  readonly wireId: string;
  /** Empty if it is not known. */
  readonly text: string;
}

/** The outcome of a send order. */
export type SendOutcome =
  /** The network acknowledged the stanza. */
  | { readonly kind: 'acknowledged' }
  /** The network refused it with an ack error that is not a rate signal (for example 463, 479). Never retry it. */
  | { readonly kind: 'refused'; readonly code: string }
  /**
   * A rate signal (ack 429, `rate-overlimit`): the message was not sent. `backoffMs` is the wait that the network
   * requests, if any.
   */
  | { readonly kind: 'rate_limited'; readonly backoffMs?: number }
  /** Fetching or preparing the media failed before anything was sent. */
  | { readonly kind: 'media_unavailable'; readonly detail: string }
  /** The recipient is not on the network. Nothing reached the wire. */
  | { readonly kind: 'not_on_network' }
  /** The order needs a chat, and the network gave the number no token of the recipient. Nothing reached the wire. */
  | { readonly kind: 'no_chat' }
  /**
   * Nothing reached the wire, and the message is not the cause: no open session, one that ended, or a look-up without a
   * reply. The message waits.
   */
  | { readonly kind: 'not_sent' }
  /**
   * Nothing reached the wire although the session was open. The network gave no reply about the recipient or no devices
   * or keys for them, or the worker crashed. It may be sent again, but not endlessly: other messages wait for it.
   */
  | { readonly kind: 'unprepared' }
  /** The worker that was sending it crashed or was ended: it may have been sent. Never retry it. */
  | { readonly kind: 'restarted' }
  /** It may have been sent (deadline, socket lost after the bytes left). Never retry it. */
  | { readonly kind: 'unknown' };

/** Why a session ended. */
export type SessionEnd =
  /** 408, 428, 500, 503, connect watchdog, stalled socket, a hung or crashed worker: retry with backoff. */
  | 'transient'
  /** 515: expected after pairing; reopen at once. */
  | 'restart_required'
  /** 440: another owner of this identity took over. */
  | 'replaced'
  /** 401: unlinked by the phone; must be paired again. */
  | 'logged_out'
  /** 403 or 406: the number is locked or banned. */
  | 'forbidden'
  /** 402: the number is banned until a time that the event names. */
  | 'temporarily_banned'
  /** 400, 409, 411, 413 to 418: the network will not have this login. */
  | 'login_refused'
  /** 405: the client's version is refused; hits the whole fleet. */
  | 'outdated'
  /** The shop's egress made no connection: retry with backoff, and only through the egress. */
  | 'egress_unreachable'
  /** No one scanned any of the QR codes, or typed the code. */
  | 'qr_exhausted'
  /** The network gives no code for that number. `statusCode` 429 means too many requests. */
  | 'pairing_refused'
  /** The account links devices with a passkey alone. */
  | 'passkey_required'
  /** Stored credentials exist and cannot be read; they are left as they are. */
  | 'credentials_unreadable';

/** The network's restriction of new chats. */
export interface ReportedRestriction {
  readonly isActive: boolean;
  /** The network's own name for it, for example `RESTRICT_ALL_COMPANIONS`. */
  readonly kind: string;
  /** Milliseconds since the Unix epoch, or null if the network named no end. */
  readonly endsAtMs: number | null;
}

/** How many messages the number may send to people who have not answered, and how many it has sent. */
export interface ReportedNewChats {
  readonly quota: number;
  readonly used: number;
  readonly warning: 'first' | 'second' | 'capped' | null;
  /** The time at which the count starts again, in milliseconds since the Unix epoch. Null if the network named none. */
  readonly endsAtMs: number | null;
}

/** One chat group as the live session knows it. */
export interface SessionGroup {
  readonly id: string;
  readonly name: string;
  readonly participantCount: number;
  readonly isAdmin: boolean;
  readonly announce: boolean;
}

/** A report of a recipient's device about a stanza. */
export interface StanzaReceipt {
  /** The network's id of the stanza. */
  readonly wireId: string;
  readonly kind: 'delivered' | 'read';
  /** E.164 with plus, or the network's own id of a person (ending in `@lid`) whose number it does not name. */
  readonly from: string;
  /** The group to which it was sent. Undefined for a person. */
  readonly group: string | undefined;
  /** The network's time, in whole seconds; milliseconds since the Unix epoch. */
  readonly atMs: number;
}

/** The events of a session, for its shop's actor. */
export type SessionEvent =
  | {
      readonly type: 'session.qr';
      readonly generation: number;
      readonly qr: string;
      readonly expiresAtMs: number;
    }
  /** The code to type on the phone that the session was opened with; one per session. */
  | {
      readonly type: 'session.pairing_code';
      readonly generation: number;
      readonly code: string;
      readonly expiresAtMs: number;
    }
  /**
   * Open and ready to send; its groups follow unasked. `pairedAtMs`: when the current credentials were paired; `phone`: digits
   * only.
   */
  | {
      readonly type: 'session.connected';
      readonly generation: number;
      readonly phone: string;
      readonly pairedAtMs: number;
    }
  | {
      readonly type: 'session.closed';
      readonly generation: number;
      readonly end: SessionEnd;
      readonly statusCode: number | undefined;
      readonly detail: string;
      /** The network's own code within its status, such as that of a temporary ban. */
      readonly networkCode?: number;
      /** How long the network wants no login, in milliseconds. */
      readonly waitMs?: number;
    }
  /** The network knows the recipient of an order by this number, E.164 with plus, and not by the order's number. */
  | {
      readonly type: 'session.recipient_known';
      readonly generation: number;
      readonly messageId: string;
      readonly number: string;
    }
  /**
   * Only the frame of a message is missing. `writes` are the steps of the ratchets that sealed it. They must be stored
   * in the commit that marks it as being sent, and at no other time.
   *
   * It comes again, without writes, before a transmitted message is sent once more: its connection was lost, or it
   * reached no one. `transmit` allows that, and `doNotRepeat` forbids it.
   *
   * `lid` is the network's own id of a 1:1 recipient, ending in `@lid`, and absent if it named none. `hasChat` is true
   * if the network gave the number a token of this recipient, so that a restricted number may write to them. It is
   * absent if the recipient is not a person.
   */
  | {
      readonly type: 'session.prepared';
      readonly generation: number;
      readonly messageId: string;
      readonly lid?: string;
      readonly hasChat?: boolean;
      readonly writes: readonly Write[];
    }
  | {
      readonly type: 'session.send_outcome';
      readonly generation: number;
      readonly messageId: string;
      readonly outcome: SendOutcome;
      /**
       * True if it is a rate signal to an attempt that was given up. It does not concern the message's present attempt.
       */
      readonly isLate?: true;
    }
  /**
   * A text (or other content, then `text` is empty) written to the shop. Its receipt waits for `confirmInbound`.
   *
   * `from` is E.164 with plus, or the network's own id of a person (ending in `@lid`) whose number it does not name.
   * `content` is published to the tenant if its mode includes it. A reaction appears only there, and does not concern
   * the policy.
   */
  | {
      readonly type: 'session.inbound';
      readonly generation: number;
      readonly token: string;
      readonly wireId: string;
      readonly from: string;
      readonly text: string;
      readonly atMs: number;
      readonly content?: InboundContent;
    }
  /**
   * Reports of recipients' devices about stanzas, gathered over a moment. They never come before the outcome of the
   * order. Their acknowledgement waits for `confirmInbound`. The next session reports again those that were not
   * confirmed.
   */
  | {
      readonly type: 'session.receipts';
      readonly generation: number;
      readonly token: string;
      readonly receipts: readonly StanzaReceipt[];
    }
  /**
   * The network reports the number's limits, by itself or in reply to the session's requests. The session asks once
   * after it opened, after a refusal 463 or 475, and hourly while the network reports a restriction or a quota.
   *
   * An absent part was not reported. If `newChats` is null, there is no quota.
   */
  | {
      readonly type: 'session.limits';
      readonly generation: number;
      readonly restriction?: ReportedRestriction;
      readonly newChats?: ReportedNewChats | null;
    }
  | { readonly type: 'session.groups'; readonly generation: number; readonly groups: readonly SessionGroup[] }
  /**
   * The worker of this session crashed or was ended because it hung. Orders in progress got their outcome before this.
   */
  | { readonly type: 'session.worker_lost'; readonly generation: number; readonly detail: string }
  /** The sending component as a whole is out of reach (no worker for 60 s). */
  | { readonly type: 'session.unreachable' }
  /** The sending component can be reached again. */
  | { readonly type: 'session.reachable' };

/** Receives a host's events: the mailbox of the shop's actor, on its control lane. */
export type SessionListener = (shop: SessionAddress, event: SessionEvent) => void;
