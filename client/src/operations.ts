/** Types of the API's document, written by `npm run client-types`: never edited by hand. */

/** Decide by this code. More values may be added. If you do not know a value, decide by the HTTP status. */
export type ErrorCode = 'AMBIGUOUS_SHOP' | 'API_KEY_EXPIRED' | 'API_KEY_INVALID' | 'API_KEY_MISSING' | 'API_KEY_REVOKED' | 'BATCH_ENDED' | 'BATCH_LIMIT_REACHED' | 'BATCH_NOT_FOUND' | 'BATCH_STARTED' | 'BOT_SERVICE_UNREACHABLE' | 'BULK_PATTERN_BLOCKED' | 'COLD_RECIPIENT_CAP_REACHED' | 'CONFLICT' | 'DAILY_CAP_REACHED' | 'DECLARED_RECIPIENT_CAP_REACHED' | 'DECLARE_BATCH_TOO_LARGE' | 'DECLARE_DAILY_CAP_REACHED' | 'DOC_ARTICLE_NOT_FOUND' | 'EMPTY_MESSAGE' | 'FORBIDDEN_PERMISSION' | 'GROUP_CONTEXT_REQUIRED' | 'GROUP_DAILY_CAP_REACHED' | 'GROUP_NOT_ADMINISTERED' | 'HOURLY_CAP_REACHED' | 'INTERNAL_ERROR' | 'IP_NOT_ALLOWED' | 'MEDIA_GONE' | 'MEDIA_NOT_FOUND' | 'MEDIA_TOO_LARGE' | 'MEDIA_UNAVAILABLE' | 'MESSAGE_NOT_FOUND' | 'MESSAGE_TOO_LONG' | 'MSGAPP_ALREADY_LINKED' | 'MSGAPP_NOT_CONFIGURED' | 'MSGAPP_NOT_CONNECTED' | 'MSGAPP_SESSION_LOST' | 'NOT_CANCELLABLE' | 'OVERLOADED' | 'PAIRING_CODE_REFUSED' | 'PAIRING_RATE_LIMITED' | 'PAYLOAD_TOO_LARGE' | 'QUOTA_EXCEEDED' | 'RATE_LIMITED' | 'RECIPIENT_OPTED_OUT' | 'RECIPIENT_RATE_LIMITED' | 'SCHEDULED_LIMIT_REACHED' | 'SCHEDULED_NOT_FOUND' | 'SERVICE_UNAVAILABLE' | 'SHOP_NAME_TAKEN' | 'SHOP_NOT_FOUND' | 'STATUSES_DAILY_CAP_REACHED' | 'TENANT_INACTIVE' | 'TENANT_OWNER_MISSING' | 'TOO_MANY_MEDIA' | 'VALIDATION_ERROR' | 'WEBHOOK_LIMIT_REACHED' | 'WEBHOOK_NOT_FOUND';

export type FieldProblem = {
  /** A dotted path, like `contacts.0.phone`. */
  readonly field: string;
  readonly message: string;
};

export type Shop = {
  readonly id: string;
  readonly name: string;
  readonly phone: string | null;
  readonly channelStatus: {
    readonly msgapp: ChannelStatus | null;
  };
  readonly createdAt: string;
};

export type CreatedShop = Shop & {
  readonly setupUrl: string;
  readonly setupRequired: readonly ('location' | 'operatingHours')[];
};

export type Channel = {
  readonly status: ChannelStatus;
  readonly channelConfigId: string | null;
  readonly qr?: string;
  readonly qrImageDataUrl?: string;
  /** The code to type on the phone. Present while it can be used; `status` is then `starting`. */
  readonly code?: string;
  readonly expiresAt?: string;
  readonly pollAfterMs?: number;
  readonly phone?: string;
  /** The reason why there is no session, if you can do something about it or should know. More values may be added. */
  readonly reason?: 'NUMBER_IN_USE' | 'PASSKEY_REQUIRED' | 'NUMBER_RESTRICTED' | 'TEMPORARILY_BANNED' | 'LOGIN_REFUSED' | 'CLIENT_OUTDATED' | 'EGRESS_UNREACHABLE' | 'UNLINKED' | 'REPLACED';
  /** The chat network's own code, if it refused the number or its login. */
  readonly networkCode?: number;
  /** The end of a temporary ban. The shop then reconnects by itself. */
  readonly bannedUntil?: string;
};

export type ChannelStatus = 'starting' | 'qr_waiting' | 'connected' | 'disconnected';

/** `usage` includes this send. For a group, `caps.perDay` and `caps.perHour` are both the shop's group budget of 24 hours. There is no hourly budget. `usage.today` and `usage.lastHour` are then the used shares, one for every 50 participants. The figures for cold and declared recipients are always those of messages to numbers. */
export type PolicyVerdict = {
  readonly recipientClass: 'known' | 'cold' | 'declared' | 'group';
  readonly warmupDay: number;
  readonly caps: {
    readonly perDay: number;
    readonly perHour: number;
    readonly coldPerDay: number;
    readonly declaredPerDay: number;
  };
  readonly usage: {
    readonly today: number;
    readonly lastHour: number;
    readonly coldToday: number;
    readonly declaredToday: number;
  };
};

export type ShopPolicy = {
  readonly warmupDay: number;
  readonly caps: {
    readonly perDay: number;
    readonly perHour: number;
    readonly coldPerDay: number;
    readonly declaredPerDay: number;
  };
  readonly usage: {
    readonly today: number;
    readonly lastHour: number;
    readonly coldToday: number;
    readonly declaredToday: number;
  };
  /** Shares for 24 hours. A message takes one share for every 50 participants of its group. */
  readonly groups: {
    readonly perDay: number;
    readonly used: number;
  };
  readonly statuses: {
    readonly perDay: number;
    readonly used: number;
  };
  readonly queue: {
    /** Messages that wait or that are being sent. */
    readonly length: number;
    readonly pausedBy: 'operator' | 'rate_signal' | null;
    readonly pausedUntil: string | null;
    /** When the next message may leave. Null: at once, or unknown. */
    readonly nextSendAt: string | null;
  };
  /** Equal to `network.restrictedUntil`. */
  readonly coldBarredUntil: string | null;
  /** The limits that the chat network has set for the shop's number. */
  readonly network: {
    /** The end of a restriction on new chats. Null: there is none. */
    readonly restrictedUntil: string | null;
    /** The network's name for the restriction. `REFUSED`: the network only refused a message. */
    readonly restriction: string | null;
    /** The quota of messages to people who have not answered, in the current cycle. Null: there is no quota. */
    readonly newChats: {
      readonly quota: number;
      readonly used: number;
      readonly endsAt: string | null;
    } | null;
  };
  readonly recipientClass?: 'known' | 'cold' | 'declared' | 'group';
  readonly wouldAllow?: boolean;
  /** The code with which the send would be refused. Null: it would be accepted. */
  readonly code?: string | null;
  /** Seconds, equal to `retryAfter` of the refusal. */
  readonly retryAfter?: number | null;
};

