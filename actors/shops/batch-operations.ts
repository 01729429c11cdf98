import type { QuietHours } from '../../policy/quiet-hours.ts';
import type { ContentPolicyCode } from '../../policy/refusal.ts';
import type { BatchStopReason } from '../batch-status.ts';
import type { FailureCode, Outcome } from '../failure.ts';
import type { batch } from '../reply-schemas/batch-schemas.ts';
import type { CursorPage, PageQuery, ReplyOf } from '../reply-schemas/reply-fields.ts';
import type { IdempotentReply } from './idempotent-reply.ts';
import type { DraftContent } from './message-content.ts';

/** The reason why a batch stopped by itself. */
export interface BatchStop {
  readonly reason: BatchStopReason;
  readonly atMs: number;
}

/** The results of a batch's recipients. */
export interface BatchCounts {
  /** Recipients whose message waits or is being sent. */
  readonly queued: number;
  readonly sent: number;
  readonly failed: number;
  readonly rejected: number;
  /** Recipients who were refused, so that no message was made for them. */
  readonly refused: number;
  /** Their idempotency key had made a message before. */
  readonly repeated: number;
}

/** The final results of a recipient. */
export type RecipientOutcome = Exclude<keyof BatchCounts, 'queued'>;

/** One recipient as the caller wrote it, valid in shape. */
export interface BatchRecipient {
  /** E.164 with plus. */
  readonly to: string;
  /** The values that replace `{{name}}` in the text. */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  readonly idempotencyKey?: string | undefined;
}

/**
 * A recipient's class when they were added. `known`: they wrote to the shop. `unheard`: a customer who never wrote,
 * whom the policy counts as known. The names are stored.
 */
export type BatchClass = 'known' | 'unheard' | 'declared';

/** A batch as the caller requested it, with a valid shape. Times in milliseconds since the Unix epoch. */
export interface BatchRequest extends DraftContent {
  readonly name: string;
  readonly recipients: readonly BatchRecipient[];
  readonly notBeforeMs: number | undefined;
  readonly notAfterMs: number | undefined;
  readonly quietHours: QuietHours | undefined;
  readonly share: number;
  readonly paused: boolean;
  readonly idempotencyKey: string | undefined;
  readonly requestId: string;
  readonly traceparent?: string | undefined;
}

export interface RecipientsRequest {
  readonly recipients: readonly BatchRecipient[];
  readonly idempotencyKey: string | undefined;
}

/** A recipient who was not taken into a batch, and the reason. */
export interface RefusedRecipient {
  readonly to: string;
  readonly code: BatchRefusal;
}

/** The reason why a recipient is refused: they opted out, or are neither known to the tenant nor declared. */
export type BatchRefusal = 'RECIPIENT_OPTED_OUT' | 'COLD_RECIPIENT';

/** When a batch's messages leave, as far as it can be estimated. */
export type BatchForecastView = NonNullable<BatchView['forecast']>;

/** A batch as the API shows it. */
export type BatchView = ReplyOf<typeof batch>;

/** A batch after recipients were added, with those of the call who were refused. */
export type BatchWithRefusals = BatchView & { readonly refused: readonly RefusedRecipient[] };

/** The reason why a shop stores no batch. `VALIDATION_ERROR` names fields that are not possible. */
export type BatchCode = ContentPolicyCode | 'BATCH_LIMIT_REACHED' | 'VALIDATION_ERROR';

/** The reason why no recipients are added to a batch. */
export type RecipientsCode = 'BATCH_NOT_FOUND' | 'BATCH_STARTED' | 'BATCH_ENDED' | 'VALIDATION_ERROR';

/** The outcome of an operation on a shop's batches. A shop that does not exist is a failure of each. */
type BatchOutcome<Value, Code extends FailureCode = never> = Outcome<Value, 'SHOP_NOT_FOUND' | Code>;

/** The API's operations on a shop's batches, on the node that owns its shard. Rejects only with `RuntimeFailure`. */
export interface BatchOperations<Shop> {
  /** Makes a batch. `BATCH_NOT_FOUND`: it was made, and erased before it could be shown. */
  createBatch(
    shop: Shop,
    request: BatchRequest,
  ): Promise<BatchOutcome<IdempotentReply<BatchWithRefusals>, BatchCode | 'BATCH_NOT_FOUND'>>;
  /** Adds recipients. `BATCH_STARTED`: a send of the batch was accepted or repeated. */
  addRecipients(
    shop: Shop,
    batchId: string,
    request: RecipientsRequest,
  ): Promise<BatchOutcome<IdempotentReply<BatchWithRefusals>, RecipientsCode>>;
  /** Returns batches newest first, including ended ones. */
  listBatches(shop: Shop, query: PageQuery): Promise<BatchOutcome<CursorPage<BatchView>>>;
  /** Returns a batch with a new forecast. */
  batch(shop: Shop, batchId: string): Promise<BatchOutcome<BatchView, 'BATCH_NOT_FOUND'>>;
  /** A repeated call gets the same reply. `BATCH_ENDED`: the batch has ended in another way. */
  steerBatch(
    shop: Shop,
    batchId: string,
    action: 'pause' | 'resume' | 'cancel',
  ): Promise<BatchOutcome<BatchView, 'BATCH_NOT_FOUND' | 'BATCH_ENDED'>>;
}
