import { assign, setup } from 'xstate';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../runtime/durations.ts';
import type { SessionEnd } from '../../sessions/session-events.ts';
import type { SessionOpening } from '../../sessions/session-host.ts';
import type { ChannelContext } from './channel-context.ts';
import type { ChannelEvent } from './channel-events.ts';
import { isForgottenWhenConnected } from './channel-trouble.ts';
import { LOGIN_REFUSED_TRIES, reconnectDelayMs } from './reconnect-delay.ts';

/** How long a ban is waited out if the network names no end; and the shortest and longest wait, in milliseconds. */
const BAN_WITHOUT_END_MS = HOUR_MS;
const SHORTEST_BAN_MS = 5 * MINUTE_MS;
const LONGEST_BAN_MS = 30 * DAY_MS;

/** A channel without credentials has no session to resume, so it stops after this number of further attempts. */
const UNPAIRED_ATTEMPTS = 10;

/** If a session is taken over again within this time, it is lost permanently. Milliseconds. */
const REPLACED_AGAIN_MS = HOUR_MS;

type ClosedEvent = Extract<ChannelEvent, { type: 'closed' }>;

const isTerminal = (end: SessionEnd): boolean =>
  end === 'replaced' || end === 'logged_out' || end === 'forbidden';

/** A past end must not appear as the reason of a later one. */
const withoutReason = (lastEnd: ChannelContext['lastEnd']): ChannelContext['lastEnd'] =>
  lastEnd !== null && isForgottenWhenConnected(lastEnd.end) ? null : lastEnd;

// Effects are data: the shop's turn carries them out, so the machine's own actions are empty.
const withOpening = (_: unknown, _params: SessionOpening): void => undefined;
const asData = (): void => undefined;