export type Event = {
  readonly id: string;
  readonly type: 'message.sent' | 'message.failed' | 'message.rejected' | 'message.delivered' | 'message.read';
  readonly timestamp: string;
  readonly data: Message;
} | {
  readonly id: string;
  readonly type: 'message.received';
  readonly timestamp: string;
  readonly data: ReceivedMessage;
} | {
  readonly id: string;
  readonly type: 'channel.connected';
  readonly timestamp: string;
  readonly data: {
    readonly shopId: string;
    /** Digits. */
    readonly phone: string;
  };
} | {
  readonly id: string;
  readonly type: 'channel.disconnected' | 'channel.session_lost';
  readonly timestamp: string;
  readonly data: {
    readonly shopId: string;
    /** The reason why there is no session, if you can do something about it or should know. More values may be added. */
    readonly reason?: 'NUMBER_IN_USE' | 'PASSKEY_REQUIRED' | 'NUMBER_RESTRICTED' | 'TEMPORARILY_BANNED' | 'LOGIN_REFUSED' | 'CLIENT_OUTDATED' | 'EGRESS_UNREACHABLE' | 'UNLINKED' | 'REPLACED';
    /** The chat network's own code, if it refused the number or its login. */
    readonly networkCode?: number;
    /** The end of a temporary ban. The shop then reconnects by itself. */
    readonly bannedUntil?: string;
  };
} | {
  readonly id: string;
  readonly type: 'recipient.opted_out' | 'recipient.opted_in';
  readonly timestamp: string;
  readonly data: {
    readonly shopId: string;
    /** With its plus, in the form that the person wrote from. null if the chat network gives no number. */
    readonly phone: string | null;
  };
} | {
  readonly id: string;
  readonly type: 'queue.paused';
  readonly timestamp: string;
  readonly data: {
    readonly shopId: string;
    readonly pausedBy: 'operator' | 'rate_signal';
    /** null: unknown. */
    readonly pausedUntil: string | null;
  };
} | {
  readonly id: string;
  readonly type: 'number.restricted';
  readonly timestamp: string;
  readonly data: {
    readonly shopId: string;
    /** The network's own name for it. */
    readonly restriction: string;
    readonly restrictedUntil: string;
  };
} | {
  readonly id: string;
  readonly type: 'scheduled.accepted';
  readonly timestamp: string;
  readonly data: {
    readonly shopId: string;
    /** The id of the scheduled send. */
    readonly id: string;
    /** The message that it became. */
    readonly messageId: string;
  };
} | {
  readonly id: string;
  readonly type: 'scheduled.refused';
  readonly timestamp: string;
  readonly data: {
    readonly shopId: string;
    /** The id of the scheduled send. */
    readonly id: string;
    /** The code with which a send at that moment would have been refused. */
    readonly code: string;
  };
} | {
  readonly id: string;
  readonly type: 'batch.started';
  readonly timestamp: string;
  readonly data: {
    readonly shopId: string;
    /** The id of the batch. */
    readonly id: string;
  };
} | {
  readonly id: string;
  readonly type: 'batch.finished';
  readonly timestamp: string;
  readonly data: {
    readonly shopId: string;
    /** The id of the batch. */
    readonly id: string;
    readonly status: 'finished' | 'cancelled' | 'expired';
  };
} | {
  readonly id: string;
  readonly type: 'batch.stopped';
  readonly timestamp: string;
  readonly data: {
    readonly shopId: string;
    /** The id of the batch. */
    readonly id: string;
    readonly reason: 'RECIPIENTS_OPTED_OUT' | 'NUMBER_WARNED' | 'NUMBER_RESTRICTED' | 'RATE_SIGNALS' | 'SESSION_LOST';
  };
} | {
  readonly id: string;
  readonly type: 'number.warned';
  readonly timestamp: string;
  readonly data: {
    readonly shopId: string;
    readonly warning: 'first' | 'second' | 'capped';
    /** Messages to people who have not answered. */
    readonly quota: number;
    readonly used: number;
    /** null: the network did not say. */
    readonly endsAt: string | null;
  };
} | {
  readonly id: string;
  readonly type: 'queue.resumed' | 'number.unrestricted';
  readonly timestamp: string;
  readonly data: {
    readonly shopId: string;
  };
};

export type AcceptedMessage = AcceptedStatus & {
  readonly policy: PolicyVerdict;
};

export type AcceptedStatus = {
  readonly id: string;
  readonly status: MessageStatus;
  readonly statusUrl: string;
};

export type Batch = {
  readonly id: string;
  readonly shopId: string;
  readonly name: string;
  /** `waiting`: nothing was accepted yet. `stopped`: it stopped by itself, as `stopped` says. */
  readonly status: 'waiting' | 'running' | 'paused' | 'stopped' | 'finished' | 'cancelled' | 'expired';
  readonly text: string | null;
  readonly mediaUrl: string | null;
  readonly mediaType: 'image' | 'video' | 'document' | null;
  /** The part of each cap up to which a batch may send. */
  readonly share: number;
  readonly quietHours: {
    /** A time of day, `HH:MM`. */
    readonly from: string;
    /** A time of day like `from`. If it is earlier than `from`, it is on the next day. */
    readonly to: string;
    /** The name of a time zone in the IANA database. */
    readonly timeZone: string;
  } | null;
  readonly notBefore: string;
  /** Nothing more is sent after this. */
  readonly notAfter: string;
  readonly createdAt: string;
  /** When its first message was accepted. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly stopped: {
    readonly reason: 'RECIPIENTS_OPTED_OUT' | 'NUMBER_WARNED' | 'NUMBER_RESTRICTED' | 'RATE_SIGNALS' | 'SESSION_LOST';
    readonly at: string;
  } | null;
  /** The recipients that were accepted. */
  readonly recipients: number;
  readonly progress: {
    /** No message was made for them yet. */
    readonly waiting: number;
    /** Their message waits or is being sent. */
    readonly queued: number;
    readonly sent: number;
    readonly failed: number;
    readonly rejected: number;
    /** No message was made for them, and none will be. Those whom a call refused are included. */
    readonly refused: number;
    /** An earlier message has their idempotencyKey, so none was made. */
    readonly repeated: number;
  };
  /** How many messages failed or were rejected, and how many recipients were refused, for each code. */
  readonly codes: Readonly<Record<string, number>>;
  /** When the remaining messages will be accepted. Null in lists, and if none remain. */
  readonly forecast: {
    readonly firstAt: string | null;
    readonly lastAt: string | null;
    /** In the time zone of the quiet hours, or in UTC if there are none. */
    readonly days: readonly {
      readonly date: string;
      readonly count: number;
    }[];
  } | null;
  readonly idempotencyKey: string | null;
};

