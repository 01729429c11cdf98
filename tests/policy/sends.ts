import assert from 'node:assert/strict';
import { evaluateMessage, type MessageFacts } from '../../policy/evaluate-message.ts';
import type { SendLedger } from '../../policy/send-ledger.ts';
import { resolveSettings } from '../../policy/tenant-settings.ts';
import { DAY_MS } from '../../runtime/durations.ts';

/** A moment to count from, in the year 2025. */
export const START_MS = 1_760_000_000_000;

/** A message to a customer that every rule lets through, with what a test cares for put over it. */
export function messageFacts(facts: Partial<MessageFacts> = {}): MessageFacts {
  return {
    recipient: '+491701234567',
    text: 'Hello',
    mediaUrl: undefined,
    isCustomer: true,
    lastInboundAtMs: null,
    hasOptedOut: false,
    declaration: null,
    pairedAtMs: START_MS - 30 * DAY_MS,
    settings: resolveSettings({}),
    nowMs: START_MS,
    ...facts,
  };
}

/** Sends `count` messages, each with another text and number, `paceMs` apart. All must be accepted. */
export function sendMany(
  ledger: SendLedger,
  many: { readonly count: number; readonly paceMs: number; readonly facts?: Partial<MessageFacts> },
): void {
  for (let index = 0; index < many.count; index += 1) {
    const { text = `Text ${index}`, nowMs = START_MS, ...facts } = many.facts ?? {};
    const recipient = `+3360000${1_000 + ledger.size}`;
    const atMs = nowMs + index * many.paceMs;
    const evaluation = evaluateMessage(ledger, messageFacts({ recipient, ...facts, text, nowMs: atMs }));
    assert.ok(evaluation.isAdmitted, JSON.stringify(evaluation));
    ledger.record(evaluation.entry);
  }
}

/** Returns the parts of a refusal that tests compare. */
export function refusalOf(evaluation: {
  readonly isAdmitted: boolean;
}): [string, number | undefined] | 'admitted' {
  if ('code' in evaluation) {
    const refusal = evaluation as unknown as { code: string; retryAfterSeconds?: number };
    return [refusal.code, refusal.retryAfterSeconds];
  }
  return 'admitted';
}
