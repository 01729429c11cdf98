import assert from 'node:assert/strict';
import { evaluateGroup } from '../../policy/evaluate-group.ts';
import { evaluateMessage } from '../../policy/evaluate-message.ts';
import { evaluateStatus, type StatusAdmission } from '../../policy/evaluate-status.ts';
import { encodeEntry } from '../../policy/ledger-entry.ts';
import { policyUsage } from '../../policy/policy-usage.ts';
import type { PolicyRefusal } from '../../policy/refusal.ts';
import { LEDGER_BOUND, SendLedger } from '../../policy/send-ledger.ts';
import { resolveSettings, type SettingsTuning, type TenantSettings } from '../../policy/tenant-settings.ts';
import type { SendAdmission } from '../../policy/verdict.ts';
import { type OracleAnswer, type OracleQuestion, SendOracle } from './send-oracle.ts';

/** Contents to send; those with the same `is` are identical text by docs/contract.md, Messages to numbers. */
export const CONTENTS = [
  { is: 'sale', text: 'Sale today', mediaUrl: undefined },
  { is: 'sale', text: '  SALE\u00a0\n today ', mediaUrl: 'https://a.example/1.png' },
  { is: 'sale', text: '\uff33ale\ttoday', mediaUrl: undefined },
  { is: 'street', text: 'Stra\u00dfe', mediaUrl: undefined },
  { is: 'street', text: 'STRASSE', mediaUrl: undefined },
  { is: 'picture', text: undefined, mediaUrl: 'https://a.example/1.png' },
  { is: 'picture', text: ' ', mediaUrl: 'https://a.example/1.png' },
  { is: 'Picture', text: undefined, mediaUrl: 'https://a.example/1.PNG' },
  { is: 'address', text: 'https://a.example/1.png', mediaUrl: undefined },
] as const;

export type SendRequest =
  | { readonly type: 'message'; readonly to: string; readonly content: number }
  | {
      readonly type: 'group';
      readonly to: string;
      readonly group: { participantCount: number; isAdmin: boolean } | null;
    }
  | { readonly type: 'status' };

interface Person {
  isCustomer: boolean;
  lastInboundAtMs: number | null;
  hasOptedOut: boolean;
  declaration: { expiresAtMs: number | null; isRevoked: boolean } | null;
}

/**
 * A shop as its actor runs it, beside the oracle. One ledger never stops. Another is dropped at any time and restored
 * from the store. All their answers are compared with the oracle's.
 */
export class ShopModel {
  nowMs = 1_760_000_000_000;
  pairedAtMs: number | null = this.nowMs;
  settings: TenantSettings = resolveSettings({});
  lastRetryAfterSeconds: number | undefined;
  /** How often each code was the answer; `admitted` for none. */
  readonly seen = new Map<string, number>();
  readonly #oracle = new SendOracle();
  readonly #ledger = new SendLedger();
  #restarted = new SendLedger();
  readonly #stored: string[] = [];
  readonly #people = new Map<string, Person>();

  person(phone: string): Person {
    const fresh = { isCustomer: false, lastInboundAtMs: null, hasOptedOut: false, declaration: null };
    const person = this.#people.get(phone) ?? fresh;
    this.#people.set(phone, person);
    return person;
  }

  tune(tuning: SettingsTuning): void {
    this.settings = resolveSettings(tuning);
  }

  restart(): void {
    this.#restarted = SendLedger.restore(this.#stored);
  }