export type TakenBatch = Batch & {
  readonly refused: readonly {
    readonly to: string;
    readonly code: 'RECIPIENT_OPTED_OUT' | 'COLD_RECIPIENT';
  }[];
};

export type ScheduledSend = {
  readonly id: string;
  readonly shopId: string;
  readonly status: 'scheduled' | 'accepted' | 'refused' | 'cancelled';
  readonly sendAt: string;
  /** It is not attempted after this time. */
  readonly notAfter: string;
  readonly to: string;
  /** Null after it has ended. If it became a message, that message has the text. */
  readonly text: string | null;
  readonly mediaUrl: string | null;
  readonly mediaType: 'image' | 'video' | 'document' | null;
  readonly idempotencyKey: string | null;
  readonly createdAt: string;
  /** The message that it became. */
  readonly messageId: string | null;
  /** Why it did not become a message. */
  readonly code: string | null;
};

export type Message = {
  readonly id: string;
  readonly shopId: string;
  readonly channel: 'msgapp';
  readonly to: string | null;
  readonly kind: 'message' | 'status';
  readonly text: string | null;
  readonly mediaUrl: string | null;
  readonly mediaType: 'image' | 'video' | 'document' | null;
  readonly status: MessageStatus;
  readonly reason: MessageReason | null;
  readonly via: 'shop' | 'pool';
  readonly policy: PolicyVerdict | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly sentAt: string | null;
  readonly idempotencyKey: string | null;
  /** `X-Request-Id` of the call that made it. Null for old records. */
  readonly requestId: string | null;
  /** W3C trace context of that call. */
  readonly traceparent: string | null;
  /** When the first recipient's phone reported it. null: no phone reported it. Reports count for 48 hours after the message was sent. There are none for a status post or for a message that the pool sent. */
  readonly deliveredAt: string | null;
  /** When the first recipient read it. Many people turn this report off, so null does not mean unread. */
  readonly readAt: string | null;
  /** Groups only: how many members' phones have it. */
  readonly deliveredCount?: number;
  /** Groups only: how many members reported that they read it. */
  readonly readCount?: number;
  /** Replies only: the `fromId` of the person. It is there even if `to` is null. */
  readonly toId?: string;
  /** Replies only: the inbound message that it answers. */
  readonly replyTo?: string;
  /** The batch that the message belongs to, if any. */
  readonly batchId?: string;
  /** While it is `queued` at its own shop: its position in that shop's queue. 1 is sent next. */
  readonly position?: number;
  /** When it is likely to leave. Null: unknown. */
  readonly estimatedSendAt?: string | null;
};

export type MessageStatus = 'queued' | 'sending' | 'sent' | 'failed' | 'rejected';

/** More values may be added. If you do not know a value, decide by `status`. */
export type MessageReason = 'BOT_RESTARTED' | 'BOT_SERVICE_UNREACHABLE' | 'CANCELLED' | 'DELIVERY_UNKNOWN' | 'EXPIRED' | 'MEDIA_UNAVAILABLE' | 'MSGAPP_NOT_CONNECTED' | 'MSGAPP_SESSION_LOST' | 'SEND_REFUSED' | 'STATUS_NO_AUDIENCE' | 'COLD_RECIPIENT_CAP_REACHED' | 'DECLARED_RECIPIENT_CAP_REACHED' | 'GROUP_NOT_ADMINISTERED' | 'RECIPIENT_NOT_ON_MSGAPP' | 'RECIPIENT_OPTED_OUT' | 'RECIPIENT_RATE_LIMITED';

export type ReceivedMessage = {
  readonly id: string;
  readonly shopId: string;
  /** With its plus. null if the chat network gives no number. */
  readonly from: string | null;
  /** The person who wrote. The id is the same in all shops of the account, whichever address the person writes from. */
  readonly fromId: string;
  /** The name that the person chose. */
  readonly name: string | null;
  /** When it was written, according to the chat network, in whole seconds. */
  readonly at: string;
  /** More values may be added. */
  readonly kind: 'text' | 'image' | 'video' | 'document' | 'voice' | 'audio' | 'location' | 'contact' | 'sticker' | 'reaction' | 'other';
  /** null if the account does not receive texts, or if the message has none. */
  readonly text: string | null;
  /** The message of the shop that it quotes or reacts to. Null if that message was sent more than two days ago. */
  readonly replyTo: string | null;
  readonly media: {
    readonly type: string | null;
    readonly size: number | null;
    readonly fileName: string | null;
    /** The file's SHA-256, in hexadecimal digits. */
    readonly sha256: string | null;
  } | null;
};

export type InboundMessage = ReceivedMessage & {
  /** When it was marked as read. Null: it was not. */
  readonly readAt: string | null;
};

export type Group = {
  readonly id: string;
  readonly name: string;
  readonly participantCount: number;
  readonly isAdmin: boolean;
  readonly announce: boolean;
  readonly canSend: boolean;
};

export type ConsentedContact = {
  readonly id: string;
  readonly phone: string;
  readonly note: string | null;
  readonly expiresAt: string | null;
  readonly source: 'api';
  readonly createdAt: string;
  readonly revokedAt: string | null;
  readonly active: boolean;
};

export type Webhook = {
  readonly id: string;
  readonly url: string;
  /** Null: all. */
  readonly types: readonly string[] | null;
  /** Null: all. Empty: all its shops were erased, and it gets nothing. */
  readonly shops: readonly string[] | null;
  readonly createdAt: string;
  readonly disabledAt: string | null;
  /** `operator`: an operator disabled it. `tenant`: a call of the account disabled it. `gone`: it answered 410. `failing`: every attempt of five days failed. `unreadable`: the service cannot decrypt its secret. Give it a new one. */
  readonly disabledBy: 'operator' | 'tenant' | 'gone' | 'failing' | 'unreadable' | null;
  /** The former secret also signs until this time. */
  readonly formerSecretUntil: string | null;
  readonly failingSince: string | null;
  /** Events that wait for another attempt. */
  readonly waiting: number;
  /** Events for which every attempt failed. */
  readonly deadLetters: number;
  /** Events before this time were removed because of their age or number, and were not delivered. Null: none were. */
  readonly missedUntil: string | null;
};

