import type { EgressAddress } from '../egress-address.ts';
import type { FileHosts, InboundKind } from '../inbound-content.ts';
import type { InboundMode } from '../inbound-mode.ts';
import type { MediaType } from '../media-type.ts';
import type { SendOutcome, SessionEnd, SessionEvent } from './session-events.ts';

/**
 * The port to the sending component: one live session per shop on the chat network. It has two implementations, the
 * real client in worker threads and one in memory. One conformance suite runs on both.
 *
 * `open`, `close` and `order` only start things. Their results arrive as events, each delivered to the shop's actor. An
 * order that was not recalled gets exactly one outcome event, even if the session or its worker ends.
 */
export interface SessionHost {
  /**
   * Opens the shop's session. With stored credentials it resumes. Without them it asks for pairing and reports QR codes
   * or, if `pairWith` names a phone, one code to type on that phone.
   *
   * An open session is ended first. Every event of a session carries `generation`, so that an actor can distinguish
   * late events of an old session from those of a new one.
   */
  open(shop: SessionAddress, options: SessionOpening): void;
  /** Ends the shop's session on this node and keeps its credentials. Silent: no `closed` event follows. */
  close(shop: SessionAddress): void;
  /**
   * Ends the session, unlinks this device on the network if it can, and erases the credentials. A session that is asked
   * for meanwhile opens after that.
   */
  erase(shop: SessionAddress): Promise<void>;
  /** Gives the shop's session an order. Without an open session, `prepare` ends as `not_sent`. */
  order(shop: SessionAddress, order: SessionOrder): void;
  /**
   * Makes a connection to the chat network through that proxy, as a session would. Resolves with the reason if it
   * fails, after ten seconds at the latest. The reason contains no password. Undefined if it works.
   */
  tryEgress(address: EgressAddress): Promise<string | undefined>;
  /**
   * Returns the network's file hosts, with their ports. Undefined if no session is open, or the network does not answer
   * in time. Never rejects.
   */
  fileHosts(shop: SessionAddress): Promise<FileHosts | undefined>;
  /** True while a worker can take orders, or the first one is starting. */
  isAvailable(): boolean;
  /** Returns the counts since the start, and the state of the workers. */
  figures(): SessionFigures;
  /** Facts for operators about the shop's session, also if it ended by itself; no secrets. */
  describe(shop: SessionAddress): Record<string, unknown> | undefined;
  /** Ends all sessions and workers. */
  stop(): Promise<void>;
}

/** The orders that a shop gives its session. They are effects of its turns. */
export type SessionOrder =
  /**
   * Prepares a message or status for the wire. It looks a 1:1 recipient up (cached), and shows composing for a time
   * that fits the text. It fetches the attachment, requests devices and keys, and seals.
   *
   * Reports `prepared` when only the frame is missing, and waits for `transmit`. `recipient_known` comes before that if
   * the network knows the recipient by another number than the order's. Outcome: `send_outcome`, once, also if it was
   * never ready.
   */
  | { readonly type: 'prepare'; readonly order: SendOrder; readonly traceparent?: string | undefined }
  /**
   * Sends the prepared message, which is stored as `sending` with the writes that came with `prepared`. Each `prepared`
   * allows one stanza. Does nothing if the order already has an outcome; that event is then on its way.
   */
  | { readonly type: 'transmit'; readonly messageId: string }
  /**
   * Cancels an order that was not transmitted: no event follows for it but a rate signal. A transmitted order
   * continues.
   */
  | { readonly type: 'recall'; readonly messageId: string }
  /**
   * A transmitted message is not sent again. Its outcome is `unknown` if its connection is lost before the
   * acknowledgement, and `refused` if it reached no one.
   */
  | { readonly type: 'do_not_repeat'; readonly messageId: string }
  /**
   * The event with this token is committed: the receipt of an inbound message, or the acknowledgement of receipts, may
   * be sent.
   */
  | { readonly type: 'confirm'; readonly token: string }
  /** Marks a person's message as read, by number or by the network's own id. Reports no result. */
  | { readonly type: 'mark_read'; readonly from: string; readonly wireId: string }
  /** Sets whether the shop's sessions report the content of inbound messages from now on. */
  | { readonly type: 'set_inbound_mode'; readonly inbound: InboundMode }
  /**
   * Requests all groups again, or one of them. Outcome: a `groups` event with all known groups once the network
   * replied. It comes at once if they were requested a moment ago. No event comes before the first list was received.
   */
  | { readonly type: 'refresh_groups'; readonly groupId?: string | undefined };

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

/** How many orders had an outcome. `code` is the network's code of a refusal, or `other`; empty for other outcomes. */
export interface OutcomeCount {
  readonly outcome: SendOutcome['kind'];
  readonly code: string;
  readonly count: number;
}

/** The shop of a session, and the shard that its credentials are stored under. */
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
   * E.164 with plus, as the caller wrote it, or a group id ending in `@g.us`, or the network's id of a person (`@lid`).
   * Unused for a status.
   */
  readonly to: string;
  /** The number that the network last named for the recipient. If undefined, `to`. */
  readonly knownAs: string | undefined;
  readonly text: string | undefined;
  readonly mediaUrl: string | undefined;
  readonly mediaType: MediaType | undefined;
  /** The numbers a status is shown to, E.164 with plus. */
  readonly audience: readonly string[] | undefined;
  /** The network's own ids (`@lid`) of people who opted out. Their numbers are left out of a status's audience. */
  readonly optedOutIds?: readonly string[] | undefined;
  /** How long the network may take to acknowledge before the outcome counts as unknown, in milliseconds. */
  readonly deadlineMs: number;
  /** The recipient's message that this message quotes. */
  readonly quoted?: QuotedMessage | undefined;
  /**
   * True if it may not start a chat. Without a token of the recipient the order then ends as `no_chat`, before
   * composing is shown. By default false.
   */
  readonly needsChat?: boolean;
}

/** The quoted part of a message. */
export interface QuotedMessage {
  /** The network's id of its stanza. */
  readonly wireId: string;
  /** Empty if it is not known. */
  readonly text: string;
}

/** Receives a host's events: the mailbox of the shop's actor, on its control lane. */
export type SessionListener = (shop: SessionAddress, event: SessionEvent) => void;
