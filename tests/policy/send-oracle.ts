/**
 * An independent send policy, as slow and plain as possible. Every accepted send of a day is in one array, and every
 * rule is a filter over it. The end of a refusal is found by trying each moment at which anything changes. It shares no
 * code with `policy/`.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../runtime/durations.ts';

/** The caps of a number until so many days after it was paired. */
const WARM_UP = [
  { untilDays: 3, perDay: 20, perHour: 10, cold: 5 },
  { untilDays: 7, perDay: 50, perHour: 10, cold: 5 },
  { untilDays: 14, perDay: 100, perHour: 16, cold: 10 },
  { untilDays: Number.POSITIVE_INFINITY, perDay: 250, perHour: 41, cold: 25 },
] as const;

/** A send the oracle knows of. */
export interface OracleSend {
  readonly atMs: number;
  readonly kind: 'known' | 'cold' | 'declared' | 'group' | 'status';
  /** Number, group id, or nothing. */
  readonly to: string;
  /** Equal for identical contents. The test that makes the contents decides it. */
  readonly content: string;
  readonly shares: number;
}

export interface OracleSettings {
  readonly coldPerDay: number | null;
  readonly declaredPerDay: number;
  readonly groupsPerDay: number;
  readonly groupPerRecipient24h: number;
  readonly statusesPerDay: number;
}

/** The oracle's input: one send, with the world around it. */
export interface OracleQuestion {
  readonly type: 'message' | 'group' | 'status';
  readonly to: string;
  readonly content: string;
  readonly isCustomer: boolean;
  readonly lastInboundAtMs: number | null;
  readonly hasOptedOut: boolean;
  readonly declaration: { readonly expiresAtMs: number | null; readonly isRevoked: boolean } | null;
  readonly group: { readonly participantCount: number; readonly isAdmin: boolean } | null;
  readonly pairedAtMs: number | null;
  readonly settings: OracleSettings;
}

export type OracleAnswer =
  | { readonly isAdmitted: false; readonly code: string; readonly retryAfterSeconds: number | undefined }
  | { readonly isAdmitted: true; readonly send: OracleSend; readonly caps: object; readonly usage: object };

type Moment = OracleQuestion & { readonly nowMs: number };

export class SendOracle {
  #sends: readonly OracleSend[] = [];

  /** Remembers an accepted send. No moment comes before it, so none of a day before it counts any more. */
  record(send: OracleSend): void {
    this.#sends = [...this.#within(DAY_MS, send.atMs), send];
  }

  ask(question: OracleQuestion, clockMs: number): OracleAnswer {
    const code = this.#firstRefusal(question, clockMs);
    if (code !== undefined)
      return { isAdmitted: false, code, retryAfterSeconds: this.#retryAfter(question, clockMs, code) };
    return { isAdmitted: true, ...this.#verdict(this.#at(question, clockMs)) };
  }

  /** Returns the question at the moment that counts: never before the newest send. */
  #at(question: OracleQuestion, clockMs: number): Moment {
    return { ...question, nowMs: Math.max(clockMs, this.#sends.at(-1)?.atMs ?? clockMs) };
  }

  #within(windowMs: number, nowMs: number): OracleSend[] {
    return this.#sends.filter((send) => nowMs - send.atMs < windowMs);
  }

  #firstRefusal(question: OracleQuestion, clockMs: number): string | undefined {
    const moment = this.#at(question, clockMs);
    return rulesOf(moment.type).find((code) => this.#refuses(code, moment));
  }

  #refuses(code: string, moment: Moment): boolean {
    const todaySends = this.#within(DAY_MS, moment.nowMs);
    const people = todaySends.filter((send) => isPerson(send));
    const caps = capsAt(moment);
    switch (code) {
      case 'RECIPIENT_OPTED_OUT':
        return moment.hasOptedOut;
      case 'BULK_PATTERN_BLOCKED': {
        const sameSends = this.#within(HOUR_MS, moment.nowMs).filter(
          (send) => isPerson(send) && send.content === moment.content,
        );
        return new Set([...sameSends.map((send) => send.to), moment.to]).size > 20;
      }
      case 'RECIPIENT_RATE_LIMITED': {
        if (moment.type === 'group') {
          const sendsToGroup = todaySends.filter((send) => send.kind === 'group' && send.to === moment.to);
          return sendsToGroup.length >= moment.settings.groupPerRecipient24h;
        }
        const sendsToRecipient = people.filter((send) => send.to === moment.to);
        const lastSend = sendsToRecipient.at(-1);
        const isTooSoon =
          lastSend !== undefined &&
          moment.nowMs - lastSend.atMs < 10 * MINUTE_MS &&
          !(moment.lastInboundAtMs !== null && moment.lastInboundAtMs > lastSend.atMs);
        return sendsToRecipient.length >= 3 || isTooSoon;
      }
      case 'DAILY_CAP_REACHED':
        return people.length >= caps.perDay;
      case 'HOURLY_CAP_REACHED':
        return this.#within(HOUR_MS, moment.nowMs).filter((send) => isPerson(send)).length >= caps.perHour;
      case 'COLD_RECIPIENT_CAP_REACHED':
        return (
          classAt(moment) === 'cold' &&
          todaySends.filter((send) => send.kind === 'cold').length >= caps.coldPerDay
        );
      case 'DECLARED_RECIPIENT_CAP_REACHED':
        return (
          classAt(moment) === 'declared' &&
          todaySends.filter((send) => send.kind === 'declared').length >= caps.declaredPerDay
        );
      case 'GROUP_CONTEXT_REQUIRED':
        return moment.group === null;
      case 'GROUP_NOT_ADMINISTERED':
        return moment.group?.isAdmin === false;
      case 'GROUP_DAILY_CAP_REACHED':
        return sharesOf(todaySends) + sharesFor(moment) > moment.settings.groupsPerDay;
      case 'STATUSES_DAILY_CAP_REACHED':
        return todaySends.filter((send) => send.kind === 'status').length >= moment.settings.statusesPerDay;
      default:
        throw new Error(`no such rule: ${code}`);
    }
  }