export type FreshWebhook = Webhook & {
  readonly secret: string;
};

export type WebhookAttempts = {
  readonly items: readonly {
    readonly eventId: string;
    readonly type: string;
    readonly at: string;
    readonly durationMs: number;
    /** Counted from 1. */
    readonly number: number;
    /** Null: no answer came. */
    readonly status: number | null;
    /** Null: the event was delivered. */
    readonly error: string | null;
    /** It was the last attempt. */
    readonly isDead: boolean;
  }[];
  /** Ids of events for which every attempt failed, the newest last. */
  readonly deadLetters: readonly string[];
};

export type Identity = {
  readonly key: {
    readonly id: string;
    readonly name: string;
    readonly permissions: readonly ('shops.read' | 'shops.write' | 'msgapp.read' | 'msgapp.connect' | 'messages.send' | 'messages.read' | 'statuses.post' | 'contacts.read' | 'contacts.write' | 'groups.read' | 'inbound.read' | 'webhooks.read' | 'webhooks.write')[];
    readonly expiresAt: string | null;
    readonly createdAt: string;
  };
  readonly tenant: {
    readonly id: string;
    readonly name: string;
    readonly plan: string;
  };
  readonly limits: {
    readonly minute: number;
    readonly hour: number;
    readonly day: number;
  };
  readonly quota: {
    /** The calls that the plan allows in a calendar month (UTC), and how many are left. */
    readonly api_calls: {
      readonly limit: number;
      readonly used: number;
      readonly remaining: number;
      readonly resetsAt: string;
    };
    /** Equal to `api_calls`, under its older name. */
    readonly apiCalls: {
      readonly limit: number;
      readonly used: number;
      readonly remaining: number;
      readonly resetsAt: string;
    };
  };
};

export type Article = {
  readonly slug: string;
  readonly title: string;
  readonly summary: string;
  readonly markdown: string;
};

/** A page of a list. `nextCursor` asks for the next one, and is null after the last. */
export type Page<Item> = {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
};

