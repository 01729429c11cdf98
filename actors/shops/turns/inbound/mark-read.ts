import { done, failed } from '../../../failure.ts';
import { channelFailure } from '../../judging/channel-refusal.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import type { ShopReplies } from '../../protocol/shop-replies.ts';
import {
  inboundExpiry,
  inboundReadWrite,
  readInboundRecords,
  type StoredInbound,
} from '../../records/inbound-records.ts';
import { channelState, type ShopState } from '../../state/shop-state.ts';
import type { FactSources } from '../builder/fact-sources.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';

/** The inbound message to mark as read. Undefined if it was removed. */
interface MarkFacts {
  readonly inbound: StoredInbound | undefined;
}

/** Reads the inbound message to mark as read. */
export async function readToMark(
  { shard }: ShopState,
  { inboundId }: CommandOf<'mark_read'>,
  sources: FactSources,
): Promise<MarkFacts> {
  const [inbound] = await readInboundRecords(shard, [inboundId], sources);
  return { inbound };
}

/**
 * Stores that an inbound message was read, and has the open session notify the person who wrote it. A repeated call
 * notifies no one.
 */
export function markRead(
  builder: TurnBuilder,
  _command: unknown,
  { inbound }: MarkFacts,
): ShopReplies['mark_read'] {
  if (inbound === undefined) return failed('MESSAGE_NOT_FOUND');
  if (inbound.readAtMs !== null) return done(inbound);
  const { state, nowMs, retentionMs } = builder;
  if (state.channel.context.flagged) return failed('MSGAPP_SESSION_LOST');
  if (channelState(state) !== 'connected') return channelFailure(state, 'MSGAPP_NOT_CONNECTED', nowMs);
  const { id, from, lid, wireId } = inbound.record;
  // The day keeps the expiry that it has. If the retention was shortened since, the new expiry may be in the past.
  // Setting it would erase the day, with the messages of all tenants.
  const expiry = [...inboundExpiry(state.shard, id, retentionMs), 'NX'] as const;
  builder.write(inboundReadWrite(state.shard, id, nowMs), expiry);
  const writer = from ?? lid;
  if (writer !== null) builder.perform({ type: 'mark_read', from: writer, wireId });
  return done({ ...inbound, readAtMs: nowMs });
}
