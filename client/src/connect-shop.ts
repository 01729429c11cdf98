import { pause } from './client-clock.ts';
import type { ClientSettings } from './client-options.ts';
import type { Call } from './methods.ts';
import type { Channel } from './operations.ts';

/** Selects the shop to connect. */
export interface ConnectOptions {
  /** The shop's id or whole name. */
  readonly idOrName: string;
  /** Ends the iteration, which rejects with the signal's reason. The channel stays as it is. */
  readonly signal?: AbortSignal | undefined;
}

/** Time between two polls if the service names none, in milliseconds. */
const POLL_MS = 2_000;

/**
 * Connects a shop's number. Yields the channel with each new QR code (`qr`, `qrImageDataUrl`). Only the latest code can
 * be scanned. Then it yields the channel as `connected`, and ends. If all codes were used, it starts again, as long as
 * it is iterated. It also yields each polled channel with a `reason`, such as a number that another shop has.
 */
export async function* connectShop(
  call: Call,
  { clock }: ClientSettings,
  { idOrName, signal }: ConnectOptions,
): AsyncGenerator<Channel, void, void> {
  // Two requests for a connection make one connection.
  const options = { signal, isRepeatable: true };
  let shown: string | undefined;
  let { data: channel } = await call('connectChannel', { idOrName }, options);
  while (channel.status !== 'connected') {
    const isNew = channel.qr !== undefined && channel.qr !== shown;
    shown = channel.qr ?? shown;
    if (isNew || channel.reason !== undefined) yield channel;
    await pause(clock, channel.pollAfterMs ?? POLL_MS, signal);
    const next = channel.status === 'disconnected' ? 'connectChannel' : 'pollChannel';
    ({ data: channel } = await call(next, { idOrName }, options));
  }
  yield channel;
}
