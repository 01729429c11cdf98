import type { Write } from '../../runtime/store.ts';
import type { InboundContent } from '../inbound-content.ts';

/** The result of an order. Each order has one, unless it is recalled before. */
export type SendOutcome =
  /** The network acknowledged the stanza. */
  | { readonly kind: 'acknowledged' }
  /**
   * The network refused it with an ack error that is not a rate signal (for example 463, 479), or delivered it to no
   * one. Never retry it.
   */
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
  /** The worker crashed or was ended while it sent the message, which may have left. Never retry the message. */
  | { readonly kind: 'restarted' }
  /**
   * The message may have been sent (deadline, socket lost after the bytes left), or a stanza for no device has used its
   * id. Never retry the message.
   */
  | { readonly kind: 'unknown' };

/** The reason why a session ended, with the status codes of the network that mean it. */
export type SessionEnd =
  /** 408, 428, 500, 503, connect watchdog, stalled socket, a hung or crashed worker: retry with backoff. */
  | 'transient'
  /** 515: expected after pairing; reopen at once. */
  | 'restart_required'
  /** 440: another owner of this identity took over. */
  | 'replaced'
  /** 401 or 419: unlinked by the phone; must be paired again. */
  | 'logged_out'
  /** 403 or 406: the number is locked or banned. */
  | 'forbidden'
  /** 402: the number is banned until a time that the event names. */
  | 'temporarily_banned'
  /** 400, 409, 411, 413 to 418: the network refuses this login. */
  | 'login_refused'
  /** 405: the client's version is refused, which concerns the whole fleet. */
  | 'outdated'
  /** The shop's egress made no connection: retry with backoff, and only through the egress. */
  | 'egress_unreachable'
  /** No one scanned one of the QR codes, or typed the code. */
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
  /** The network's own id of that person, if a receipt of a 1:1 message came under it and `from` is their number. */
  readonly lid?: string;
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
   * The session is open and ready to send. Its groups follow without a request. `pairedAtMs` is the time at which the
   * current credentials were paired. `phone` has digits only.
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
   * The event comes again, without writes, before a transmitted message is sent again: its connection was lost, or the
   * message reached no one. `transmit` allows the repetition, and `do_not_repeat` forbids it.
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
   * A text (or other content, then `text` is empty) written to the shop. Its receipt waits for `confirm`.
   *
   * `from` is E.164 with plus, or the network's own id of a person (ending in `@lid`) whose number it does not name.
   * `lid` is the network's own id of them, absent if it named none. `content` is published to the tenant if its mode
   * includes it. A reaction appears only there, and does not concern the policy.
   */
  | {
      readonly type: 'session.inbound';
      readonly generation: number;
      readonly token: string;
      readonly wireId: string;
      readonly from: string;
      readonly lid?: string;
      readonly text: string;
      readonly atMs: number;
      readonly content?: InboundContent;
    }
  /**
   * Reports of recipients' devices about stanzas, gathered over a moment. They never come before the outcome of the
   * order. Their acknowledgement waits for `confirm`. The next session reports again those that were not
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
   * after it opened, and after a refusal 463 or 475. It asks hourly while the network reports a restriction or a quota.
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
  | { readonly type: 'session.unreachable' };

export type SessionEventOf<Type extends SessionEvent['type']> = Extract<
  SessionEvent,
  { readonly type: Type }
>;