/** Actions of the channel machine, and the guards that choose between its transitions. */
export const channelSetup = setup({
  types: { context: {} as ChannelContext, events: {} as ChannelEvent },
  actions: {
    open_session: withOpening,
    close_session: asData,
    erase_session: asData,
    lose_session: asData,
    configure: assign(({ context, event }) =>
      event.type === 'connect'
        ? {
            configId: context.configId ?? event.configId,
            attempts: 0,
            loginRefusals: 0,
            // The next caller may scan another number.
            lastEnd: withoutReason(context.lastEnd),
            downSinceMs: context.downSinceMs ?? event.nowMs,
          }
        : {},
    ),
    noteAsked: assign(({ context, event }) => ({
      asked: true,
      pairWith: (event.type === 'connect' ? event.pairWith : context.pairWith) ?? null,
    })),
    forgetAsked: assign({ asked: false, pairWith: null }),
    nextGeneration: assign(({ context }) => ({ generation: context.generation + 1, reconnectAtMs: null })),
    /** Failures on another egress do not count for this one, but refused logins do. */
    forgetTries: assign(({ context }) => ({ attempts: 0, lastEnd: withoutReason(context.lastEnd) })),
    rememberEnd: assign(({ context, event }) =>
      event.type === 'closed'
        ? {
            downSinceMs: context.downSinceMs ?? event.nowMs,
            ...(event.end === 'pairing_refused' && event.statusCode === 429
              ? { codesRefusedAtMs: event.nowMs }
              : {}),
            lastEnd: {
              end: event.end,
              statusCode: event.statusCode ?? null,
              detail: event.detail,
              atMs: event.nowMs,
              ...(event.networkCode === undefined ? {} : { networkCode: event.networkCode }),
            },
          }
        : {},
    ),
    scheduleReconnect: assign(({ context, event }) => {
      if (event.type !== 'closed') return {};
      const { attempts, loginRefusals = 0 } = context;
      const { end, chance, nowMs } = event;
      const reconnectAtMs = nowMs + reconnectDelayMs({ attempts, loginRefusals, end, chance });
      const replacement = end === 'replaced' ? { replacedAtMs: nowMs } : {};
      const refusals = end === 'login_refused' ? { loginRefusals: loginRefusals + 1 } : {};
      return { attempts: attempts + 1, reconnectAtMs, ...refusals, ...replacement };
    }),
    startBan: assign(({ event }) => {
      if (event.type !== 'closed') return {};
      const namedMs = event.waitMs ?? BAN_WITHOUT_END_MS;
      const forMs = Math.min(Math.max(namedMs, SHORTEST_BAN_MS), LONGEST_BAN_MS);
      const untilMs = event.nowMs + forMs;
      return { ban: { untilMs, forMs }, reconnectAtMs: untilMs };
    }),
    waitOutBan: assign(({ context }) => ({ reconnectAtMs: context.ban?.untilMs ?? null })),
    rememberRefusal: assign(({ event }) =>
      event.type === 'refused'
        ? {
            lastEnd: {
              end: 'number_in_use' as const,
              statusCode: null,
              detail: event.detail,
              atMs: event.nowMs,
            },
          }
        : {},
    ),
    noteConnection: assign(({ context, event }) =>
      event.type === 'connected'
        ? {
            phone: event.phone,
            pairedAtMs: event.pairedAtMs,
            warmupSinceMs: event.warmupSinceMs ?? null,
            flagged: false,
            asked: false,
            pairWith: null,
            attempts: 0,
            reconnectAtMs: null,
            downSinceMs: null,
            lastEnd: withoutReason(context.lastEnd),
            ...(context.ban == null ? {} : { ban: null }),
            ...(context.loginRefusals === undefined ? {} : { loginRefusals: 0 }),
          }
        : {},
    ),
    stopReconnecting: assign(({ context, event }) => ({
      reconnectAtMs: null,
      downSinceMs: context.downSinceMs ?? ('nowMs' in event ? event.nowMs : null),
    })),
    flag: assign({ flagged: true, asked: false, pairWith: null, reconnectAtMs: null }),
    forgetPairing: assign(({ context }) => ({
      pairedAtMs: null,
      phone: null,
      warmupSinceMs: null,
      ...(context.phone === null ? {} : { lastPhone: context.phone }),
      ...(context.pairedAtMs === null ? {} : { lastPairedAtMs: context.warmupSinceMs ?? context.pairedAtMs }),
    })),
    // No end was reported, and the end of an earlier session is not the reason.
    forgetEnd: assign({ lastEnd: null }),
  },
  guards: {
    isPaired: ({ context }) => context.pairedAtMs !== null,
    /** True if nothing is paired yet, and the request names another way of pairing than the one in progress. */
    isOtherWay: ({ context, event }) =>
      event.type === 'connect' &&
      (event.pairWith ?? null) !== (context.pairWith ?? null) &&
      context.pairedAtMs === null,
    isOnlyResuming: ({ context }) => context.pairedAtMs !== null && context.asked !== true,
    isRestart: ({ event }) => (event as ClosedEvent).end === 'restart_required',
    isLoggedOut: ({ event }) => (event as ClosedEvent).end === 'logged_out',
    isTerminal: ({ event }) => isTerminal((event as ClosedEvent).end),
    isFirstReplaced: ({ context, event }) => {
      const { end, nowMs } = event as ClosedEvent;
      const agoMs = nowMs - (context.replacedAtMs ?? Number.NEGATIVE_INFINITY);
      return end === 'replaced' && context.pairedAtMs !== null && agoMs >= REPLACED_AGAIN_MS;
    },
    isBan: ({ event }) => (event as ClosedEvent).end === 'temporarily_banned',
    waitsOutRefusal: ({ context, event }) =>
      (event.type === 'activated' || event.type === 'egress_changed') &&
      context.lastEnd?.end === 'login_refused' &&
      (context.reconnectAtMs ?? 0) > event.nowMs,
    isStillBanned: ({ context, event }) =>
      event.type === 'connect' && context.ban != null && context.ban.untilMs > event.nowMs,
    isExhausted: ({ context, event }) =>
      (event as ClosedEvent).end === 'qr_exhausted' ||
      (event as ClosedEvent).end === 'pairing_refused' ||
      (event as ClosedEvent).end === 'passkey_required' ||
      ((event as ClosedEvent).end === 'login_refused' &&
        (context.loginRefusals ?? 0) >= LOGIN_REFUSED_TRIES - 1) ||
      (context.pairedAtMs === null && context.attempts >= UNPAIRED_ATTEMPTS),
  },
});
