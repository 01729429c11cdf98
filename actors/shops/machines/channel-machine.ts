/**
 * The life of a shop's channel.
 *
 * | State        | What it means                                            | Leaves on                                   |
 * |--------------|----------------------------------------------------------|---------------------------------------------|
 * | unconfigured | no caller asked to connect                              | connect → starting                          |
 * | starting     | a session is being opened                                | qr → qr_waiting, code → code_waiting, connected, closed, connect in another way → starting; qr with credentials gone → disconnected |
 * | qr_waiting   | a code waits to be scanned                               | connected, closed (codes used up → disconnected), connect by a number → starting |
 * | code_waiting | a code waits to be typed on the phone of a number        | connected, closed (its time is over → disconnected), connect by a QR code or another number → starting |
 * | connected    | the session is open and may send                         | closed, disconnect                          |
 * | reconnecting | the session ended; the next attempt waits for its time   | reconnect_due → starting, connect → starting, connected |
 * | banned       | the network bans the number until a known moment         | reconnect_due → starting, disconnect        |
 * | disconnected | ended by the caller or permanently                       | connect → starting, or banned while that lasts |
 *
 * `closed` depends on its end:
 *
 * | End                                        | What follows                                                    |
 * |--------------------------------------------|-----------------------------------------------------------------|
 * | restart_required                           | reopens at once                                                 |
 * | transient, outdated, egress_unreachable, credentials_unreadable | `reconnecting`; a channel without credentials stops after ten more attempts |
 * | login_refused                              | `reconnecting`, longer each time; the fifth disconnects         |
 * | replaced, of a paired channel              | `reconnecting` for 30 s, once: an ended process may still appear to have the session |
 * | temporarily_banned                         | `banned`, which cannot be shortened                             |
 * | qr_exhausted, pairing_refused, passkey_required | `disconnected`                                             |
 * | logged_out, forbidden, any other replaced  | terminal loss                                                   |
 *
 * A terminal loss disconnects the channel and flags it until the next connection. The queue fails with
 * MSGAPP_SESSION_LOST. A paired channel whose session asks for pairing has such a loss, too. Its credentials are gone,
 * and the queue must not go out under another number. A caller who asked to connect still gets the code, and the flag
 * stays until the code is scanned.
 *
 * Other events:
 *
 * - `connect` may name the number whose phone is to type a code (`pairWith`). It is kept until the channel is connected
 *   or has ended permanently. Each session until then asks for a new code.
 * - `disconnect` closes the session, from any configured state but `disconnected`.
 * - `refused`: another shop of the tenant has the number. The channel disconnects. A device that was just paired is
 *   unlinked and its credentials are erased. A resumed one keeps them.
 * - `activated`: this process took the shop over, or its actor crashed while a code was to be typed. It opens the
 *   session again if one is wanted. A wait after a refused login continues, and so does a ban.
 * - `egress_changed` does the same, through the new egress.
 */
import { type ChannelContext, unconfiguredContext } from './channel-context.ts';
import { channelSetup } from './channel-setup.ts';

const open = [
  'nextGeneration',
  {
    type: 'open_session',
    params: ({ context: { generation, pairWith } }: { context: ChannelContext }) =>
      pairWith == null ? { generation } : { generation, pairWith },
  },
] as const;

const onClosed = [
  {
    guard: 'isRestart',
    target: '#channel.starting',
    reenter: true,
    actions: ['rememberEnd', ...open],
  },
  {
    guard: 'isLoggedOut',
    target: '#channel.disconnected',
    actions: ['rememberEnd', 'flag', 'forgetPairing', 'lose_session', 'erase_session'],
  },
  {
    guard: 'isFirstReplaced',
    target: '#channel.reconnecting',
    actions: ['rememberEnd', 'scheduleReconnect'],
  },
  {
    guard: 'isTerminal',
    target: '#channel.disconnected',
    actions: ['rememberEnd', 'flag', 'lose_session'],
  },
  { guard: 'isBan', target: '#channel.banned', actions: ['rememberEnd', 'startBan'] },
  {
    guard: 'isExhausted',
    target: '#channel.disconnected',
    actions: ['rememberEnd', 'stopReconnecting', 'forgetAsked'],
  },
  { target: '#channel.reconnecting', actions: ['rememberEnd', 'scheduleReconnect'] },
] as const;

const onDisconnect = {
  target: '#channel.disconnected',
  actions: ['stopReconnecting', 'forgetAsked', 'close_session'],
} as const;
/** The number is connected at another shop. Resumed credentials are kept; those of a new pairing are dropped. */
const onRefused = [
  {
    guard: 'isPaired',
    target: '#channel.disconnected',
    actions: ['stopReconnecting', 'forgetAsked', 'rememberRefusal', 'close_session'],
  },
  {
    target: '#channel.disconnected',
    actions: ['stopReconnecting', 'forgetAsked', 'rememberRefusal', 'erase_session'],
  },
] as const;
/** Drops credentials that are invalid, and all data that belongs to them. */
const loseCredentials = ['flag', 'forgetPairing', 'forgetEnd', 'lose_session'] as const;
const onConnected = { target: '#channel.connected', actions: 'noteConnection' } as const;
const reopen = { target: '#channel.starting', reenter: true, actions: open } as const;
/** A request to pair a channel in another way, by code or by QR code, while it is being paired. */
const onOtherWay = { ...reopen, guard: 'isOtherWay', actions: ['noteAsked', ...open] } as const;
const onActivated = { ...reopen, actions: ['stopReconnecting', ...open] } as const;
const onEgressChanged = { ...reopen, actions: ['stopReconnecting', 'forgetTries', ...open] } as const;

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

/** The channel's states and transitions, as in the tables and the list above. */
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
            actions: [...loseCredentials, 'close_session'],
          },
          // The caller's request goes on: the number is still to be confirmed, and its connection published.
          { guard: 'isPaired', target: 'qr_waiting', actions: [...loseCredentials, 'noteAsked'] },
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
