/**
 * The life of a message that goes through the pool, at the shop whose message it is.
 *
 * | State    | What it means                                      | Leaves on                                          |
 * |----------|----------------------------------------------------|----------------------------------------------------|
 * | asked    | a pool shop is asked to take it, until it answers  | taken → taken, refused → searched, ended → its end |
 * | taken    | it has it; asked now and then what became of it    | ended → its end, lost → failed DELIVERY_UNKNOWN    |
 * | searched | a free pool shop is looked for                     | found → asked, 10 minutes → MSGAPP_NOT_CONNECTED   |
 *
 * Another pool shop is asked only once the last one answered that it did not take it and never will, so that no two
 * send it. One that does not answer may have sent it: after 24 hours without a word it is failed DELIVERY_UNKNOWN.
 */
import type { DueTimer } from '../../../runtime/behaviour.ts';
import { QUEUED_LIMIT_MS } from '../record/message-record.ts';
import type { PoolAnswer } from '../record/pool-protocol.ts';
import { encodePooled, type PooledMessage } from '../record/pooled-message.ts';
import type { ShopReference } from '../record/shop-operations.ts';
import type { ShopState } from '../record/shop-state.ts';
import type { ShopDraft } from './turn-builder.ts';
import { NO_SESSION_LIMIT_MS } from './waiting-limits.ts';

/** How often a pool shop is asked that has not answered yet, and how often one is looked for. */
const ASK_AGAIN_MS = 2_000;
/** How often a pool shop is asked about a message that it took; it tells the end by itself, unless that word is lost. */
const ASK_ABOUT_TAKEN_MS = 10_000;

/** A message was accepted for a pool shop that said it would send it. */
export function startPooled(
  draft: ShopDraft,
  message: Pick<PooledMessage, 'messageId' | 'to' | 'createdAtMs'> & { readonly pool: ShopReference },
): void {
  const { messageId, pool } = message;
  put(draft, { ...message, taken: false, askAtMs: draft.nowMs + ASK_AGAIN_MS });
  draft.effects.push({ type: 'hand_over', messageId, pool, known: false });
}

/** When a message at the pool is to be asked about next. */
export function poolTimer({ pooled }: Pick<ShopState, 'pooled'>): DueTimer | undefined {
  if (pooled.length === 0) return undefined;
  return { id: 'pool', dueAtMs: Math.min(...pooled.map(({ askAtMs }) => askAtMs)) };
}

/** Asks again about every message that is due, and ends the ones that waited too long. */
export function askAgain(draft: ShopDraft): void {
  for (const message of draft.state.pooled) {
    if (message.askAtMs > draft.nowMs) continue;
    const { messageId, pool, taken, createdAtMs } = message;
    const limitMs = pool === null ? NO_SESSION_LIMIT_MS : QUEUED_LIMIT_MS + ASK_ABOUT_TAKEN_MS;
    if (createdAtMs + limitMs <= draft.nowMs) {
      fail(draft, message, pool === null ? 'MSGAPP_NOT_CONNECTED' : 'DELIVERY_UNKNOWN');
      continue;
    }
    postpone(draft, message, taken ? ASK_ABOUT_TAKEN_MS : ASK_AGAIN_MS);
    if (pool === null) draft.effects.push({ type: 'find_pool', messageId });
    else draft.effects.push({ type: 'hand_over', messageId, pool, known: taken });
  }
}

/** A recipient opted out: its messages at the pool are asked about at once, which takes back what is not on the wire. */
export function askAboutRecipient(draft: ShopDraft, phone: string): void {
  for (const message of draft.state.pooled) {
    if (message.to === phone) postpone(draft, message, 0);
  }
}

/** A pool shop said that it would send a message that another one refused. */
export function onPoolFound(draft: ShopDraft, messageId: string, pool: ShopReference): void {
  const message = draft.state.pooled.find((other) => other.messageId === messageId);
  if (message === undefined || message.pool !== null) return;
  put(draft, { ...message, pool, askAtMs: draft.nowMs + ASK_AGAIN_MS });
  draft.effects.push({ type: 'hand_over', messageId, pool, known: false });
}

/** What a pool shop says about a message; an answer from another than the one asked last says nothing. */
export function onPoolAnswered(
  draft: ShopDraft,
  answered: { readonly messageId: string; readonly pool: ShopReference | null; readonly answer: PoolAnswer },
): void {
  const { messageId, pool, answer } = answered;
  const message = draft.state.pooled.find((other) => other.messageId === messageId);
  if (message === undefined || message.pool?.shopId !== pool?.shopId) return;
  switch (answer.kind) {
    case 'taken':
      if (!message.taken) put(draft, { ...message, taken: true, askAtMs: draft.nowMs + ASK_ABOUT_TAKEN_MS });
      break;
    case 'refused':
      if (message.taken) return;
      put(draft, { ...message, pool: null, askAtMs: draft.nowMs + ASK_AGAIN_MS });
      draft.effects.push({ type: 'find_pool', messageId });
      break;
    case 'ended':
      drop(draft, message);
      draft.store(message, { ...answer.fate, updatedAtMs: draft.nowMs });
      break;
    case 'lost':
      fail(draft, message, 'DELIVERY_UNKNOWN');
      break;
    case 'willing':
    case 'noted':
      break;
  }
}

function fail(draft: ShopDraft, message: PooledMessage, reason: string): void {
  drop(draft, message);
  draft.store(message, { status: 'failed', reason, updatedAtMs: draft.nowMs, sentAtMs: null });
}

function put(draft: ShopDraft, message: PooledMessage): void {
  const { pooled, keys } = draft.state;
  const known = pooled.some(({ messageId }) => messageId === message.messageId);
  draft.change({
    pooled: known
      ? pooled.map((other) => (other.messageId === message.messageId ? message : other))
      : [...pooled, message],
  });
  draft.writes.push(['HSET', keys.pooled, message.messageId, encodePooled(message)]);
}

/** When it is asked about next is not stored, so this writes nothing. */
function postpone(draft: ShopDraft, message: PooledMessage, waitMs: number): void {
  const askAtMs = draft.nowMs + waitMs;
  draft.change({
    pooled: draft.state.pooled.map((other) => (other === message ? { ...message, askAtMs } : other)),
  });
}

function drop(draft: ShopDraft, message: PooledMessage): void {
  const { pooled, keys } = draft.state;
  draft.change({ pooled: pooled.filter(({ messageId }) => messageId !== message.messageId) });
  draft.writes.push(['HDEL', keys.pooled, message.messageId]);
}
