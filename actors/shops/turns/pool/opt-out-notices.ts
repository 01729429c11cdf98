/**
 * An opt-out in answer to a pool shop also counts for the shop it was writing for. The pool shop remembers for two days
 * its recipients and the shops it wrote for. It notifies those shops until each one answers.
 */

import { isPhoneNumber } from '../../../../policy/recipient.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import { carriedForWrites } from '../../records/carried-for.ts';
import { afterOptOut } from '../../records/writer.ts';
import type { ShopReference } from '../../shop-operations.ts';
import { encodeNotice, noticeField, type OptOutNotice } from '../../state/opt-out-notice.ts';
import { addressee, pacingState, type ShopState } from '../../state/shop-state.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { isCurrentFor, keepWriter } from '../people/recipient-alias.ts';
import type { InboundFacts } from '../people/recipient-facts.ts';
import { askAboutPooled } from './relinquish-message.ts';

/** How often an origin that has not answered is notified again. */
const REPEAT_MS = 10_000;

/** Notes that the message in progress goes on the wire, because its reader may opt out. `lid` is their network id. */
export function rememberCarried(builder: TurnBuilder, lid: string | undefined): void {
  const { keys, currentMessage } = builder.state;
  if (currentMessage?.carriedFor === undefined) return;
  const addresses = lid === undefined ? [addressee(currentMessage)] : [addressee(currentMessage), lid];
  builder.write(
    ...carriedForWrites(keys, { addresses, origin: currentMessage.carriedFor, nowMs: builder.nowMs }),
  );
}

/** A person opted out of this shop of the pool: the shops it wrote to them for are notified from now on. */
export function startNotices(
  builder: TurnBuilder,
  word: Pick<OptOutNotice, 'from' | 'wireId' | 'atMs'>,
  origins: readonly ShopReference[],
): void {
  const { from, wireId, atMs } = word;
  for (const origin of origins) {
    const notice = { origin, from, wireId, atMs, repeatAtMs: builder.nowMs + REPEAT_MS };
    const others = builder.state.optOutNotices.filter((other) => noticeField(other) !== noticeField(notice));
    builder.change({ optOutNotices: [...others, notice] });
    builder.write(['HSET', builder.state.keys.optOutNotices, noticeField(notice), encodeNotice(notice)]);
    builder.perform({ type: 'report_opt_out', notice });
  }
}

/** Returns when the next notice is due again. */
export function noticesDueAtMs({ optOutNotices }: Pick<ShopState, 'optOutNotices'>): number | undefined {
  if (optOutNotices.length === 0) return undefined;
  return Math.min(...optOutNotices.map(({ repeatAtMs }) => repeatAtMs));
}

/** Repeats every notice that is due. The next due time is not stored, so this writes nothing. */
export function repeatNotices(builder: TurnBuilder): void {
  const { nowMs } = builder;
  const repeated = builder.state.optOutNotices.map((notice) => {
    if (notice.repeatAtMs > nowMs) return notice;
    builder.perform({ type: 'report_opt_out', notice });
    return { ...notice, repeatAtMs: nowMs + REPEAT_MS };
  });
  builder.change({ optOutNotices: repeated });
}

/** Drops a notice that its origin answered; a newer one about the same person stays. */
export function onOptOutNoted(builder: TurnBuilder, { notice }: CommandOf<'pool.opt_out_noted'>): void {
  const { optOutNotices, keys } = builder.state;
  const field = noticeField(notice);
  const kept = optOutNotices.filter(
    (other) => noticeField(other) !== field || other.wireId !== notice.wireId,
  );
  if (kept.length === optOutNotices.length) return;
  builder.change({ optOutNotices: kept });
  builder.write(['HDEL', keys.optOutNotices, field]);
}

/** A person answered the pool with an opt-out, which counts for this shop, the one written for. */
export function onOptOutAtPool(
  builder: TurnBuilder,
  command: CommandOf<'pool.opt_out'>,
  facts: InboundFacts,
): void {
  const writer = afterOptOut(facts.writer, command, builder.nowMs);
  if (writer === undefined) return;
  const writtenBy = facts.writtenBy ?? command.from;
  keepWriter(builder, { writtenBy, wroteAs: facts.wroteAs }, writer);
  publishOptOut(builder, { writtenBy, was: facts.writer?.optedOut ?? false, is: writer.optedOut });
  if (writer.optedOut) applyOptOut(builder, { writtenBy, was: facts.writer?.optedOut ?? false });
}

/**
 * Stops at once what an opt-out forbids: this shop's messages at the pool, and the message in progress to that person.
 * A status that is being sealed for them is put back, to be sealed for the others. `was` is true if they had opted out
 * before.
 */
export function applyOptOut(
  builder: TurnBuilder,
  { writtenBy, was }: { readonly writtenBy: string; readonly was: boolean },
): void {
  askAboutPooled(builder);
  const { state } = builder;
  const { currentMessage } = state;
  if (pacingState(state) === 'sending' && currentMessage !== undefined) {
    const isFor = isCurrentFor(state, writtenBy) || currentMessage.kind === 'status';
    if (isFor) builder.perform({ type: 'do_not_repeat', messageId: currentMessage.messageId });
  }
  if (pacingState(state) !== 'preparing') return;
  if (isCurrentFor(state, writtenBy)) builder.stepPacing({ type: 'blocked', reason: 'RECIPIENT_OPTED_OUT' });
  else if (state.currentMessage?.kind === 'status' && !was) {
    builder.stepPacing({ type: 'elapsed', gapUntilMs: builder.moments().gapUntilMs });
  }
}

/** Publishes to the tenant that a person opted out, or opted in again by writing. */
export function publishOptOut(
  builder: TurnBuilder,
  { writtenBy, was, is }: { readonly writtenBy: string; readonly was: boolean; readonly is: boolean },
): void {
  if (was === is) return;
  // A person named by the network's own id (LID) has no known number.
  const phone = isPhoneNumber(writtenBy) ? writtenBy : null;
  builder.publish(is ? 'recipient.opted_out' : 'recipient.opted_in', { phone });
}
