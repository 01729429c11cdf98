import { evaluateStatus } from '../../../../policy/evaluate-status.ts';
import { done, refusedBy } from '../../../failure.ts';
import { channelFailure, channelRefusal } from '../../judging/channel-refusal.ts';
import { contentOf, isSameContent, NO_DRAFT } from '../../message-content.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import type { ShopReplies } from '../../protocol/shop-replies.ts';
import { statusUrl } from '../../records/message-record.ts';
import { enqueue } from '../builder/enqueue.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import type { AcceptanceOptions } from './accept-message.ts';
import type { StatusTurnFacts } from './send-facts.ts';

/** Accepts a status: idempotent replay → policy → channel availability → queued, like a message. */
export function acceptStatus(
  builder: TurnBuilder,
  command: CommandOf<'post_status'>,
  facts: StatusTurnFacts,
  { makeWireId }: Pick<AcceptanceOptions, 'makeWireId'>,
): ShopReplies['post_status'] {
  const { caption, mediaUrl, mediaType, idempotencyKey, requestId, traceparent } = command.draft;
  const content = contentOf({ ...NO_DRAFT, text: caption, mediaUrl, mediaType });
  if (facts.original !== undefined) {
    const { body, state } = facts.original;
    const differs = !isSameContent(body, content);
    const accepted = { id: body.id, status: state.status, statusUrl: statusUrl(body.id) };
    return done({ isReplayed: true, differs, accepted });
  }
  const evaluation = evaluateStatus(builder.state.ledger, {
    caption,
    hasAttachment: mediaUrl !== undefined,
    settings: command.settings,
    nowMs: builder.nowMs,
  });
  if (!evaluation.isAdmitted) return refusedBy(evaluation);
  const unavailable = channelRefusal(builder.state, facts.hasWorker);
  if (unavailable !== undefined) return channelFailure(builder.state, unavailable, builder.nowMs);
  const body = {
    id: builder.makeId(),
    ...builder.state.shop,
    kind: 'status' as const,
    to: null,
    ...content,
    via: 'shop' as const,
    policy: null,
    createdAtMs: builder.nowMs,
    wireId: makeWireId(),
    idempotencyKey: idempotencyKey ?? null,
    requestId,
    traceparent: traceparent ?? null,
    reply: undefined,
    batchId: undefined,
  };
  enqueue(builder, { body, ledgerEntry: evaluation.entry });
  const accepted = { id: body.id, status: 'queued' as const, statusUrl: statusUrl(body.id) };
  return done({ isReplayed: false, differs: false, accepted });
}