  /** Tries each second at or after which something changes, in order. */
  #retryAfter(question: OracleQuestion, clockMs: number, code: string): number | undefined {
    const moments = [
      ...this.#sends.flatMap((send) => [send.atMs + 10 * MINUTE_MS, send.atMs + HOUR_MS, send.atMs + DAY_MS]),
      ...WARM_UP.map(({ untilDays }) => (question.pairedAtMs ?? Number.NaN) + untilDays * DAY_MS),
      question.declaration?.expiresAtMs ?? Number.NaN,
    ];
    const seconds = new Set(
      moments
        .map((moment) => Math.ceil((moment - clockMs) / 1_000))
        .filter((s) => s > 0 && Number.isFinite(s)),
    );
    return [...seconds]
      .sort((left, right) => left - right)
      .find((second) => !this.#refuses(code, this.#at(question, clockMs + 1_000 * second)));
  }

  #verdict(moment: Moment): { send: OracleSend; caps: object; usage: object } {
    const todaySends = this.#within(DAY_MS, moment.nowMs);
    const lastHour = this.#within(HOUR_MS, moment.nowMs);
    const kind = moment.type === 'message' ? classAt(moment) : moment.type;
    const shares = moment.type === 'group' ? sharesFor(moment) : 0;
    const send: OracleSend = { atMs: moment.nowMs, kind, to: moment.to, content: moment.content, shares };
    if (moment.type === 'status') {
      const statusesToday = todaySends.filter((otherSend) => otherSend.kind === 'status').length + 1;
      return { send, caps: { statusesPerDay: moment.settings.statusesPerDay }, usage: { statusesToday } };
    }
    const caps = capsAt(moment);
    const groupCaps = { perDay: moment.settings.groupsPerDay, perHour: moment.settings.groupsPerDay };
    const count = (sends: OracleSend[]): number =>
      moment.type === 'group' ? sharesOf([...sends, send]) : [...sends, send].filter(isPerson).length;
    const usage = {
      today: count(todaySends),
      lastHour: count(lastHour),
      coldToday: [...todaySends, send].filter((otherSend) => otherSend.kind === 'cold').length,
      declaredToday: [...todaySends, send].filter((otherSend) => otherSend.kind === 'declared').length,
    };
    return { send, caps: moment.type === 'group' ? { ...caps, ...groupCaps } : caps, usage };
  }
}

function rulesOf(type: OracleQuestion['type']): readonly string[] {
  switch (type) {
    case 'message':
      return [
        'RECIPIENT_OPTED_OUT',
        'BULK_PATTERN_BLOCKED',
        'RECIPIENT_RATE_LIMITED',
        'DAILY_CAP_REACHED',
        'HOURLY_CAP_REACHED',
        'COLD_RECIPIENT_CAP_REACHED',
        'DECLARED_RECIPIENT_CAP_REACHED',
      ];
    case 'group':
      return [
        'GROUP_CONTEXT_REQUIRED',
        'GROUP_NOT_ADMINISTERED',
        'RECIPIENT_RATE_LIMITED',
        'GROUP_DAILY_CAP_REACHED',
      ];
    case 'status':
      return ['STATUSES_DAILY_CAP_REACHED'];
  }
}

function isPerson(send: OracleSend): boolean {
  return send.kind === 'known' || send.kind === 'cold' || send.kind === 'declared';
}

function classAt(moment: Moment): 'known' | 'cold' | 'declared' {
  if (moment.isCustomer || moment.lastInboundAtMs !== null) return 'known';
  const { declaration } = moment;
  const isActive =
    declaration !== null &&
    !declaration.isRevoked &&
    (declaration.expiresAtMs === null || declaration.expiresAtMs > moment.nowMs);
  return isActive ? 'declared' : 'cold';
}

function capsAt(moment: Moment) {
  const days = moment.pairedAtMs === null ? 0 : (moment.nowMs - moment.pairedAtMs) / DAY_MS;
  const { perDay, perHour, cold } = WARM_UP.find(({ untilDays }) => days < untilDays) ?? WARM_UP[3];
  return {
    perDay,
    perHour,
    coldPerDay: moment.settings.coldPerDay ?? cold,
    declaredPerDay: moment.settings.declaredPerDay,
  };
}

function sharesFor(moment: Moment): number {
  const participants = moment.group?.participantCount ?? 0;
  let shares = 1;
  while (shares * 50 < participants) shares += 1;
  return shares;
}

function sharesOf(sends: readonly OracleSend[]): number {
  return sends.filter((send) => send.kind === 'group').reduce((total, send) => total + send.shares, 0);
}
