/**
 * The life of a shop's channel.
 *
 * | State        | What it means                                            | Leaves on                                   |
 * |--------------|----------------------------------------------------------|---------------------------------------------|
 * | unconfigured | no caller asked to connect                              | connect → starting                          |
 * | starting     | a session is being opened                                | qr → qr_waiting, code → code_waiting, connected → connected; qr with credentials gone → disconnected |
 * | qr_waiting   | a code waits to be scanned                               | connected, closed (codes used up → disconnected), connect by a number → starting |
 * | code_waiting | a code waits to be typed on the phone of a number        | connected, closed (its time is over → disconnected), connect by a QR code or another number → starting |
 * | connected    | the session is open and may send                         | closed, disconnect                          |
 * | reconnecting | a transient drop; the next attempt waits for its backoff | reconnect_due → starting, connect → starting |
 * | banned       | the network bans the number until a known moment         | reconnect_due → starting, disconnect        |
 * | disconnected | ended by the caller or permanently                       | connect → starting, or banned while that lasts |
 *
 * `closed` goes by its end: restart_required reopens at once; transient, outdated and credentials_unreadable wait in
 * `reconnecting` (a channel that was never paired gives up after ten attempts); login_refused waits longer each time,
 * and the fifth disconnects; temporarily_banned waits in `banned`, which cannot be shortened; qr_exhausted,
 * pairing_refused and passkey_required disconnect; replaced waits 30 s in `reconnecting` and tries once, since a dead
 * process may still appear to have the session; logged_out, forbidden and a second replaced within an hour are terminal
 * losses: disconnected, flagged until the next connection, and the queue fails with MSGAPP_SESSION_LOST. If the session
 * of a paired channel asks for pairing, its credentials are lost, which is also terminal. The channel is disconnected
 * and flagged, so that the queue does not go out under another number. If a caller asked to connect, they still get the
 * code, and the flag stays until it is scanned. `connect` may name the number whose phone is to type a code
 * (`pairWith`). It is kept until the channel is connected or has ended permanently. Each session until then asks for a
 * new code. `disconnect` from any configured state closes the session. `refused` (another shop of the tenant has the
 * number) disconnects: a device that was just paired is unlinked and its credentials go, one that was resumed keeps
 * them. `activated` (this process took the shop over) opens the session again if one is wanted, except after a refused
 * login: that wait continues. `egress_changed` does the same, through the new egress. `egress_unreachable` waits as
 * transient does.
 */
import { assign, setup } from 'xstate';
import type { SessionEnd, SessionOpening } from '../../sessions/session-host.ts';
import { type ChannelContext, unconfiguredContext } from './channel-context.ts';
import { isForgottenWhenConnected } from './channel-trouble.ts';
import { LOGIN_REFUSED_TRIES, reconnectDelayMs } from './reconnect-delay.ts';

/** The events of the channel machine. `chance` is uniform in [0, 1), for jitter. */
export type ChannelEvent =
  | {
      readonly type: 'connect';
      readonly nowMs: number;
      readonly configId: string;
      /** Like the context's; absent: a QR code. */
      readonly pairWith?: string | undefined;
    }
  | { readonly type: 'disconnect'; readonly nowMs: number }
  | { readonly type: 'qr' }
  | { readonly type: 'code' }
  | {
      readonly type: 'connected';
      readonly phone: string;
      readonly pairedAtMs: number;
      /** Since when the number's warm-up counts, if that is before this pairing. */
      readonly warmupSinceMs?: number;
    }
  /** The number is connected at another shop of the tenant, which `detail` names. */
  | { readonly type: 'refused'; readonly nowMs: number; readonly detail: string }
  | {
      readonly type: 'closed';
      readonly end: SessionEnd;
      readonly statusCode: number | undefined;
      readonly detail: string;
      readonly networkCode?: number;
      readonly waitMs?: number;
      readonly nowMs: number;
      readonly chance: number;
    }
  | { readonly type: 'reconnect_due' }
  | { readonly type: 'activated'; readonly nowMs: number }
  | { readonly type: 'egress_changed'; readonly nowMs: number };

/** The effects of the channel machine. */
export type ChannelEffect =
  | { readonly type: 'openSession'; readonly params: SessionOpening }
  | { readonly type: 'closeSession'; readonly params: undefined }
  | { readonly type: 'eraseSession'; readonly params: undefined }
  | { readonly type: 'loseSession'; readonly params: undefined };

/** How long a ban is waited out if the network names no end; and the shortest and longest wait, in milliseconds. */
const BAN_WITHOUT_END_MS = 3_600_000;
const SHORTEST_BAN_MS = 5 * 60_000;
const LONGEST_BAN_MS = 30 * 86_400_000;

