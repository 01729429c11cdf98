/**
 * The life of a shop's channel.
 *
 * | State        | What it means                                            | Leaves on                                   |
 * |--------------|----------------------------------------------------------|---------------------------------------------|
 * | unconfigured | nobody ever asked to connect                             | connect → starting                          |
 * | starting     | a session is being opened                                | qr → qr_waiting, connected → connected; qr with credentials gone → disconnected |
 * | qr_waiting   | a code waits to be scanned                               | connected, closed (codes used up → disconnected) |
 * | connected    | the session is open and may send                         | closed, disconnect                          |
 * | reconnecting | a transient drop; the next attempt waits for its backoff | reconnect_due → starting, connect → starting |
 * | disconnected | ended by the caller or for good                          | connect → starting                          |
 *
 * `closed` goes by its end: restart_required reopens at once; transient, outdated and credentials_unreadable wait in `reconnecting` (a
 * channel that was never paired gives up after ten attempts); qr_exhausted disconnects; replaced, logged_out,
 * and forbidden are terminal losses: disconnected, flagged until the next connection, and
 * the queue fails with MSGAPP_SESSION_LOST. A paired channel whose session asks for pairing has lost its credentials,
 * which is as terminal: disconnected and flagged too, lest the queue goes out under whatever number scans. Where
 * somebody asked to connect they get the code all the same, and the flag stays until it is scanned. `disconnect` from any configured state closes
 * the session. `activated` (this process took the shop over) opens the session again wherever one is wanted.
 */
import { assign, setup } from 'xstate';
import type { SessionEnd } from '../../session/session-host.ts';

/** What the channel machine remembers; all of it is stored. Times in milliseconds since the Unix epoch. */
export interface ChannelContext {
  /** Identifier of the channel configuration; null before the first connect. */
  readonly configId: string | null;
  /** Number of the newest session; events of older ones are void. */
  readonly generation: number;
  /** Digits only. Kept after a loss, shown only while connected. */
  readonly phone: string | null;
  /** When the current credentials were paired; null without credentials. */
  readonly pairedAtMs: number | null;
  /** When the credentials that were lost last had been paired; absent: none were lost yet. */
  readonly lastPairedAtMs?: number;
  /** Set by a terminal loss, cleared by the next connection. */
  readonly flagged: boolean;
  /**
   * Somebody asked to connect, and it has neither connected nor ended for good since, in any process; absent:
   * nobody did.
   */
  readonly asked?: boolean;
  /** Attempts since the session was last open. */
  readonly attempts: number;
  readonly reconnectAtMs: number | null;
  /** Since when there is no open session; null while connected. */
  readonly downSinceMs: number | null;
  readonly lastEnd: {
    readonly end: SessionEnd;
    readonly statusCode: number | null;
    readonly detail: string;
    readonly atMs: number;
  } | null;
}

/** What the channel machine is told. `chance` is uniform in [0, 1), for jitter. */
export type ChannelEvent =
  | { readonly type: 'connect'; readonly nowMs: number; readonly configId: string }
  | { readonly type: 'disconnect'; readonly nowMs: number }
  | { readonly type: 'qr' }
  | { readonly type: 'connected'; readonly phone: string; readonly pairedAtMs: number }
  | {
      readonly type: 'closed';
      readonly end: SessionEnd;
      readonly statusCode: number | undefined;
      readonly detail: string;
      readonly nowMs: number;
      readonly chance: number;
    }
  | { readonly type: 'reconnect_due' }
  | { readonly type: 'activated'; readonly nowMs: number };

/** What the channel machine asks for. */
export type ChannelEffect =
  | { readonly type: 'openSession'; readonly params: { readonly generation: number } }
  | { readonly type: 'closeSession'; readonly params: undefined }
  | { readonly type: 'eraseSession'; readonly params: undefined }
  | { readonly type: 'loseSession'; readonly params: undefined };

/**
 * Longest wait between two attempts to reconnect, in milliseconds. A refused client version waits this long at
 * once, and so do credentials that no configured key opens: the next deployment has the key again.
 */
export const RECONNECT_CEILING_MS = 5 * 60_000;
const RECONNECT_FLOOR_MS = 1_000;
/** A channel that was never paired has nothing to come back to, so it stops trying. */
const UNPAIRED_ATTEMPTS = 10;

type Closed = Extract<ChannelEvent, { type: 'closed' }>;

/** Exponential backoff with full jitter above half of each step (docs/chat-client.md, Disconnects). */
function reconnectDelayMs(options: { attempts: number; end: SessionEnd; chance: number }): number {
  if (options.end === 'outdated' || options.end === 'credentials_unreadable') return RECONNECT_CEILING_MS;
  const stepMs = Math.min(RECONNECT_CEILING_MS, RECONNECT_FLOOR_MS * 2 ** Math.min(options.attempts, 20));
  return Math.round(stepMs / 2 + (stepMs / 2) * options.chance);
}

const isTerminal = (end: SessionEnd): boolean =>
  end === 'replaced' || end === 'logged_out' || end === 'forbidden';

const initialContext: ChannelContext = {
  configId: null,
  generation: 0,
  phone: null,
  pairedAtMs: null,
  flagged: false,
  attempts: 0,
  reconnectAtMs: null,
  downSinceMs: null,
  lastEnd: null,
};

// Effects are data: the shop's turn carries them out, so the machine's own actions do nothing.
const withGeneration = (_: unknown, _params: { generation: number }): void => undefined;
const asData = (): void => undefined;

