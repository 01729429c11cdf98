import type { Actors } from '../../../runtime/actors.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Store } from '../../../runtime/store.ts';
import { done, failed, renamedFailure } from '../../failure.ts';
import { type FileHosts, LARGEST_INBOUND_FILE } from '../../inbound-content.ts';
import { committedTenant } from '../../tenants/committed-tenant.ts';
import type { InboundOperations } from '../inbound-operations.ts';
import { channelFailure } from '../judging/channel-refusal.ts';
import { readInboundRecords, type StoredInbound } from '../records/inbound-records.ts';
import type { NumberVault } from '../records/number-vault.ts';
import { shopAddress, shopKeys } from '../records/shop-keys.ts';
import type { ShopOperations, ShopReference } from '../shop-operations.ts';
import { committedShop } from '../state/committed-shop.ts';
import { askShop } from './ask-shop.ts';
import { inboundRecordView, inboundView, listInbound } from './inbound-list.ts';

export interface InboundServiceOptions {
  readonly actors: Actors;
  readonly store: Store;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly vault: NumberVault;
  readonly shops: Pick<ShopOperations, 'send'>;
  /** Returns the file servers of a shop's session; undefined if they are unknown. */
  readonly host: {
    fileHosts(shop: ShopReference & { readonly shard: number }): Promise<FileHosts | undefined>;
  };
}

/** Returns the API's operations on inbound messages. */
export function inboundService(options: InboundServiceOptions): InboundOperations {
  const { actors } = options;
  /** Returns a message of the tenant, unless its shop is erased. Messages of an erased shop may still be stored. */
  const findStored = async (tenantId: string, id: string): Promise<StoredInbound | undefined> => {
    const tenant = await committedTenant(actors, tenantId);
    if (tenant === undefined) return undefined;
    const [inbound] = await readInboundRecords(tenant.shard, [id], options);
    const isOwn = inbound?.record.tenantId === tenantId && tenant.shops.has(inbound.record.shopId);
    return isOwn ? inbound : undefined;
  };
  return {
    async list(shop, query) {
      const tenant = await committedTenant(actors, shop.tenantId);
      if (tenant?.shops.has(shop.shopId) !== true) return failed('SHOP_NOT_FOUND');
      const { shard } = shopAddress(shop);
      return done(await listInbound({ shard, keys: shopKeys(shard, shop.shopId) }, query, options));
    },
    async read(tenantId, id) {
      const inbound = await findStored(tenantId, id);
      return inbound === undefined ? NOT_FOUND : done(inboundRecordView(inbound));
    },
    async markRead(tenantId, id) {
      const inbound = await findStored(tenantId, id);
      if (inbound === undefined) return NOT_FOUND;
      if (inbound.readAtMs !== null) return done(inboundRecordView(inbound));
      const reply = await askShop(actors, inbound.record, {
        type: 'mark_read',
        inboundId: inbound.record.id,
      });
      if (reply.ok) return done(inboundRecordView(reply.value));
      // A shop that was erased meanwhile has no messages.
      return renamedFailure(reply, { from: 'SHOP_NOT_FOUND', to: 'MESSAGE_NOT_FOUND' });
    },
    async reply(tenantId, id, draft) {
      const inbound = await findStored(tenantId, id);
      if (inbound === undefined) return NOT_FOUND;
      const { record } = inbound;
      const reply = { inboundId: record.id, toId: record.fromId };
      const to = record.from ?? record.lid;
      if (to === null) return NOT_FOUND;
      const sendReply = await options.shops.send(record, { ...draft, to, reply });
      // A shop that was erased meanwhile has no messages.
      return renamedFailure(sendReply, { from: 'SHOP_NOT_FOUND', to: 'MESSAGE_NOT_FOUND' });
    },
    async attachment(tenantId, id) {
      const inbound = await findStored(tenantId, id);
      if (inbound === undefined) return NOT_FOUND;
      const { media, shopId } = inbound.record;
      if (media?.file == null) return failed('MEDIA_NOT_FOUND');
      if ((media.size ?? 0) > LARGEST_INBOUND_FILE) return failed('MEDIA_TOO_LARGE');
      const address = shopAddress(inbound.record);
      const hosts = await options.host.fileHosts({ shard: address.shard, tenantId, shopId });
      if (hosts === undefined) {
        const state = await committedShop(actors, address);
        const code = 'MSGAPP_NOT_CONNECTED';
        return state === undefined ? failed(code) : channelFailure(state, code, options.clock.wallMs());
      }
      const { type, fileName, sha256, file } = media;
      return done({ type, fileName, sha256, file, ...hosts });
    },
    async eventOf(tenantId, id) {
      const inbound = await findStored(tenantId, id);
      return inbound && inboundView(inbound.record);
    },
  };
}

const NOT_FOUND = failed('MESSAGE_NOT_FOUND');
