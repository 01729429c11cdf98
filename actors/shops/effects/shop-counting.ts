import type { BatchStopReason } from '../../batch-status.ts';
import type { FailureCode } from '../../failure.ts';
import type { ShopEffect } from '../protocol/shop-effect.ts';

type CountEffect = Extract<
  ShopEffect,
  { readonly type: 'count_receipt' | 'count_scheduled' | 'count_batch' | 'count_recipients' }
>;
type Counted<T extends CountEffect['type']> = Extract<CountEffect, { readonly type: T }>;

/** Counts the results of a shop's messages, for the metrics of its node. */
export interface ShopCounting {
  /** A recipient's receipt, and its time after the send in milliseconds. */
  receipt(kind: Counted<'count_receipt'>['kind'], afterMs: number): void;
  /** The result of a scheduled send: null, a message; a code, why none. */
  scheduled(code: FailureCode | null): void;
  /** A batch started, stopped by itself or ended. `reason` is the cause of a stop. */
  batch(change: Counted<'count_batch'>['change'], reason: BatchStopReason | null): void;
  /** Recipients of a batch that got their result. */
  recipients(counted: Pick<Counted<'count_recipients'>, 'outcome' | 'code' | 'count'>): void;
}

/** Carries out an effect that only counts. */
export function countEffect(counting: ShopCounting, effect: CountEffect): void {
  switch (effect.type) {
    case 'count_receipt':
      counting.receipt(effect.kind, effect.afterMs);
      break;
    case 'count_scheduled':
      counting.scheduled(effect.code);
      break;
    case 'count_batch':
      counting.batch(effect.change, effect.reason);
      break;
    case 'count_recipients':
      counting.recipients(effect);
      break;
  }
}
