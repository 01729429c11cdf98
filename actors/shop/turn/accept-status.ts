import { evaluateStatus } from '../../../policy/evaluate-status.ts';
import type { TenantSettings } from '../../../policy/tenant-settings.ts';
import { done, failed, type Outcome } from '../../failure.ts';
import { statusUrl } from '../record/message-record.ts';
import type { Accepted, StatusDraft } from '../record/shop-operations.ts';
import type { AcceptanceOptions } from './accept-message.ts';
import { channelRefusal, enqueue, refused } from './acceptance.ts';
import type { TurnBuilder } from './turn-builder.ts';

/** What a status post answers. */
export type StatusReply = Outcome<Omit<Accepted, 'policy'>>;

/** Policy → channel availability → queued, like a message. */
export function acceptStatus(
  builder: TurnBuilder,
  command: { readonly draft: StatusDraft; readonly settings: TenantSettings },
  available: boolean,
  options: AcceptanceOptions,
): StatusReply {
  const { caption, mediaUrl, mediaType } = command.draft;
  const evaluation = evaluateStatus(builder.state.ledger, {
    caption,
    mediaUrls: mediaUrl === undefined ? [] : [mediaUrl],
    settings: command.settings,
    nowMs: builder.nowMs,
  });
  if (!evaluation.admitted) {
    const { code, message, retryAfterSeconds } = evaluation;
    return refused({ code, message, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) });
  }
  const unavailable = channelRefusal(builder.state, available);
  if (unavailable !== undefined) return failed(unavailable);
  const body = {
    id: options.makeId(builder.nowMs),
    ...builder.state.shop,
    kind: 'status' as const,
    to: null,
    text: caption ?? null,
    mediaUrl: mediaUrl ?? null,
    mediaType: mediaUrl === undefined ? null : mediaType,
    via: 'shop' as const,
    policy: null,
    createdAtMs: builder.nowMs,
    wireId: options.makeWireId(),
    idempotencyKey: null,
  };
  enqueue(builder, { body, entry: evaluation.entry, retentionMs: options.retentionMs });
  return done({ id: body.id, status: 'queued', statusUrl: statusUrl(body.id) });
}