  /** Asks all three whether a send may go. If it may and `isCommitted`, all three remember it. */
  send(request: SendRequest, isCommitted: boolean): void {
    const question = this.#question(request);
    const expectedAnswer = this.#oracle.ask(question, this.nowMs);
    const actual = this.#evaluate(this.#ledger, request, this.nowMs);
    assert.deepEqual(
      this.#evaluate(this.#restarted, request, this.nowMs),
      actual,
      'restored like never stopped',
    );
    assert.equal(
      actual.isAdmitted,
      expectedAnswer.isAdmitted,
      JSON.stringify({ actual, expected: expectedAnswer }),
    );
    this.#count(actual.isAdmitted ? 'admitted' : actual.code);
    if (actual.isAdmitted && expectedAnswer.isAdmitted) {
      this.#compareAdmission(actual, expectedAnswer);
      if (isCommitted) {
        this.#oracle.record(expectedAnswer.send);
        this.#stored.push(encodeEntry(actual.entry));
        if (this.#stored.length > LEDGER_BOUND) this.#stored.shift();
        this.#ledger.record(actual.entry);
        this.#restarted.record(actual.entry);
      }
    } else if (!actual.isAdmitted && !expectedAnswer.isAdmitted) {
      this.#compareRefusal(actual, expectedAnswer, request);
    }
  }

  #compareAdmission(
    actual: SendAdmission | StatusAdmission,
    expected: Extract<OracleAnswer, { isAdmitted: true }>,
  ): void {
    assert.equal(actual.entry.atMs, expected.send.atMs);
    assert.equal(actual.entry.kind, expected.send.kind);
    if ('verdict' in actual) {
      assert.deepEqual(actual.verdict.caps, expected.caps);
      assert.deepEqual(actual.verdict.usage, expected.usage);
    } else {
      const { settings, pairedAtMs, nowMs } = this;
      const { used, cap } = policyUsage(this.#ledger, { settings, pairedAtMs, nowMs }).windows.statusesPerDay;
      const counted = { statusesPerDay: cap, statusesToday: used + 1 };
      assert.deepEqual({ ...expected.caps, ...expected.usage }, counted);
    }
  }

  /** The oracle's code and second, and the promise itself: refused one second earlier, let through by then. */
  #compareRefusal(
    actual: PolicyRefusal,
    expected: Extract<OracleAnswer, { isAdmitted: false }>,
    request: SendRequest,
  ): void {
    const { code, retryAfterSeconds } = actual;
    assert.equal(code, expected.code);
    assert.equal(retryAfterSeconds, expected.retryAfterSeconds, code);
    assert.equal('retryAfterSeconds' in actual, retryAfterSeconds !== undefined);
    this.lastRetryAfterSeconds = retryAfterSeconds ?? this.lastRetryAfterSeconds;
    if (retryAfterSeconds !== undefined) {
      const codeAt = (second: number): string | undefined => {
        const later = this.#evaluate(this.#ledger, request, this.nowMs + 1_000 * second);
        return later.isAdmitted ? undefined : later.code;
      };
      assert.equal(codeAt(retryAfterSeconds - 1), code, 'still refused one second earlier');
      assert.notEqual(codeAt(retryAfterSeconds), code, 'let through when promised');
    }
  }

  #evaluate(ledger: SendLedger, request: SendRequest, nowMs: number) {
    const common = { pairedAtMs: this.pairedAtMs, settings: this.settings, nowMs };
    switch (request.type) {
      case 'message': {
        const { text, mediaUrl } = CONTENTS[request.content] as (typeof CONTENTS)[number];
        const facts = { ...common, ...this.person(request.to), text, mediaUrl };
        return evaluateMessage(ledger, { ...facts, recipient: request.to });
      }
      case 'group': {
        const { to: groupId } = request;
        const group = request.group && { ...request.group, announce: false };
        return evaluateGroup(ledger, { ...common, groupId, text: 'Hello', mediaUrl: undefined, group });
      }
      case 'status':
        return evaluateStatus(ledger, { ...common, caption: 'Hello', hasAttachment: false });
    }
  }

  #question(request: SendRequest): OracleQuestion {
    const nobody = { isCustomer: false, lastInboundAtMs: null, hasOptedOut: false, declaration: null };
    return {
      type: request.type,
      to: request.type === 'status' ? '' : request.to,
      content: request.type === 'message' ? (CONTENTS[request.content]?.is ?? '') : '',
      ...(request.type === 'message' ? this.person(request.to) : nobody),
      group: request.type === 'group' ? request.group : null,
      pairedAtMs: this.pairedAtMs,
      settings: this.settings,
    };
  }

  #count(code: string): void {
    this.seen.set(code, (this.seen.get(code) ?? 0) + 1);
  }
}
