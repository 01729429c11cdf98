import { evaluateGroup } from '../../../policy/evaluate-group.ts';
import { evaluateMessage } from '../../../policy/evaluate-message.ts';
import { isPhoneNumber } from '../../../policy/recipient.ts';
import type { TenantSettings } from '../../../policy/tenant-settings.ts';
import type { Evaluation } from '../../../policy/verdict.ts';
import { done, failed, type Outcome } from '../../failure.ts';
import type { MessageStatus } from '../../message-status.ts';
import { warmupPairedAtMs } from '../machines/channel-machine.ts';
import { type MessageBody, statusUrl } from '../record/message-record.ts';
import type { Accepted, MessageDraft } from '../record/shop-operations.ts';
import { channelState, type ShopState } from '../record/shop-state.ts';
import { channelRefusal, enqueue, enqueueAtPool, refused } from './acceptance.ts';
import { type PoolWanted, poolFallback } from './pool-fallback.ts';
import type { ShopCommand } from './shop-commands.ts';
import type { SendFacts } from './shop-facts.ts';
import type { TurnBuilder } from './turn-builder.ts';

/** What acceptance is given from outside. */
export interface AcceptanceOptions {
  /** Ids in order of making. */
  readonly makeId: (nowMs: number) => string;
  readonly makeWireId: () => string;
  readonly retentionMs: number;
  /** What the platform calls itself under a message its pool sends. */
  readonly platformName: string;
}

/** What a send answers. */
export type SendReply = Outcome<{ readonly replayed: boolean; readonly accepted: Accepted }> | PoolWanted;

/**
 * Idempotent replay → policy → channel availability, or else the pool → queued (docs/contract.md, Order on a
 * send).
 */
export function acceptMessage(
  builder: TurnBuilder,
  command: Omit<Extract<ShopCommand, { type: 'send' }>, 'type'>,
  facts: { readonly send: SendFacts; readonly available: boolean },
  options: AcceptanceOptions,
): SendReply {
  const { original } = facts.send;
  if (original !== undefined) {
    return done({ replayed: true, accepted: answer(original.body, original.state.status) });
  }
  if (cannotKnowGroup(builder.state, command.draft.to)) {
    return failed(channelRefusal(builder.state, facts.available) ?? 'MSGAPP_NOT_CONNECTED');
  }
  const evaluation = evaluate(builder.state, command, facts.send, builder.nowMs);
  if (!evaluation.admitted) {
    const { code, message, retryAfterSeconds } = evaluation;
    return refused({ code, message, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) });
  }
  const unavailable = channelRefusal(builder.state, facts.available);
  const { pool } = command;
  const { verdict, entry } = evaluation;
  const route =
    unavailable &&
    poolFallback(builder.state, {
      ...command,
      pool,
      verdict,
      unavailable,
      platformName: options.platformName,
    });
  if (route !== undefined && 'ok' in route) return route;
  const { to, text, mediaUrl, mediaType, idempotencyKey } = command.draft;
  const { tenantId, shopId } = builder.state.shop;
  const body: MessageBody = {
    id: options.makeId(builder.nowMs),
    tenantId,
    shopId,
    kind: 'message',
    to,
    text: text ?? null,
    mediaUrl: mediaUrl ?? null,
    mediaType: mediaUrl === undefined ? null : mediaType,
    via: route === undefined ? 'shop' : 'pool',
    policy: verdict,
    createdAtMs: builder.nowMs,
    wireId: options.makeWireId(),
    idempotencyKey: idempotencyKey ?? null,
  };
  const { alias } = facts.send;
  const accepted = { body, entry, alias, retentionMs: options.retentionMs };
  if (route === undefined) enqueue(builder, accepted);
  else enqueueAtPool(builder, accepted, route);
  return done({ replayed: false, accepted: answer(body, 'queued') });
}

/**
 * It is for a group of which nobody told, and no session is open that would: whether it is one of the shop's groups
 * nobody can say. What stands in the way is the channel, as for a number, and not the group.
 */
function cannotKnowGroup(state: ShopState, to: string): boolean {
  if (isPhoneNumber(to) || channelState(state) === 'connected') return false;
  return state.groups?.list.some(({ id }) => id === to) !== true;
}

function evaluate(
  state: ShopState,
  { draft, settings }: { readonly draft: MessageDraft; readonly settings: TenantSettings },
  facts: SendFacts,
  nowMs: number,
): Evaluation {
  const pairedAtMs = warmupPairedAtMs(state.channel.context);
  const { to, text, mediaUrl } = draft;
  const mediaUrls = mediaUrl === undefined ? [] : [mediaUrl];
  if (!isPhoneNumber(to)) {
    const group = state.groups?.list.find(({ id }) => id === to) ?? null;
    const { ledger } = state;
    return evaluateGroup(ledger, { groupId: to, text, mediaUrls, group, pairedAtMs, settings, nowMs });
  }
  return evaluateMessage(state.ledger, {
    recipient: facts.alias ?? to,
    text,
    mediaUrls,
    isCustomer: facts.isCustomer,
    lastInboundAtMs: facts.writer?.lastInboundAtMs ?? null,
    optedOut: facts.writer?.optedOut ?? false,
    declaration: facts.declaration,
    coldPausedUntilMs: state.pacing.context.coldPausedUntilMs ?? null,
    pairedAtMs,
    settings,
    nowMs,
  });
}

function answer({ id, policy }: MessageBody, status: MessageStatus): Accepted {
  if (policy === null) throw new Error(`message ${id} was accepted without a verdict`);
  return { id, status, statusUrl: statusUrl(id), policy };
}
