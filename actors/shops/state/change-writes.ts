import type { RedisArgument, Write } from '../../../runtime/store.ts';
import { publicChannelStatus, wasConnected } from '../machines/channel-context.ts';
import { encodeMachines, sameWhenRestored } from '../machines/shop-machines.ts';
import { changedBatchWrites } from './batches.ts';
import { channelState, type ShopState } from './shop-state.ts';
import { encodeLimits } from './stored-limits.ts';
import { encodeUndelivered } from './undelivered.ts';

const NO_WRITES: readonly Write[] = [];

/**
 * Returns the writes that store a turn's changes of a shop, for `loadShop` to read. Queue, messages and ledger have
 * their own writes. `ended` is the number of ended messages at the head of the list. If undefined, it is not stored.
 */
export function changeWrites(
  before: ShopState,
  state: ShopState,
  { nowMs, ended }: { readonly nowMs: number; readonly ended: number | undefined },
): readonly Write[] {
  const { keys, egress, limits, undelivered, batches } = state;
  const fields: RedisArgument[] = [];
  if (!sameWhenRestored(before, state, nowMs) || egress !== before.egress) {
    // Empty until the shop was connected once, because its record then has no state.
    const shownStatus = wasConnected(state.channel.context) ? publicChannelStatus(channelState(state)) : '';
    fields.push('actor', encodeMachines(state, nowMs), 'msgapp', shownStatus);
  }
  if (ended !== undefined) fields.push('settled', ended);
  if (limits !== before.limits) fields.push('limits', encodeLimits(limits));
  if (undelivered !== before.undelivered) fields.push('undelivered', encodeUndelivered(undelivered));
  if (egress !== before.egress && egress !== undefined) fields.push('egress', egress.sealed);
  let writes: readonly Write[] = fields.length === 0 ? NO_WRITES : [['HSET', keys.shop, ...fields]];
  if (egress === undefined && before.egress !== undefined)
    writes = [...writes, ['HDEL', keys.shop, 'egress']];
  if (batches !== before.batches) writes = [...writes, ...changedBatchWrites(keys, before.batches, batches)];
  return writes;
}
