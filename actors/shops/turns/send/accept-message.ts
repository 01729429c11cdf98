import { done } from '../../../failure.ts';
import type { MessageStatus } from '../../../message-status.ts';
import { judgeSend, mayAskForGroup } from '../../judging/judge-send.ts';
import { countsAsNewChat } from '../../judging/new-chats.ts';
import { contentOf, isSameContent } from '../../message-content.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import type { SendReply } from '../../protocol/shop-replies.ts';
import type { RecipientAndOriginal } from '../../reading/recipient-facts.ts';
import { type MessageBody, statusUrl } from '../../records/message-record.ts';
import type { AcceptedReply, AskedPart, MessageDraft } from '../../shop-operations.ts';
import { enqueue } from '../builder/enqueue.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { countNewChat } from '../number/reported-limits.ts';
import { enqueueAtPool } from '../pool/message-at-pool.ts';
import { poolFallback } from './pool-fallback.ts';
import type { SendTurnFacts } from './send-facts.ts';

export interface AcceptanceOptions {
  readonly makeWireId: () => string;
  /** The platform's name under a message that its pool sends. */
  readonly platformName: string;
}

/**
 * Accepts a send: idempotent replay → policy → channel availability, or else the pool → queued (docs/contract.md, Order
 * on a send).
 */
export function acceptMessage(
  builder: TurnBuilder,
  command: Omit<CommandOf<'send'>, 'type'>,
  facts: SendTurnFacts,
  options: AcceptanceOptions,
): SendReply {
  const { original } = facts.send;
  if (original !== undefined) {
    const { body, state } = original;
    const reply = answer(body, state.status);
    return done({ isReplayed: true, differs: differsFrom(body, command.draft), accepted: reply });
  }
  const { draft, settings, pool } = command;
  const judgement = judgeSend(builder.state, {
    draft,
    settings,
    recipient: recipientOf(draft, facts.send),
    hasWorker: facts.hasWorker,
    nowMs: builder.nowMs,
  });
  if (!judgement.ok) {
    const { code } = judgement.failure;
    const isUnasked = command.groupAsked !== true && mayAskForGroup(builder.state, code);
    return isUnasked ? { ...judgement, ask: 'group', groupId: draft.to } : judgement;
  }
  const { verdict, entry, unavailable } = judgement.value;
  const poolRoute =
    unavailable &&
    poolFallback(builder.state, {
      draft,
      pool,
      verdict,
      unavailable,
      platformName: options.platformName,
      nowMs: builder.nowMs,
    });
  if (poolRoute !== undefined && !poolRoute.ok) return poolRoute;
  const { idempotencyKey, requestId, traceparent } = draft;
  const { alias } = facts.send;
  // A reply names a message, not a number. So it goes to the number, if one is known by now.
  const recipient = draft.reply === undefined ? draft.to : (alias ?? draft.to);
  const { tenantId, shopId } = builder.state.shop;
  const body: MessageBody = {
    id: builder.makeId(),
    tenantId,
    shopId,
    kind: 'message',
    to: recipient,
    via: poolRoute === undefined ? 'shop' : 'pool',
    policy: verdict,
    createdAtMs: builder.nowMs,
    wireId: options.makeWireId(),
    idempotencyKey: idempotencyKey ?? null,
    requestId,
    traceparent: traceparent ?? null,
    reply: draft.reply,
    batchId: draft.batch?.id,
    ...contentOf(draft),
  };
  const toStore = { body, ledgerEntry: entry, alias: alias === recipient ? undefined : alias };
  if (poolRoute === undefined) {
    enqueue(builder, toStore);
    if (countsAsNewChat(recipient, facts.send)) countNewChat(builder);
  } else {
    enqueueAtPool(builder, toStore, poolRoute.value);
  }
  return done({ isReplayed: false, differs: false, accepted: answer(body, 'queued') });
}

/** A person who gets a reply has written, perhaps only a reaction, so they are known. */
function recipientOf({ reply }: MessageDraft, facts: RecipientAndOriginal): RecipientAndOriginal {
  return reply === undefined ? facts : { ...facts, isCustomer: true };
}

/**
 * True if a send requests something else than the original of its idempotency key. A new part of a draft without a
 * comparison does not compile. False after the erasure of the recipient, which removed all of these fields.
 */
function differsFrom(original: MessageBody, draft: MessageDraft): boolean {
  if (original.to === null) return false;
  const { to, reply } = draft;
  const differs: Readonly<Record<AskedPart, boolean>> = {
    to: reply === undefined && original.to !== to,
    reply: original.reply?.inboundId !== reply?.inboundId,
    content: !isSameContent(original, contentOf(draft)),
  };
  return Object.values(differs).includes(true);
}

function answer({ id, policy }: MessageBody, status: MessageStatus): AcceptedReply {
  if (policy === null) throw new Error(`message ${id} was accepted without a verdict`);
  return { id, status, statusUrl: statusUrl(id), policy };
}
