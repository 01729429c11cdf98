/** The waits of a session, in milliseconds. */
export interface SessionTiming {
  /** How long a connection may take until its first event: a QR code, an open session or an end. */
  readonly connectMs: number;
  /** How long the client waits for the reply to one query, and for the handshake. */
  readonly queryMs: number;
  /** Between the answer to one ping and the next; a ping without an answer within `queryMs` ends the session. */
  readonly keepAliveMs: number;
  /** Interval of queries that only a working server answers, so that an open but stalled socket is noticed. */
  readonly probeEveryMs: number;
  /**
   * Between `open` and the first send: the client migrates its own addresses meanwhile (docs/chat-client.md,
   * Sending).
   */
  readonly settleMs: number;
  /** How long an inbound message waits for its commit before the socket is closed, so that it is delivered again. */
  readonly confirmMs: number;
  /** How long an ending session waits for writes that are under way. */
  readonly drainMs: number;
  /** Life of each QR code. If undefined, 60 s for the first, 20 s for the others. */
  readonly qrMs: number | undefined;
  /** How long fetching one attachment may take. */
  readonly mediaMs: number;
  /** How long uploading one attachment may take. */
  readonly uploadMs: number;
  /** How long a number known to exist is cached. */
  readonly knownNumberMs: number;
  /** How long a number known not to exist is cached. */
  readonly missingNumberMs: number;
  /** Interval of queries about the number's limits, while it is restricted or has a quota. */
  readonly limitsEveryMs: number;
  /** Minimum time between two requests for the list of groups. */
  readonly groupsFloorMs: number;
  /** Between two answers to devices of one chat that could not read a message, once the first 20 were answered. */
  readonly resendEveryMs: number;
  /** How long composing is shown at least, for each character more, and at most. */
  readonly composeFloorMs: number;
  readonly composePerCharacterMs: number;
  readonly composeRoofMs: number;
}

/** The waits in production. */
export const DEFAULT_SESSION_TIMING: SessionTiming = {
  connectMs: 30_000,
  queryMs: 20_000,
  keepAliveMs: 30_000,
  probeEveryMs: 5 * 60_000,
  settleMs: 1_000,
  confirmMs: 10_000,
  drainMs: 5_000,
  qrMs: undefined,
  mediaMs: 30_000,
  uploadMs: 60_000,
  knownNumberMs: 24 * 3_600_000,
  missingNumberMs: 3_600_000,
  limitsEveryMs: 3_600_000,
  groupsFloorMs: 20_000,
  resendEveryMs: 1_000,
  composeFloorMs: 1_000,
  composePerCharacterMs: 25,
  composeRoofMs: 6_000,
};

/** How long composing is shown before a text: longer for longer ones, a quarter up or down by chance. */
export function composingMs(timing: SessionTiming, textLength: number, chance: number): number {
  const wantedMs = timing.composeFloorMs + timing.composePerCharacterMs * textLength;
  return Math.round(Math.min(timing.composeRoofMs, wantedMs) * (0.75 + 0.5 * chance));
}
