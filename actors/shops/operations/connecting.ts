import type { Actors } from '../../../runtime/actors.ts';
import { afterCommand } from '../../../runtime/after-command.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { done, failed, type Outcome, refusedWith } from '../../failure.ts';
import { withReplyTimeout } from '../../with-reply-timeout.ts';
import type { ChannelWaiters } from '../effects/channel-waiters.ts';
import { codeRefusal } from '../judging/code-refusal.ts';
import { shopAddress } from '../records/shop-keys.ts';
import type {
  ChannelView,
  PairingRefusal,
  ShopOperations,
  ShopOutcome,
  ShopReference,
  WaitingCaller,
} from '../shop-operations.ts';
import { committedShop } from '../state/committed-shop.ts';
import { channelState, type ShopState } from '../state/shop-state.ts';
import { askShop, fromShop } from './ask-shop.ts';
import { channelView } from './channel-view.ts';
import type { PairingLimits, PairingWait } from './pairing-limits.ts';

/** How long POST connect waits for a QR code or the connection (docs/contract.md, POST connect). */
const CONNECT_WAIT_MS = 10_000;

export interface ConnectionOptions {
  readonly actors: Pick<Actors, 'ask' | 'state'>;
  readonly clock: Clock;
  readonly waiters: ChannelWaiters;
  /** Renders a QR code as a PNG data URL. */
  readonly qrImage: (qr: string) => Promise<string>;
  /** Limits the requests for codes to type. */
  readonly pairing: Pick<PairingLimits, 'take'>;
}

/** Makes the operations on a shop's connection. */
export function connectionOperations(
  options: ConnectionOptions,
): Pick<ShopOperations, 'channel' | 'connect' | 'requestPairingCode' | 'pollConnection' | 'disconnect'> {
  const { actors, clock, qrImage } = options;
  const view = (shop: ShopReference): Promise<ShopOutcome<ChannelView>> =>
    fromShop(actors, shop, async (state) => done(await channelView(state, qrImage)));
  return {
    channel: view,
    async connect(shop, caller) {
      const reply = await askShop(actors, shop, { type: 'connect' });
      return afterCommand(async () => {
        // Without a number to pair with, only a missing shop is refused. Its view says so.
        if (reply.ok) await untilOpened(shop, options, caller);
        return view(shop);
      });
    },
    async requestPairingCode(shop, phone, caller) {
      const pairWith = phone.replace('+', '');
      const wait = await phoneWait(shop, pairWith, options);
      const reply =
        wait === undefined
          ? await askShop(actors, shop, { type: 'connect', pairWith })
          : failed('PAIRING_RATE_LIMITED', {
              message: wait.message,
              retryAfterSeconds: Math.ceil(wait.waitMs / 1_000),
            });
      if (!reply.ok) return reply;
      return afterCommand(async () => {
        await untilOpened(shop, options, caller);
        return fromShop(actors, shop, (shopState) => pairingReply(shopState, options));
      });
    },
    pollConnection: (shop) =>
      fromShop(actors, shop, async (state) =>
        channelState(state) === 'unconfigured'
          ? failed('CHANNEL_NOT_STARTED')
          : done(await channelView(state, qrImage)),
      ),
    async disconnect(shop) {
      const answer = askShop(actors, shop, { type: 'disconnect' });
      const reply = await withReplyTimeout(clock, answer);
      return reply.ok ? afterCommand(() => view(shop)) : reply;
    },
  };
}

/**
 * Returns the reason why no code may be requested for the phone. Undefined if it may be; the request is then counted if
 * it notifies the phone.
 */
async function phoneWait(
  shop: ShopReference,
  pairWith: string,
  { actors, pairing }: Pick<ConnectionOptions, 'actors' | 'pairing'>,
): Promise<PairingWait | undefined> {
  const state = await committedShop(actors, shopAddress(shop));
  return asksPhone(state, pairWith) ? pairing.take(shop.tenantId, pairWith) : undefined;
}

/**
 * True if a request for a code makes the network notify the phone. It does not if a code for it is valid or requested
 * already, or if a number is linked.
 */
function asksPhone(state: ShopState | undefined, pairWith: string): boolean {
  if (state === undefined) return false;
  const { pairWith: waitsFor, pairedAtMs } = state.channel.context;
  const isWaiting = waitsFor === pairWith && ['starting', 'code_waiting'].includes(channelState(state));
  return pairedAtMs === null && !isWaiting;
}

/** Returns the channel, with its code if it has one. Fails if the network refused a code. */
async function pairingReply(
  state: ShopState,
  { clock, qrImage }: Pick<ConnectionOptions, 'clock' | 'qrImage'>,
): Promise<Outcome<ChannelView, PairingRefusal>> {
  const isDisconnected = channelState(state) === 'disconnected';
  const failure = isDisconnected ? codeRefusal(state.channel.context, clock.wallMs()) : undefined;
  return failure === undefined ? done(await channelView(state, qrImage)) : refusedWith(failure);
}

/**
 * Settles when a code or the connection is there, the session has ended, its caller left, or after `CONNECT_WAIT_MS`.
 */
async function untilOpened(
  shop: ShopReference,
  { actors, clock, waiters }: Pick<ConnectionOptions, 'actors' | 'clock' | 'waiters'>,
  caller: WaitingCaller | undefined,
): Promise<void> {
  const untilMs = clock.monotonicMs() + CONNECT_WAIT_MS;
  for (;;) {
    const state = await committedShop(actors, shopAddress(shop));
    const leftMs = untilMs - clock.monotonicMs();
    if (state === undefined || !isOpening(state) || leftMs <= 0 || waiters.isClosed || caller?.isGone) return;
    const change = waiters.next(shop, leftMs, caller);
    if (change === undefined) return;
    await change;
  }
}

/** True if a session is starting and has neither shown a code nor connected. */
function isOpening(state: ShopState): boolean {
  const name = channelState(state);
  return name === 'starting' || name === 'reconnecting' || (name === 'qr_waiting' && state.qr === undefined);
}