/** The parameters (`params`), the data (`data`) and the statuses of each operation. */
export interface Operations {
  /**
   * Read the caller's key, tenant, permissions, limits and remaining quota.
   *
   * It counts as a call. It is answered even if the calls of the month are used up.
   *
   * Permission: `none`.
   */
  readonly readIdentity: {
    readonly params: Readonly<Record<never, never>>;
    readonly data: Identity;
    readonly status: 200;
  };
  /**
   * List the shops, newest first.
   *
   * Permission: `shops.read`.
   */
  readonly listShops: {
    readonly params: {
      readonly page?: number | undefined;
      readonly limit?: number | undefined;
    };
    readonly data: {
      readonly items: readonly Shop[];
      readonly page: number;
      readonly limit: number;
      readonly total: number;
    };
    readonly status: 200;
  };
  /**
   * Create a shop.
   *
   * Permission: `shops.write`.
   */
  readonly createShop: {
    readonly params: {
      /** A repeated call with the same key gets `200` with the result of the first call. Use ASCII only. The HTTP server may cut off a part of a key with other characters, so that two keys become one. The field `idempotencyKey` of a message takes any characters. An empty key counts as none. Two lines of this header are refused. */
      readonly idempotencyKey?: string | undefined;
      /** One line without control characters. A name needs a visible character. Half of a surrogate pair is refused. Two names are the same if their lower case is the same in Unicode form NFKC. */
      readonly name: string;
      /** Whole characters: half of a surrogate pair is refused. */
      readonly phone?: string | undefined;
    };
    readonly data: CreatedShop;
    readonly status: 200 | 201;
  };
  /**
   * Read a shop by id or name.
   *
   * Permission: `shops.read`.
   */
  readonly readShop: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
    };
    readonly data: Shop;
    readonly status: 200;
  };
  /**
   * Read the channel: its stored state and its session.
   *
   * Permission: `msgapp.read`.
   */
  readonly readChannel: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
    };
    readonly data: Channel;
    readonly status: 200;
  };
  /**
   * Start or resume the connection; answers with a QR code to scan, or connected.
   *
   * Permission: `msgapp.connect`.
   */
  readonly connectChannel: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
    };
    readonly data: Channel;
    readonly status: 200;
  };
  /**
   * Poll the connection every pollAfterMs until it is connected.
   *
   * Permission: `msgapp.connect`.
   */
  readonly pollChannel: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
    };
    readonly data: Channel;
    readonly status: 200;
  };
  /**
   * Stop the session; the configuration stays and a later connect reuses it.
   *
   * Permission: `msgapp.connect`.
   */
  readonly disconnectChannel: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
    };
    readonly data: Channel;
    readonly status: 200;
  };
  /**
   * Queue a message to a number or a group.
   *
   * The send policy is evaluated first. `retryAfter` of a `429` says when the policy would accept this send. A text without a visible character counts as no text: white space, controls, default-ignorable characters and an empty braille cell (U+2800) show nothing. A message without a text and without `mediaUrl` is refused with `EMPTY_MESSAGE`. If the session is reconnecting and a group is not known yet, the call waits up to 1.5 s. After that it is refused with `503 MSGAPP_NOT_CONNECTED` and `Retry-After`.
   *
   * Permission: `messages.send`.
   */
  readonly sendMessage: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      readonly channel: 'msgapp';
      readonly to: string;
      /** Whole characters: half of a surrogate pair is refused. */
      readonly text?: string | undefined;
      /** An http or https address without user and password. Percent-encode everything except visible ASCII. An IPv6 address must be valid, and so must a label that begins with `xn--`. */
      readonly mediaUrl?: string | undefined;
      readonly mediaType?: 'image' | 'video' | 'document' | undefined;
      /** Whole characters: half of a surrogate pair is refused. */
      readonly idempotencyKey?: string | undefined;
    };
    readonly data: AcceptedMessage;
    readonly status: 200 | 202;
  };
  /**
   * List the shop's messages, newest first.
   *
   * Permission: `messages.read`.
   */
  readonly listMessages: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      readonly status?: 'queued' | 'sending' | 'sent' | 'failed' | 'rejected' | undefined;
      readonly limit?: number | undefined;
      /** The nextCursor of the page before. */
      readonly cursor?: string | undefined;
    };
    readonly data: Page<Message>;
    readonly status: 200;
  };
  /**
   * A message's delivery state.
   *
   * Permission: `messages.read`.
   */
  readonly readMessage: {
    readonly params: {
      /** The id. */
      readonly id: string;
    };
    readonly data: Message;
    readonly status: 200;
  };
  /**
   * Post a status through the shop's number.
   *
   * A caption without a visible character counts as no caption. Without `mediaUrl` the call is then refused with `EMPTY_MESSAGE`. White space, controls, default-ignorable characters and an empty braille cell (U+2800) show nothing.
   *
   * Permission: `statuses.post`.
   */
  readonly postStatus: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      /** A repeated call with the same key gets `200` with the result of the first call. Use ASCII only. The HTTP server may cut off a part of a key with other characters, so that two keys become one. The field `idempotencyKey` of a message takes any characters. An empty key counts as none. Two lines of this header are refused. */
      readonly idempotencyKey?: string | undefined;
      /** Whole characters: half of a surrogate pair is refused. */
      readonly caption?: string | undefined;
      /** An http or https address without user and password. Percent-encode everything except visible ASCII. An IPv6 address must be valid, and so must a label that begins with `xn--`. */
      readonly mediaUrl?: string | undefined;
      readonly mediaType?: 'image' | 'video' | undefined;
    };
    readonly data: AcceptedStatus;
    readonly status: 200 | 202;
  };
  /**
   * List the shop's chat groups.
   *
   * All groups that match, on one page. The session first asks the chat network for changes, for up to 1.5 s. `canSend` is advisory; the send policy is authoritative.
   *
   * Permission: `groups.read`.
   */
  readonly listGroups: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      readonly canSend?: boolean | undefined;
      readonly minParticipants?: number | undefined;
      /** A part of the name. Upper and lower case do not matter. */
      readonly q?: string | undefined;
    };
    readonly data: Page<Group>;
    readonly status: 200;
  };
  /**
   * List the declared contacts.
   *
   * Every shop of the tenant sees the same list.
   *
   * Permission: `contacts.read`.
   */
  readonly listContacts: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      readonly activeOnly?: 'true' | 'false' | undefined;
      readonly limit?: number | undefined;
      /** The nextCursor of the page before. */
      readonly cursor?: string | undefined;
    };
    readonly data: Page<ConsentedContact>;
    readonly status: 200;
  };
  /**
   * Declare contacts that consented; all of the batch or none.
   *
   * A number that comes twice, in either form, is declared once, with the values of its last item. It counts once in `accepted`. An `expiresAt` in the past is accepted and gives `active: false`. A number with a revoked or expired declaration counts as new for the daily limit. A number with an active one does not.
   *
   * Permission: `contacts.write`.
   */
  readonly declareContacts: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      readonly contacts: readonly {
        readonly phone: string;
        /** Whole characters: half of a surrogate pair is refused. */
        readonly note?: string | undefined;
        /** In UTC. The day must exist in the calendar. Leap seconds are refused. */
        readonly expiresAt?: string | undefined;
      }[];
    };
    readonly data: {
      readonly accepted: number;
      readonly contacts: readonly ConsentedContact[];
    };
    readonly status: 202;
  };
  /**
   * Revoke a declaration; the record stays.
   *
   * If a number has two forms, either revokes it. `phone` is the declared form.
   *
   * Permission: `contacts.write`.
   */
  readonly revokeContact: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      readonly phone: string;
    };
    readonly data: {
      readonly id: string | null;
      readonly phone: string;
      readonly note: string | null;
      readonly expiresAt: string | null;
      readonly source: 'api' | null;
      readonly createdAt: string | null;
      readonly revokedAt: string | null;
      readonly active: boolean;
    };
    readonly status: 200;
  };
  /**
   * List the documentation articles.
   *
   * Permission: `none`.
   */
  readonly listArticles: {
    readonly params: Readonly<Record<never, never>>;
    readonly data: Page<{
      readonly slug: string;
      readonly title: string;
      readonly summary: string;
    }>;
    readonly status: 200;
  };
  /**
   * Read a documentation article.
   *
   * Permission: `none`.
   */
  readonly readArticle: {
    readonly params: {
      /** The slug. */
      readonly slug: string;
    };
    readonly data: Article;
    readonly status: 200;
  };
  /**
   * Read how much the shop may still send, and whether a message to one recipient would be accepted.
   *
   * Counts no send. Asks the chat network only for a group that the session does not know. With `to` the reply also has `recipientClass`, `wouldAllow`, `code` and `retryAfter`: the result that a message with a new text would have now. While the shop has no session, the result is the channel's. The shared pool is not asked.
   *
   * Permission: `messages.read`.
   */
  readonly readPolicy: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      readonly to?: string | undefined;
    };
    readonly data: ShopPolicy;
    readonly status: 200;
  };
  /**
   * List the events after a cursor, oldest first; can wait for the next event.
   *
   * Continue with `nextCursor`. Each event comes once, in the order in which it happened. Without a cursor the answer has the cursor of the present moment. A cursor older than the oldest kept event is refused, and so is one after the newest. `error.nextCursor` is then the cursor to continue from.
   *
   * With `Accept: text/event-stream` the reply stays open, as server-sent events: `id` is the cursor after the event, `event` is its type, and `data` is the event as JSON. A client that reconnects with `Last-Event-ID` continues after that event. If the key may no longer read, the stream ends with an event `end` that gives the reason.
   *
   * Permission: `messages.read`.
   */
  readonly listEvents: {
    readonly params: {
      /** The nextCursor of the page before. */
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
      /** Some of `message.sent`, `message.failed`, `message.rejected`, `message.delivered`, `message.read`, `message.received`, `channel.connected`, `channel.disconnected`, `channel.session_lost`, `recipient.opted_out`, `recipient.opted_in`, `queue.paused`, `queue.resumed`, `number.restricted`, `number.unrestricted`, `number.warned`, `scheduled.accepted`, `scheduled.refused`, `batch.started`, `batch.finished`, `batch.stopped`, separated by commas. */
      readonly types?: string | undefined;
      /** A shop's id or whole name. Only its events are returned. */
      readonly shop?: string | undefined;
      readonly waitMs?: number | undefined;
    };
    readonly data: {
      readonly items: readonly Event[];
      readonly nextCursor: string;
    };
    readonly status: 200;
  };
  /**
   * Start the connection with a code to type on the phone, instead of a QR code.
   *
   * Use it if the owner cannot scan a QR code, because this phone would also have to show it. The chat network asks for the code on the phone with the number `phone`. A repeated call for that number returns the same code while it is valid. A call for another number, or POST connect, starts again.
   *
   * Permission: `msgapp.connect`.
   */
  readonly requestPairingCode: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      readonly phone: string;
    };
    readonly data: Channel;
    readonly status: 200;
  };
  /**
   * List what people wrote to the shop, newest first.
   *
   * The list is empty if the account does not receive what people write (`inbound: none`). Messages of groups are never listed.
   *
   * Permission: `inbound.read`.
   */
  readonly listInbound: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      readonly limit?: number | undefined;
      /** The nextCursor of the page before. */
      readonly cursor?: string | undefined;
    };
    readonly data: Page<InboundMessage>;
    readonly status: 200;
  };
  /**
   * Read a message that a person wrote.
   *
   * Permission: `inbound.read`.
   */
  readonly readInbound: {
    readonly params: {
      /** The id. */
      readonly id: string;
    };
    readonly data: InboundMessage;
    readonly status: 200;
  };
  /**
   * Download the attachment of an inbound message.
   *
   * The file. The service fetches it from the chat network and decrypts it on the way. It does not store the file. If the file is not the one that was sent, or the network stops, the connection closes before the end of the reply. Use the file only if the reply is complete. Images, audio and video have their declared type. Everything else is `application/octet-stream`. An account can fetch 4 files at a time on each node.
   *
   * Permission: `inbound.read`.
   */
  readonly readInboundMedia: {
    readonly params: {
      /** The id. */
      readonly id: string;
    };
    readonly data: ReadableStream<Uint8Array>;
    readonly status: 200;
  };
  /**
   * List the webhooks and their state.
   *
   * All of them on one page, including those that operators made. Secrets are left out.
   *
   * Permission: `webhooks.read`.
   */
  readonly listWebhooks: {
    readonly params: Readonly<Record<never, never>>;
    readonly data: Page<Webhook>;
    readonly status: 200;
  };
  /**
   * Send events to an address from now on. Its secret is shown only here.
   *
   * An account has at most 20 webhooks, including those that operators made. One more is refused with `WEBHOOK_LIMIT_REACHED`. For a key without `inbound.read`, `types: null` means all types except `message.received`. If such a key names that type, the call is refused with `FORBIDDEN_PERMISSION`.
   *
   * Permission: `webhooks.write`.
   */
  readonly createWebhook: {
    readonly params: {
      /** At https, at a public address and port 443. */
      readonly url: string;
      /** The types of events that are sent to it. Null: all. */
      readonly types?: readonly ('message.sent' | 'message.failed' | 'message.rejected' | 'message.delivered' | 'message.read' | 'message.received' | 'channel.connected' | 'channel.disconnected' | 'channel.session_lost' | 'recipient.opted_out' | 'recipient.opted_in' | 'queue.paused' | 'queue.resumed' | 'number.restricted' | 'number.unrestricted' | 'number.warned' | 'scheduled.accepted' | 'scheduled.refused' | 'batch.started' | 'batch.finished' | 'batch.stopped')[] | null | undefined;
      /** The shops whose events are sent to it. Null: all. */
      readonly shops?: readonly string[] | null | undefined;
    };
    readonly data: FreshWebhook;
    readonly status: 201;
  };
  /**
   * Read a webhook and its state.
   *
   * Permission: `webhooks.read`.
   */
  readonly readWebhook: {
    readonly params: {
      /** The webhookId. */
      readonly webhookId: string;
    };
    readonly data: Webhook;
    readonly status: 200;
  };
  /**
   * Change the address, types or shops of a webhook, or disable or enable it.
   *
   * An enabled webhook continues after its last event, as long as events are kept. If the service cannot decrypt its secret, give it a new secret first.
   *
   * Permission: `webhooks.write`.
   */
  readonly changeWebhook: {
    readonly params: {
      /** The webhookId. */
      readonly webhookId: string;
      /** At https, at a public address and port 443. */
      readonly url?: string | undefined;
      /** The types of events that are sent to it. Null: all. */
      readonly types?: readonly ('message.sent' | 'message.failed' | 'message.rejected' | 'message.delivered' | 'message.read' | 'message.received' | 'channel.connected' | 'channel.disconnected' | 'channel.session_lost' | 'recipient.opted_out' | 'recipient.opted_in' | 'queue.paused' | 'queue.resumed' | 'number.restricted' | 'number.unrestricted' | 'number.warned' | 'scheduled.accepted' | 'scheduled.refused' | 'batch.started' | 'batch.finished' | 'batch.stopped')[] | null | undefined;
      /** The shops whose events are sent to it. Null: all. Empty: only if it is empty now; this changes nothing. */
      readonly shops?: readonly string[] | null | undefined;
      readonly disabled?: boolean | undefined;
    };
    readonly data: Webhook;
    readonly status: 200;
  };
  /**
   * Erase a webhook; nothing more is sent to it.
   *
   * Permission: `webhooks.write`.
   */
  readonly deleteWebhook: {
    readonly params: {
      /** The webhookId. */
      readonly webhookId: string;
    };
    readonly data: {
      readonly id: string;
      readonly deleted: true;
    };
    readonly status: 200;
  };
  /**
   * Give a webhook a new secret. The old one also signs for 24 hours.
   *
   * Permission: `webhooks.write`.
   */
  readonly rotateWebhookSecret: {
    readonly params: {
      /** The webhookId. */
      readonly webhookId: string;
    };
    readonly data: FreshWebhook;
    readonly status: 200;
  };
  /**
   * Send an event `webhook.test` once, and return the result.
   *
   * Permission: `webhooks.write`.
   */
  readonly testWebhook: {
    readonly params: {
      /** The webhookId. */
      readonly webhookId: string;
    };
    readonly data: {
      readonly status: number | null;
      readonly error: string | null;
    };
    readonly status: 200;
  };
  /**
   * List the last attempts, newest first, and the events for which every attempt failed.
   *
   * At least 2,000 attempts are kept, for all webhooks of the account together.
   *
   * Permission: `webhooks.read`.
   */
  readonly listWebhookAttempts: {
    readonly params: {
      /** The webhookId. */
      readonly webhookId: string;
      readonly limit?: number | undefined;
    };
    readonly data: WebhookAttempts;
    readonly status: 200;
  };
  /**
   * Send events again: those with the given ids, or the first 200 since a time.
   *
   * The events keep their ids. Events that were delivered before are sent again too. Events that are no longer kept are skipped. The call is refused if more than 400 events would be pending.
   *
   * Permission: `webhooks.write`.
   */
  readonly replayWebhook: {
    readonly params: {
      /** The webhookId. */
      readonly webhookId: string;
      readonly eventIds?: readonly string[] | undefined;
      /** In UTC. The first 200 events since then are sent. For more, repeat the call with the time of the last one. */
      readonly since?: string | undefined;
    };
    readonly data: {
      readonly replayed: number;
    };
    readonly status: 200;
  };
  /**
   * Mark a message that a person wrote as read, also on their phone.
   *
   * The person's phone shows it as read, unless the shop's own phone has read receipts turned off. A repeated call changes nothing.
   *
   * Permission: `inbound.read`.
   */
  readonly markInboundRead: {
    readonly params: {
      /** The id. */
      readonly id: string;
    };
    readonly data: InboundMessage;
    readonly status: 200;
  };
  /**
   * Queue a reply to the person who wrote, quoting their message.
   *
   * A reply has the policy, pacing, record and idempotency of a send. It needs no number, so it reaches people whose number the chat network hides. The record then has `to: null`. It always has `toId`. The recipient is `known`. The shop itself sends it, never the pool.
   *
   * Permission: `messages.send`.
   */
  readonly replyToInbound: {
    readonly params: {
      /** The id. */
      readonly id: string;
      /** Whole characters: half of a surrogate pair is refused. */
      readonly text?: string | undefined;
      /** An http or https address without user and password. Percent-encode everything except visible ASCII. An IPv6 address must be valid, and so must a label that begins with `xn--`. */
      readonly mediaUrl?: string | undefined;
      readonly mediaType?: 'image' | 'video' | 'document' | undefined;
      /** Whole characters: half of a surrogate pair is refused. */
      readonly idempotencyKey?: string | undefined;
    };
    readonly data: AcceptedMessage;
    readonly status: 200 | 202;
  };
  /**
   * Cancel a message or status that waits.
   *
   * It ends as `failed` with the reason `CANCELLED`, and no longer counts for the number's limits. The call that sent it still counts for its key. A repeated call gets the same answer. A message that is `sending` or has ended otherwise gets `409 NOT_CANCELLABLE`.
   *
   * Permission: `messages.send`.
   */
  readonly cancelMessage: {
    readonly params: {
      /** The id. */
      readonly id: string;
    };
    readonly data: Message;
    readonly status: 200;
  };
  /**
   * Cancel all waiting messages and statuses that match.
   *
   * At least one of the three fields is required. A message must match all that are given. Messages that are `sending` are not cancelled.
   *
   * Permission: `messages.send`.
   */
  readonly cancelQueue: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      /** Whole characters: half of a surrogate pair is refused. */
      readonly idempotencyKeyPrefix?: string | undefined;
      readonly to?: string | undefined;
      /** In UTC. The day must exist in the calendar. Leap seconds are refused. */
      readonly acceptedBefore?: string | undefined;
    };
    readonly data: {
      readonly cancelled: number;
    };
    readonly status: 200;
  };
  /**
   * Schedule a message to a number or a group, up to 90 days ahead.
   *
   * It becomes a message at `sendAt`, if the send policy accepts it then. After a temporary refusal it is attempted again until `notAfter` (default: an hour after `sendAt`; at most 7 days). A shop has at most 1,000 scheduled sends waiting.
   *
   * Permission: `messages.send`.
   */
  readonly scheduleMessage: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      readonly channel: 'msgapp';
      /** In UTC. The day must exist in the calendar. Leap seconds are refused. */
      readonly sendAt: string;
      /** In UTC. The day must exist in the calendar. Leap seconds are refused. */
      readonly notAfter?: string | undefined;
      readonly to: string;
      /** Whole characters: half of a surrogate pair is refused. */
      readonly text?: string | undefined;
      /** An http or https address without user and password. Percent-encode everything except visible ASCII. An IPv6 address must be valid, and so must a label that begins with `xn--`. */
      readonly mediaUrl?: string | undefined;
      readonly mediaType?: 'image' | 'video' | 'document' | undefined;
      /** Whole characters: half of a surrogate pair is refused. */
      readonly idempotencyKey?: string | undefined;
    };
    readonly data: ScheduledSend;
    readonly status: 200 | 201;
  };
  /**
   * List the sends that wait for their time, newest first.
   *
   * Permission: `messages.read`.
   */
  readonly listScheduled: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      readonly limit?: number | undefined;
      /** The nextCursor of the page before. */
      readonly cursor?: string | undefined;
    };
    readonly data: Page<ScheduledSend>;
    readonly status: 200;
  };
  /**
   * Read a scheduled send and its result.
   *
   * Permission: `messages.read`.
   */
  readonly readScheduled: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      /** The id. */
      readonly id: string;
    };
    readonly data: ScheduledSend;
    readonly status: 200;
  };
  /**
   * Cancel a scheduled send before its time.
   *
   * Permission: `messages.send`.
   */
  readonly cancelScheduled: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      /** The id. */
      readonly id: string;
    };
    readonly data: ScheduledSend;
    readonly status: 200;
  };
  /**
   * Send one text to many people over hours and days, as far as the send policy allows.
   *
   * Each message is an ordinary send at its time. A batch sends only while less than `share` of each cap is used. It accepts recipients who are known or declared. `refused` lists all others. A call has at most 1,000 recipients and 64 KiB. Until the batch starts, further calls can add recipients, so set `paused` or a later `notBefore`. A shop has at most 20 batches that have not ended.
   *
   * Permission: `messages.send`.
   */
  readonly createBatch: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      /** One line without control characters. A name needs a visible character. Half of a surrogate pair is refused. */
      readonly name: string;
      /** Whole characters: half of a surrogate pair is refused. */
      readonly text?: string | undefined;
      /** An http or https address without user and password. Percent-encode everything except visible ASCII. An IPv6 address must be valid, and so must a label that begins with `xn--`. */
      readonly mediaUrl?: string | undefined;
      readonly mediaType?: 'image' | 'video' | 'document' | undefined;
      readonly recipients: readonly {
        readonly to: string;
        /** The value of each `{{name}}` in the text, by name. A name has 1 to 64 characters on one line, and no braces. Fields that the text does not use are ignored. */
        readonly fields?: Readonly<Record<string, string>> | undefined;
        /** Whole characters: half of a surrogate pair is refused. */
        readonly idempotencyKey?: string | undefined;
      }[];
      /** In UTC. The day must exist in the calendar. Leap seconds are refused. */
      readonly notBefore?: string | undefined;
      /** Default: 90 days after `notBefore`; 180 at most. */
      readonly notAfter?: string | undefined;
      readonly quietHours?: {
        /** A time of day, `HH:MM`. */
        readonly from: string;
        /** A time of day like `from`. If it is earlier than `from`, it is on the next day. */
        readonly to: string;
        /** The name of a time zone in the IANA database. */
        readonly timeZone: string;
      } | undefined;
      readonly share?: number | undefined;
      readonly paused?: boolean | undefined;
      /** Whole characters: half of a surrogate pair is refused. */
      readonly idempotencyKey?: string | undefined;
    };
    readonly data: TakenBatch;
    readonly status: 200 | 201;
  };
  /**
   * List a shop's batches, newest first.
   *
   * Permission: `messages.read`.
   */
  readonly listBatches: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      readonly limit?: number | undefined;
      /** The nextCursor of the page before. */
      readonly cursor?: string | undefined;
    };
    readonly data: Page<Batch>;
    readonly status: 200;
  };
  /**
   * Read a batch: its progress, and when the rest will be sent.
   *
   * Permission: `messages.read`.
   */
  readonly readBatch: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      /** The id. */
      readonly id: string;
    };
    readonly data: Batch;
    readonly status: 200;
  };
  /**
   * Add recipients to a batch that has not started, 10,000 in all.
   *
   * Either all recipients of the call are added, except those in `refused`, or none.
   *
   * Permission: `messages.send`.
   */
  readonly addBatchRecipients: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      /** The id. */
      readonly id: string;
      readonly recipients: readonly {
        readonly to: string;
        /** The value of each `{{name}}` in the text, by name. A name has 1 to 64 characters on one line, and no braces. Fields that the text does not use are ignored. */
        readonly fields?: Readonly<Record<string, string>> | undefined;
        /** Whole characters: half of a surrogate pair is refused. */
        readonly idempotencyKey?: string | undefined;
      }[];
      /** Whole characters: half of a surrogate pair is refused. */
      readonly idempotencyKey?: string | undefined;
    };
    readonly data: TakenBatch;
    readonly status: 200;
  };
  /**
   * Pause a batch. Messages that are being sent continue.
   *
   * Permission: `messages.send`.
   */
  readonly pauseBatch: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      /** The id. */
      readonly id: string;
    };
    readonly data: Batch;
    readonly status: 200;
  };
  /**
   * Resume a batch that was paused or stopped by itself.
   *
   * Permission: `messages.send`.
   */
  readonly resumeBatch: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      /** The id. */
      readonly id: string;
    };
    readonly data: Batch;
    readonly status: 200;
  };
  /**
   * Cancel a batch. Messages that are being sent continue.
   *
   * Permission: `messages.send`.
   */
  readonly cancelBatch: {
    readonly params: {
      /** The shop's id or whole name, case-insensitive. */
      readonly idOrName: string;
      /** The id. */
      readonly id: string;
    };
    readonly data: Batch;
    readonly status: 200;
  };
}

