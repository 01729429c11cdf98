import { publicChannelStatus } from '../machines/channel-machine.ts';
import type { ChannelView } from '../record/shop-operations.ts';
import { channelState, type ShopState } from '../record/shop-state.ts';

/** How often a client should poll while it connects (docs/contract.md, POST connect). */
const POLL_AFTER_MS = 2_000;

/** The channel as the API shows it. `image` renders a QR code as a PNG data URL, off the main thread. */
export async function channelView(
  state: ShopState,
  image: (qr: string) => Promise<string>,
): Promise<ChannelView> {
  const status = publicChannelStatus(channelState(state));
  const { configId, phone } = state.channel.context;
  const view: ChannelView = { status, channelConfigId: configId };
  if (status === 'connected' && phone !== null) return { ...view, phone };
  if (status !== 'starting' && status !== 'qr_waiting') return view;
  // After a crash of the actor the code is not known until the session tells the next one.
  if (state.qr === undefined) return { ...view, status: 'starting', pollAfterMs: POLL_AFTER_MS };
  return {
    ...view,
    qr: state.qr.text,
    qrImageDataUrl: await image(state.qr.text),
    expiresAt: new Date(state.qr.expiresAtMs).toISOString(),
    pollAfterMs: POLL_AFTER_MS,
  };
}
