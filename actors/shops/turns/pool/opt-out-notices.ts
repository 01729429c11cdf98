/**
 * An opt-out in answer to a pool shop also counts for the shop it was writing for. The pool shop remembers for two days
 * its recipients and the shops it wrote for. It notifies those shops until each one answers.
 */

import type { CommandOf } from '../../protocol/shop-commands.ts';
import { carriedForWrites } from '../../records/carried-for.ts';
import type { ShopReference } from '../../shop-operations.ts';
import { encodeNotice, noticeField, type OptOutNotice } from '../../state/opt-out-notice.ts';
import { addressee, type ShopState } from '../../state/shop-state.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';

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
  message: Pick<OptOutNotice, 'from' | 'lid' | 'wireId' | 'atMs'>,
  origins: readonly ShopReference[],
): void {
  const { from, lid, wireId, atMs } = message;
  const noticeFields = { from, wireId, atMs, ...(lid === undefined ? {} : { lid }) };
  for (const origin of origins) {
    const notice = { origin, ...noticeFields, repeatAtMs: builder.nowMs + REPEAT_MS };
    const otherNotices = builder.state.optOutNotices.filter(
      (otherNotice) => noticeField(otherNotice) !== noticeField(notice),
    );
    builder.change({ optOutNotices: [...otherNotices, notice] });
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
  const repeatedNotices = builder.state.optOutNotices.map((notice) => {
    if (notice.repeatAtMs > nowMs) return notice;
    builder.perform({ type: 'report_opt_out', notice });
    return { ...notice, repeatAtMs: nowMs + REPEAT_MS };
  });
  builder.change({ optOutNotices: repeatedNotices });
}

/** Drops a notice that its origin answered; a newer one about the same person stays. */
export function onOptOutNoted(builder: TurnBuilder, { notice }: CommandOf<'pool.opt_out_noted'>): void {
  const { optOutNotices, keys } = builder.state;
  const field = noticeField(notice);
  const keptNotices = optOutNotices.filter(
    (otherNotice) => noticeField(otherNotice) !== field || otherNotice.wireId !== notice.wireId,
  );
  if (keptNotices.length === optOutNotices.length) return;
  builder.change({ optOutNotices: keptNotices });
  builder.write(['HDEL', keys.optOutNotices, field]);
}