/** A channel that was never paired has nothing to come back to, so it stops trying. */
const UNPAIRED_ATTEMPTS = 10;

/** A session that is taken over again within this time after it came back is lost permanently, in milliseconds. */
const REPLACED_AGAIN_MS = 3_600_000;

type Closed = Extract<ChannelEvent, { type: 'closed' }>;

const isTerminal = (end: SessionEnd): boolean =>
  end === 'replaced' || end === 'logged_out' || end === 'forbidden';

/** An end that is over must not be taken for the reason of a later one. */
const withoutReason = (lastEnd: ChannelContext['lastEnd']): ChannelContext['lastEnd'] =>
  lastEnd !== null && isForgottenWhenConnected(lastEnd.end) ? null : lastEnd;

// Effects are data: the shop's turn carries them out, so the machine's own actions do nothing.
const withOpening = (_: unknown, _params: SessionOpening): void => undefined;
const asData = (): void => undefined;

const channelSetup = setup({
  types: { context: {} as ChannelContext, events: {} as ChannelEvent },
  actions: {
    openSession: withOpening,
    closeSession: asData,
    eraseSession: asData,
    loseSession: asData,
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
    /** Failures on another egress do not count for this one. */
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
      const replaced = end === 'replaced' ? { replacedAtMs: nowMs } : {};
      const refused = end === 'login_refused' ? { loginRefusals: loginRefusals + 1 } : {};
      return { attempts: attempts + 1, reconnectAtMs, ...refused, ...replaced };
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
    settleConnection: assign(({ context, event }) =>
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
    settleDown: assign(({ context, event }) => ({
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
    // No end was reported; that of an earlier session is not the reason.
    forgetEnd: assign({ lastEnd: null }),
  },
  guards: {
    isPaired: ({ context }) => context.pairedAtMs !== null,
    /** Nothing is paired yet, and it is to be paired in another way than it is being. */
    isOtherWay: ({ context, event }) =>
      event.type === 'connect' &&
      (event.pairWith ?? null) !== (context.pairWith ?? null) &&
      context.pairedAtMs === null,
    isOnlyResuming: ({ context }) => context.pairedAtMs !== null && context.asked !== true,
    isRestart: ({ event }) => (event as Closed).end === 'restart_required',
    isLoggedOut: ({ event }) => (event as Closed).end === 'logged_out',
    isTerminal: ({ event }) => isTerminal((event as Closed).end),
    isReplacedAgain: ({ context, event }) => {
      const { end, nowMs } = event as Closed;
      const agoMs = nowMs - (context.replacedAtMs ?? Number.NEGATIVE_INFINITY);
      return end === 'replaced' && context.pairedAtMs !== null && agoMs >= REPLACED_AGAIN_MS;
    },
    isBan: ({ event }) => (event as Closed).end === 'temporarily_banned',
    waitsOutRefusal: ({ context, event }) =>
      (event.type === 'activated' || event.type === 'egress_changed') &&
      context.lastEnd?.end === 'login_refused' &&
      (context.reconnectAtMs ?? 0) > event.nowMs,
    isStillBanned: ({ context, event }) =>
      event.type === 'connect' && context.ban != null && context.ban.untilMs > event.nowMs,
    isExhausted: ({ context, event }) =>
      (event as Closed).end === 'qr_exhausted' ||
      (event as Closed).end === 'pairing_refused' ||
      (event as Closed).end === 'passkey_required' ||
      ((event as Closed).end === 'login_refused' &&
        (context.loginRefusals ?? 0) >= LOGIN_REFUSED_TRIES - 1) ||
      (context.pairedAtMs === null && context.attempts >= UNPAIRED_ATTEMPTS),
  },
});

const open = [
  'nextGeneration' as const,
  {
    type: 'openSession' as const,
    params: ({ context: { generation, pairWith } }: { context: ChannelContext }) =>
      pairWith == null ? { generation } : { generation, pairWith },
  },
];

const onClosed = [
  {
    guard: 'isRestart' as const,
    target: '#channel.starting',
    reenter: true,
    actions: ['rememberEnd' as const, ...open],
  },
  {
    guard: 'isLoggedOut' as const,
    target: '#channel.disconnected',
    actions: [
      'rememberEnd' as const,
      'flag' as const,
      'forgetPairing' as const,
      'loseSession' as const,
      'eraseSession' as const,
    ],
  },
  {
    guard: 'isReplacedAgain' as const,
    target: '#channel.reconnecting',
    actions: ['rememberEnd' as const, 'scheduleReconnect' as const],
  },
  {
    guard: 'isTerminal' as const,
    target: '#channel.disconnected',
    actions: ['rememberEnd' as const, 'flag' as const, 'loseSession' as const],
  },
  {
    guard: 'isBan' as const,
    target: '#channel.banned',
    actions: ['rememberEnd' as const, 'startBan' as const],
  },
  {
    guard: 'isExhausted' as const,
    target: '#channel.disconnected',
    actions: ['rememberEnd' as const, 'settleDown' as const, 'forgetAsked' as const],
  },
  { target: '#channel.reconnecting', actions: ['rememberEnd' as const, 'scheduleReconnect' as const] },
];

const onDisconnect = {
  target: '#channel.disconnected',
  actions: ['settleDown' as const, 'forgetAsked' as const, 'closeSession' as const],
};
/** The number is connected at another shop: resumed credentials are kept until it is free, those of a new scan are given up. */
const onRefused = [
  {
    guard: 'isPaired' as const,
    target: '#channel.disconnected',
    actions: [
      'settleDown' as const,
      'forgetAsked' as const,
      'rememberRefusal' as const,
      'closeSession' as const,
    ],
  },
  {
    target: '#channel.disconnected',
    actions: [
      'settleDown' as const,
      'forgetAsked' as const,
      'rememberRefusal' as const,
      'eraseSession' as const,
    ],
  },
];
/** Credentials that are gone, and all that goes with them. */
const loseCredentials = [
  'flag' as const,
  'forgetPairing' as const,
  'forgetEnd' as const,
  'loseSession' as const,
];
const onConnected = { target: '#channel.connected', actions: ['settleConnection' as const] };
const reopen = { target: '#channel.starting', reenter: true, actions: open };
/** A channel that is being paired already is asked to pair in the other way, by code or by QR code. */
const onOtherWay = {
  guard: 'isOtherWay' as const,
  target: '#channel.starting',
  reenter: true,
  actions: ['noteAsked' as const, ...open],
};
const onActivated = { target: '#channel.starting', reenter: true, actions: ['settleDown' as const, ...open] };
const onEgressChanged = {
  target: '#channel.starting',
  reenter: true,
  actions: ['settleDown' as const, 'forgetTries' as const, ...open],
};

const whileCodeWaits = {
  on: {
    connect: onOtherWay,
    connected: onConnected,
    refused: onRefused,
    closed: onClosed,
    disconnect: onDisconnect,
    activated: onActivated,
    egress_changed: onEgressChanged,
  },
};

/** The channel's states and transitions, as in the table above. */
export const channelMachine = channelSetup.createMachine({
  id: 'channel',
  context: unconfiguredContext,
  initial: 'unconfigured',
  states: {
    unconfigured: { on: { connect: { target: 'starting', actions: ['configure', 'noteAsked', ...open] } } },
    starting: {
      on: {
        qr: [
          {
            guard: 'isOnlyResuming',
            target: 'disconnected',
            actions: [...loseCredentials, 'closeSession'],
          },
          { guard: 'isPaired', target: 'qr_waiting', actions: loseCredentials },
          { target: 'qr_waiting' },
        ],
        code: 'code_waiting',
        connect: [onOtherWay, { actions: 'noteAsked' }],
        connected: onConnected,
        refused: onRefused,
        closed: onClosed,
        disconnect: onDisconnect,
        activated: onActivated,
        egress_changed: onEgressChanged,
      },
    },
    qr_waiting: whileCodeWaits,
    code_waiting: whileCodeWaits,
    connected: {
      on: {
        refused: onRefused,
        closed: onClosed,
        disconnect: onDisconnect,
        activated: onActivated,
        egress_changed: onEgressChanged,
      },
    },
    reconnecting: {
      on: {
        reconnect_due: reopen,
        connect: { ...reopen, actions: ['noteAsked', ...open] },
        connected: onConnected,
        refused: onRefused,
        disconnect: onDisconnect,
        activated: [{ guard: 'waitsOutRefusal' }, onActivated],
        egress_changed: [{ guard: 'waitsOutRefusal' }, onEgressChanged],
      },
    },
    banned: { on: { reconnect_due: reopen, refused: onRefused, disconnect: onDisconnect } },
    disconnected: {
      on: {
        connect: [
          { guard: 'isStillBanned', target: 'banned', actions: ['noteAsked', 'waitOutBan'] },
          { target: 'starting', actions: ['configure', 'noteAsked', ...open] },
        ],
      },
    },
  },
});
