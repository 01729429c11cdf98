import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../runtime/durations.ts';

/** The waits of a session in production, in milliseconds. */
export const DEFAULT_SESSION_TIMING = {
  /** How long a connection may get no frame before its first event: a QR code, an open session or an end. */
  connectMs: 30_000,
  /** How long it may take until that first event, whatever the network sends: others wait for its turn to open. */
  openingMs: 5 * MINUTE_MS,
  /** How long the client waits for the reply to one query, and for the handshake. */
  queryMs: 20_000,
  /** Between the answer to one ping and the next; a ping without an answer within `queryMs` ends the session. */
  keepAliveMs: 30_000,
  /** Interval of queries that only a working server answers, so that an open but stalled socket is noticed. */
  probeEveryMs: 5 * MINUTE_MS,
  /**
   * Between `open` and the first send: the client migrates its own addresses meanwhile (docs/chat-client.md,
   * Sending).
   */
  firstSendAfterMs: 1_000,
  /** How long an inbound message waits for its commit before the socket is closed, so that it is delivered again. */
  confirmMs: 10_000,
  /** How long an ending session waits for writes that are under way. */
  drainMs: 5_000,
  /** Life of each QR code. If undefined, 60 s for the first, 20 s for the others. */
  qrMs: undefined as number | undefined,
  /** How long fetching one attachment may take. */
  mediaMs: 30_000,
  /** How long uploading one attachment may take. */
  uploadMs: MINUTE_MS,
  /** The longest time from an order until its attachment begins. Its shop recalls the order two minutes later. */
  attachmentBeginMs: 10 * MINUTE_MS,
  /** How long a number known to exist is cached. */
  knownNumberMs: DAY_MS,
  /** How long a number known not to exist is cached. */
  missingNumberMs: HOUR_MS,
  /** How long the list of a person's devices is cached: the client's own value. */
  devicesMs: 5 * MINUTE_MS,
  /** How long the stored keys of one session may be looked through before the next session of the worker begins. */
  lookThroughMs: 30_000,
  /** Interval of queries about the number's limits, while it is restricted or has a quota. */
  limitsEveryMs: HOUR_MS,
  /** Minimum time between two requests for the list of groups. */
  groupsFloorMs: 20_000,
  /** Between two answers to devices of one chat that could not read a message, once the first 20 were answered. */
  resendEveryMs: 1_000,
  /** How long composing is shown for an empty text, before chance (`COMPOSING_SPREAD`). */
  composeFloorMs: 1_000,
  /** How much longer it is shown for each character. */
  composePerCharacterMs: 25,
  /** How long it is shown at most, before chance. */
  composeRoofMs: 6_000,
};

/** The waits of a session, in milliseconds. */
export type SessionTiming = Readonly<typeof DEFAULT_SESSION_TIMING>;

/** How much longer or shorter chance makes composing, as a part of its time. */
const COMPOSING_SPREAD = 0.25;

const { composeFloorMs, composeRoofMs } = DEFAULT_SESSION_TIMING;

/** The longest time in production for which composing is shown before a text. */
export const LONGEST_COMPOSING_MS = composeRoofMs * (1 + COMPOSING_SPREAD);

/** Halfway between the times of the shortest and of a long text, for an estimate. */
export const MEAN_COMPOSING_MS = (composeFloorMs + composeRoofMs) / 2;

/** How long composing is shown before a text: longer for longer ones, up to a quarter more or less by chance. */
export function composingMs(timing: SessionTiming, textLength: number, chance: number): number {
  const wantedMs = timing.composeFloorMs + timing.composePerCharacterMs * textLength;
  const shownMs = Math.min(timing.composeRoofMs, wantedMs);
  return Math.round(shownMs * (1 - COMPOSING_SPREAD + 2 * COMPOSING_SPREAD * chance));
}
