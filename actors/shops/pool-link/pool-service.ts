import type { TenantSettings } from '../../../policy/tenant-settings.ts';
import type { Actors } from '../../../runtime/actors.ts';
import { movedAwayFailure } from '../../../runtime/runtime-failure.ts';
import type { Store } from '../../../runtime/store.ts';
import { tenantAddress } from '../../tenants/tenant-keys.ts';
import type { TenantState } from '../../tenants/tenant-state.ts';
import {
  answerFromRecord,
  askedOf,
  type PoolAnswer,
  type PoolAnswers,
  type PoolAsk,
} from '../protocol/pool-protocol.ts';
import type { ShopCommand } from '../protocol/shop-commands.ts';
import type { ShopReplies } from '../protocol/shop-replies.ts';
import { readCarried } from '../records/carried-message.ts';
import { shopAddress } from '../records/shop-keys.ts';

/** The requests to a shop of the pool. */
type AnsweredPoolAsk = Exclude<PoolAsk, { ask: 'note' | 'opt_out' }>;

/**
 * Handles the requests of shops to the pool, on the node that owns the pool shop. Rejects with `RuntimeFailure` if it
 * cannot answer; the caller then retries.
 */
export function poolService(options: {
  readonly actors: Actors;
  readonly store: Store;
}): (payload: string) => Promise<string> {
  const { actors, store } = options;

  const fromRecord = async (shard: number, messageId: string, isKnown: boolean): Promise<PoolAnswer> => {
    const [record] = await readCarried(shard, [messageId], store);
    if (record !== undefined) return answerFromRecord(record);
    return isKnown ? { kind: 'lost' } : { kind: 'refused' };
  };

  /** Returns a pool shop's answer; for an erased shop, the answer from its remaining records. */
  const asPool = async (ask: AnsweredPoolAsk): Promise<PoolAnswers[AnsweredPoolAsk['ask']]> => {
    const { pool } = ask;
    const address = shopAddress(pool);
    const tenant = await actors.state<TenantState>(tenantAddress(pool.tenantId));
    // Until its erasure is done the ends of its messages are unknown.
    if (tenant?.erasing.has(pool.shopId)) throw movedAwayFailure();
    if (!tenant?.shops.has(pool.shopId)) {
      if (ask.ask === 'offer') return { kind: 'refused' };
      return ask.ask === 'take'
        ? await fromRecord(address.shard, ask.body.id, ask.known)
        : await fromRecord(address.shard, ask.messageId, false);
    }
    const { record, settings } = tenant;
    const isOpen = record.platform && record.active && !record.deleted;
    const answer = await actors.ask<ShopReplies['pool.offer' | 'pool.take' | 'pool.withdraw']>(
      address,
      commandOf(ask, { settings, open: isOpen }),
    );
    if (answer === undefined) throw movedAwayFailure();
    return answer;
  };

  const answer = async (ask: PoolAsk): Promise<PoolAnswers[PoolAsk['ask']]> => {
    if (ask.ask !== 'note' && ask.ask !== 'opt_out') return await asPool(ask);
    // No reply means that the shop was erased and sends nothing more.
    await actors.ask(shopAddress(askedOf(ask)), noticeOf(ask));
    return { kind: 'noted' };
  };

  return async (payload) => {
    const ask = JSON.parse(payload) as PoolAsk;
    const reply = await answer(ask);
    if (!actors.owns(shopAddress(askedOf(ask)).shard)) throw movedAwayFailure();
    return JSON.stringify(reply);
  };
}

function commandOf(
  ask: AnsweredPoolAsk,
  tenant: { readonly settings: TenantSettings; readonly open: boolean },
): ShopCommand {
  if (ask.ask === 'offer') return { type: 'pool.offer', offer: ask.offer, ...tenant };
  if (ask.ask === 'take') return { type: 'pool.take', body: ask.body, known: ask.known, ...tenant };
  const { messageId, createdAtMs, reason } = ask;
  return { type: 'pool.withdraw', messageId, createdAtMs, ...(reason === undefined ? {} : { reason }) };
}

function noticeOf(ask: Exclude<PoolAsk, AnsweredPoolAsk>): ShopCommand {
  if (ask.ask === 'note') {
    const { messageId, pool, answer } = ask;
    return { type: 'pool.answered', messageId, pool, answer };
  }
  const { origin: _, repeatAtMs: _next, ...notice } = ask.notice;
  return { type: 'pool.opt_out', ...notice };
}