const channelSetup = setup({
  types: { context: {} as ChannelContext, events: {} as ChannelEvent },
  actions: {
    openSession: withGeneration,
    closeSession: asData,
    eraseSession: asData,
    loseSession: asData,
    configure: assign(({ context, event }) =>
      event.type === 'connect'
        ? {
            configId: context.configId ?? event.configId,
            attempts: 0,
            downSinceMs: context.downSinceMs ?? event.nowMs,
          }
        : {},
    ),
    noteAsked: assign({ asked: true }),
    forgetAsked: assign({ asked: false }),
    nextGeneration: assign(({ context }) => ({ generation: context.generation + 1, reconnectAtMs: null })),
    rememberEnd: assign(({ context, event }) =>
      event.type === 'closed'
        ? {
            downSinceMs: context.downSinceMs ?? event.nowMs,
            lastEnd: {
              end: event.end,
              statusCode: event.statusCode ?? null,
              detail: event.detail,
              atMs: event.nowMs,
            },
          }
        : {},
    ),
    scheduleReconnect: assign(({ context, event }) => {
      if (event.type !== 'closed') return {};
      const delayMs = reconnectDelayMs({ attempts: context.attempts, end: event.end, chance: event.chance });
      return { attempts: context.attempts + 1, reconnectAtMs: event.nowMs + delayMs };
    }),
    settleConnection: assign(({ event }) =>
      event.type === 'connected'
        ? {
            phone: event.phone,
            pairedAtMs: event.pairedAtMs,
            flagged: false,
            asked: false,
            attempts: 0,
            reconnectAtMs: null,
            downSinceMs: null,
          }
        : {},
    ),
    settleDown: assign(({ context, event }) => ({
      reconnectAtMs: null,
      downSinceMs: context.downSinceMs ?? ('nowMs' in event ? event.nowMs : null),
    })),
    flag: assign({ flagged: true, asked: false, reconnectAtMs: null }),
    forgetPairing: assign(({ context }) => ({
      pairedAtMs: null,
      phone: null,
      ...(context.pairedAtMs === null ? {} : { lastPairedAtMs: context.pairedAtMs }),
    })),
    // Nobody told why; the end of a session before is not the reason.
    forgetEnd: assign({ lastEnd: null }),
  },
  guards: {
    isPaired: ({ context }) => context.pairedAtMs !== null,
    isOnlyResuming: ({ context }) => context.pairedAtMs !== null && context.asked !== true,
    isRestart: ({ event }) => (event as Closed).end === 'restart_required',
    isLoggedOut: ({ event }) => (event as Closed).end === 'logged_out',
    isTerminal: ({ event }) => isTerminal((event as Closed).end),
    isExhausted: ({ context, event }) =>
      (event as Closed).end === 'qr_exhausted' ||
      (context.pairedAtMs === null && context.attempts >= UNPAIRED_ATTEMPTS),
  },
});

const open = [
  'nextGeneration' as const,
  {
    type: 'openSession' as const,
    params: ({ context }: { context: ChannelContext }) => ({ generation: context.generation }),
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
    guard: 'isTerminal' as const,
    target: '#channel.disconnected',
    actions: ['rememberEnd' as const, 'flag' as const, 'loseSession' as const],
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
/** Credentials that are gone, and all that goes with them. */
const loseCredentials = [
  'flag' as const,
  'forgetPairing' as const,
  'forgetEnd' as const,
  'loseSession' as const,
];
const onConnected = { target: '#channel.connected', actions: ['settleConnection' as const] };
const reopen = { target: '#channel.starting', reenter: true, actions: open };
const onActivated = { target: '#channel.starting', reenter: true, actions: ['settleDown' as const, ...open] };

/** The channel's states and transitions, as in the table above. */
export const channelMachine = channelSetup.createMachine({
  id: 'channel',
  context: initialContext,
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
        connect: { actions: 'noteAsked' },
        connected: onConnected,
        closed: onClosed,
        disconnect: onDisconnect,
        activated: onActivated,
      },
    },
    qr_waiting: {
      on: { connected: onConnected, closed: onClosed, disconnect: onDisconnect, activated: onActivated },
    },
    connected: { on: { closed: onClosed, disconnect: onDisconnect, activated: onActivated } },
    reconnecting: {
      on: {
        reconnect_due: reopen,
        connect: { ...reopen, actions: ['noteAsked', ...open] },
        connected: onConnected,
        disconnect: onDisconnect,
        activated: onActivated,
      },
    },
    disconnected: { on: { connect: { target: 'starting', actions: ['configure', 'noteAsked', ...open] } } },
  },
});

/**
 * The pairing that the warm-up counts from, in milliseconds since the Unix epoch: that of the current
 * credentials, or of the last ones until there are new ones; null before the first. A lost session so keeps the
 * caps it had, and a send is refused for the loss rather than for the caps of day 0.
 */
export function warmupPairedAtMs(context: ChannelContext): number | null {
  return context.pairedAtMs ?? context.lastPairedAtMs ?? null;
}

/** Whether the shop was connected once, in whatever state its channel is now. */
export function wasConnected({ pairedAtMs, lastPairedAtMs, flagged }: ChannelContext): boolean {
  return pairedAtMs !== null || lastPairedAtMs !== undefined || flagged;
}

/** The channel's states. */
export type ChannelStateName =
  | 'unconfigured'
  | 'starting'
  | 'qr_waiting'
  | 'connected'
  | 'reconnecting'
  | 'disconnected';

/**
 * What the contract calls a state (docs/contract.md, Channel connection state): waiting to reconnect is
 * `starting`.
 */
export function publicChannelStatus(
  state: ChannelStateName,
): 'starting' | 'qr_waiting' | 'connected' | 'disconnected' {
  if (state === 'reconnecting') return 'starting';
  if (state === 'unconfigured') return 'disconnected';
  return state;
}
