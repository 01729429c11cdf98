import { shardOf } from '../../../runtime/address.ts';
import type { Store } from '../../../runtime/store.ts';
import type { ShopView } from '../../tenants/tenant-operations.ts';
import { publicChannelStatus } from '../machines/channel-context.ts';
import { channelTrouble } from '../machines/channel-trouble.ts';
import { shopKeys } from '../records/shop-keys.ts';
import type { ChannelView } from '../shop-operations.ts';
import { channelState, type ShopState } from '../state/shop-state.ts';

/** How often a client should poll while it connects (docs/contract.md, POST connect). */
const POLL_AFTER_MS = 2_000;

/** Returns the channel as the API shows it. `image` renders a QR code as a PNG data URL, off the main thread. */
export async function channelView(
  state: ShopState,
  image: (qr: string) => Promise<string>,
): Promise<ChannelView> {
  const status = publicChannelStatus(channelState(state));
  const { configId, phone } = state.channel.context;
  const view: ChannelView = { status, channelConfigId: configId };
  const trouble = channelTrouble(channelState(state), state.channel.context);
  if (status === 'connected' && phone !== null) return { ...view, phone };
  if (status === 'disconnected') return { ...view, ...trouble };
  if (state.pairingCode !== undefined) {
    const { text, expiresAtMs } = state.pairingCode;
    const expiresAt = new Date(expiresAtMs).toISOString();
    return { ...view, code: text, expiresAt, pollAfterMs: POLL_AFTER_MS };
  }
  // After a crash of the actor the code is unknown until the session reports the next one.
  if (state.qr === undefined) return { ...view, ...trouble, status: 'starting', pollAfterMs: POLL_AFTER_MS };
  return {
    ...view,
    qr: state.qr.text,
    qrImageDataUrl: await image(state.qr.text),
    expiresAt: new Date(state.qr.expiresAtMs).toISOString(),
    pollAfterMs: POLL_AFTER_MS,
  };
}

/** Returns the channel status of a tenant's shops in the order of their ids; null until a shop was connected once. */
export async function readChannelStatuses(
  store: Pick<Store, 'read'>,
  tenantId: string,
  shopIds: readonly string[],
): Promise<readonly ShopView['channelStatus']['msgapp'][]> {
  const shard = shardOf(tenantId);
  const statuses = await store.read(shopIds.map((id) => ['HGET', shopKeys(shard, id).shop, 'msgapp']));
  // An empty text also means that the shop was never connected.
  return statuses.map((status) => (status || null) as ShopView['channelStatus']['msgapp']);
}