/** The method and path of each operation. */
export const OPERATIONS = {
  readIdentity: { method: 'GET', path: '/me' },
  listShops: { method: 'GET', path: '/shops' },
  createShop: { method: 'POST', path: '/shops', idempotencyKey: 'header' },
  readShop: { method: 'GET', path: '/shops/{idOrName}' },
  readChannel: { method: 'GET', path: '/shops/{idOrName}/channels/msgapp' },
  connectChannel: { method: 'POST', path: '/shops/{idOrName}/channels/msgapp/connect' },
  pollChannel: { method: 'GET', path: '/shops/{idOrName}/channels/msgapp/connect' },
  disconnectChannel: { method: 'POST', path: '/shops/{idOrName}/channels/msgapp/disconnect' },
  sendMessage: { method: 'POST', path: '/shops/{idOrName}/messages', idempotencyKey: 'body' },
  listMessages: { method: 'GET', path: '/shops/{idOrName}/messages' },
  readMessage: { method: 'GET', path: '/messages/{id}' },
  postStatus: { method: 'POST', path: '/shops/{idOrName}/statuses', idempotencyKey: 'header' },
  listGroups: { method: 'GET', path: '/shops/{idOrName}/groups' },
  listContacts: { method: 'GET', path: '/shops/{idOrName}/contacts/consented' },
  declareContacts: { method: 'POST', path: '/shops/{idOrName}/contacts/consented' },
  revokeContact: { method: 'DELETE', path: '/shops/{idOrName}/contacts/consented' },
  listArticles: { method: 'GET', path: '/docs' },
  readArticle: { method: 'GET', path: '/docs/{slug}' },
  readPolicy: { method: 'GET', path: '/shops/{idOrName}/policy' },
  listEvents: { method: 'GET', path: '/events' },
  requestPairingCode: { method: 'POST', path: '/shops/{idOrName}/channels/msgapp/pairing-code' },
  listInbound: { method: 'GET', path: '/shops/{idOrName}/inbound' },
  readInbound: { method: 'GET', path: '/inbound/{id}' },
  readInboundMedia: { method: 'GET', path: '/inbound/{id}/media', isFile: true },
  listWebhooks: { method: 'GET', path: '/webhooks' },
  createWebhook: { method: 'POST', path: '/webhooks' },
  readWebhook: { method: 'GET', path: '/webhooks/{webhookId}' },
  changeWebhook: { method: 'PATCH', path: '/webhooks/{webhookId}' },
  deleteWebhook: { method: 'DELETE', path: '/webhooks/{webhookId}' },
  rotateWebhookSecret: { method: 'POST', path: '/webhooks/{webhookId}/rotate-secret' },
  testWebhook: { method: 'POST', path: '/webhooks/{webhookId}/test' },
  listWebhookAttempts: { method: 'GET', path: '/webhooks/{webhookId}/attempts' },
  replayWebhook: { method: 'POST', path: '/webhooks/{webhookId}/replay' },
  markInboundRead: { method: 'POST', path: '/inbound/{id}/read' },
  replyToInbound: { method: 'POST', path: '/inbound/{id}/reply', idempotencyKey: 'body' },
  cancelMessage: { method: 'POST', path: '/messages/{id}/cancel' },
  cancelQueue: { method: 'POST', path: '/shops/{idOrName}/queue/cancel' },
  scheduleMessage: { method: 'POST', path: '/shops/{idOrName}/scheduled', idempotencyKey: 'body' },
  listScheduled: { method: 'GET', path: '/shops/{idOrName}/scheduled' },
  readScheduled: { method: 'GET', path: '/shops/{idOrName}/scheduled/{id}' },
  cancelScheduled: { method: 'DELETE', path: '/shops/{idOrName}/scheduled/{id}' },
  createBatch: { method: 'POST', path: '/shops/{idOrName}/batches', idempotencyKey: 'body' },
  listBatches: { method: 'GET', path: '/shops/{idOrName}/batches' },
  readBatch: { method: 'GET', path: '/shops/{idOrName}/batches/{id}' },
  addBatchRecipients: { method: 'POST', path: '/shops/{idOrName}/batches/{id}/recipients', idempotencyKey: 'body' },
  pauseBatch: { method: 'POST', path: '/shops/{idOrName}/batches/{id}/pause' },
  resumeBatch: { method: 'POST', path: '/shops/{idOrName}/batches/{id}/resume' },
  cancelBatch: { method: 'POST', path: '/shops/{idOrName}/batches/{id}/cancel' },
} as const;
