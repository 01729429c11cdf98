import type { TenantSettings } from '../../../policy/tenant-settings.ts';
import type { Actors } from '../../../runtime/actors.ts';
import { movedAwayFailure } from '../../../runtime/runtime-failure.ts';
import type { Store } from '../../../runtime/store.ts';
import { committedTenant } from '../../tenants/committed-tenant.ts';
import {
  type PoolReplies,
  type PoolReply,
  type PoolRequest,
  receiverOf,
  replyFromRecord,
} from '../protocol/pool-protocol.ts';
import type { ShopCommand } from '../protocol/shop-commands.ts';
import type { ShopReplies } from '../protocol/shop-replies.ts';
import { readCarried } from '../records/carried-message.ts';
import { shopAddress } from '../records/shop-keys.ts';

/** The requests to a shop of the pool. */
type RequestToPool = Exclude<PoolRequest, { ask: 'note' | 'opt_out' }>;

/**
 * Handles requests between shops and the pool, on the node that owns the receiver. Rejects with `RuntimeFailure` if it
 * cannot answer.
 */
export function poolService(options: {
  readonly actors: Actors;
  readonly store: Store;
}): (payload: string) => Promise<string> {
  const { actors, store } = options;

  const fromRecord = async (shard: number, messageId: string, isTaken: boolean): Promise<PoolReply> => {
    const [record] = await readCarried(shard, [messageId], store);
    if (record !== undefined) return replyFromRecord(record);
    return isTaken ? { kind: 'lost' } : { kind: 'refused' };
  };

  /** Returns a pool shop's reply; for an erased shop, the reply from its remaining records. */
  const asPool = async (request: RequestToPool): Promise<PoolReplies[RequestToPool['ask']]> => {
    const { pool } = request;
    const address = shopAddress(pool);
    const tenant = await committedTenant(actors, pool.tenantId);
    // Until its erasure is done the ends of its messages are unknown.
    if (tenant?.erasing.has(pool.shopId)) throw movedAwayFailure();
    if (!tenant?.shops.has(pool.shopId)) {
      if (request.ask === 'offer') return { kind: 'refused' };
      return request.ask === 'take'
        ? await fromRecord(address.shard, request.body.id, request.known)
        : await fromRecord(address.shard, request.messageId, false);
    }
    const { record, settings } = tenant;
    const isPoolOpen = record.platform && record.active && !record.deleted;
    const reply = await actors.ask<ShopReplies['pool.offer' | 'pool.take' | 'pool.withdraw']>(
      address,
      commandOf(request, { settings, isPoolOpen }),
    );
    if (reply === undefined) throw movedAwayFailure();
    return reply;
  };

  const replyTo = async (request: PoolRequest): Promise<PoolReplies[PoolRequest['ask']]> => {
    if (request.ask !== 'note' && request.ask !== 'opt_out') return await asPool(request);
    // No reply means that the shop was erased and sends nothing more.
    await actors.ask(shopAddress(receiverOf(request)), noticeOf(request));
    return { kind: 'noted' };
  };

  return async (payload) => {
    const request = JSON.parse(payload) as PoolRequest;
    const reply = await replyTo(request);
    if (!actors.owns(shopAddress(receiverOf(request)).shard)) throw movedAwayFailure();
    return JSON.stringify(reply);
  };
}

function commandOf(
  request: RequestToPool,
  tenant: { readonly settings: TenantSettings; readonly isPoolOpen: boolean },
): ShopCommand {
  if (request.ask === 'offer') return { type: 'pool.offer', offer: request.offer, ...tenant };
  if (request.ask === 'take')
    return { type: 'pool.take', body: request.body, isTaken: request.known, ...tenant };
  const { messageId, createdAtMs, reason } = request;
  return { type: 'pool.withdraw', messageId, createdAtMs, ...(reason === undefined ? {} : { reason }) };
}

function noticeOf(request: Exclude<PoolRequest, RequestToPool>): ShopCommand {
  if (request.ask === 'note') {
    const { messageId, pool, answer } = request;
    return { type: 'pool.answered', messageId, pool, answer };
  }
  const { origin: _, repeatAtMs: _next, ...notice } = request.notice;
  return { type: 'pool.opt_out', ...notice };
}
