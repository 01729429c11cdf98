/**
 * An independent send policy, as slow and plain as possible. Every accepted send of a day is in one array, and every rule is
 * a filter over it. The end of a refusal is found by trying each moment at which anything changes. It shares no code with
 * `policy/`.
 */
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

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
  readonly optedOut: boolean;
  readonly declaration: { readonly expiresAtMs: number | null; readonly revoked: boolean } | null;
  readonly group: { readonly participantCount: number; readonly isAdmin: boolean } | null;
  readonly pairedAtMs: number | null;
  readonly settings: OracleSettings;
}

export type OracleAnswer =
  | { readonly admitted: false; readonly code: string; readonly retryAfterSeconds: number | undefined }
  | { readonly admitted: true; readonly send: OracleSend; readonly caps: object; readonly usage: object };

type Moment = OracleQuestion & { readonly nowMs: number };

export class SendOracle {
  #sends: readonly OracleSend[] = [];

  /** Remembers an accepted send. No moment comes before it, so none of a day before it counts any more. */
  record(send: OracleSend): void {
    this.#sends = [...this.#within(day, send.atMs), send];
  }

  ask(question: OracleQuestion, clockMs: number): OracleAnswer {
    const code = this.#firstRefusal(question, clockMs);
    if (code !== undefined) {
      return { admitted: false, code, retryAfterSeconds: this.#retryAfter(question, clockMs, code) };
    }
    return { admitted: true, ...this.#verdict(this.#at(question, clockMs)) };
  }

  /** Returns the question at the moment that counts: never before the newest send. */
  #at(question: OracleQuestion, clockMs: number): Moment {
    return { ...question, nowMs: Math.max(clockMs, this.#sends.at(-1)?.atMs ?? clockMs) };
  }

  #within(windowMs: number, nowMs: number): OracleSend[] {
    return this.#sends.filter((send) => nowMs - send.atMs < windowMs);
  }

  #firstRefusal(question: OracleQuestion, clockMs: number): string | undefined {
    const at = this.#at(question, clockMs);
    return rulesOf(at.type).find((code) => this.#refuses(code, at));
  }

  #refuses(code: string, at: Moment): boolean {
    const today = this.#within(day, at.nowMs);
    const people = today.filter((send) => isPerson(send));
    const caps = capsAt(at);
    switch (code) {
      case 'RECIPIENT_OPTED_OUT':
        return at.optedOut;
      case 'BULK_PATTERN_BLOCKED': {
        const same = this.#within(hour, at.nowMs).filter(
          (send) => isPerson(send) && send.content === at.content,
        );
        return new Set([...same.map((send) => send.to), at.to]).size > 20;
      }
      case 'RECIPIENT_RATE_LIMITED': {
        const here = people.filter((send) => send.to === at.to);
        const last = here.at(-1);
        const isTooSoon =
          last !== undefined &&
          at.nowMs - last.atMs < 10 * minute &&
          !(at.lastInboundAtMs !== null && at.lastInboundAtMs > last.atMs);
        return here.length >= 3 || isTooSoon;
      }
      case 'DAILY_CAP_REACHED':
        return people.length >= caps.perDay;
      case 'HOURLY_CAP_REACHED':
        return this.#within(hour, at.nowMs).filter((send) => isPerson(send)).length >= caps.perHour;
      case 'COLD_RECIPIENT_CAP_REACHED':
        return (
          classAt(at) === 'cold' && today.filter((send) => send.kind === 'cold').length >= caps.coldPerDay
        );
      case 'DECLARED_RECIPIENT_CAP_REACHED':
        return (
          classAt(at) === 'declared' &&
          today.filter((send) => send.kind === 'declared').length >= caps.declaredPerDay
        );
      case 'GROUP_CONTEXT_REQUIRED':
        return at.group === null;
      case 'GROUP_NOT_ADMINISTERED':
        return at.group?.isAdmin === false;
      case 'GROUP_RATE_LIMITED':
        return (
          today.filter((send) => send.kind === 'group' && send.to === at.to).length >=
          at.settings.groupPerRecipient24h
        );
      case 'GROUP_DAILY_CAP_REACHED':
        return sharesOf(today) + sharesFor(at) > at.settings.groupsPerDay;
      case 'STATUSES_DAILY_CAP_REACHED':
        return today.filter((send) => send.kind === 'status').length >= at.settings.statusesPerDay;
      default:
        throw new Error(`no such rule: ${code}`);
    }
  }

  /** Tries each second at or after which something changes, in order. */
  #retryAfter(question: OracleQuestion, clockMs: number, code: string): number | undefined {
    const moments = [
      ...this.#sends.flatMap((send) => [send.atMs + 10 * minute, send.atMs + hour, send.atMs + day]),
      ...[3, 7, 14].map((days) => (question.pairedAtMs ?? Number.NaN) + days * day),
      question.declaration?.expiresAtMs ?? Number.NaN,
    ];
    const seconds = new Set(
      moments.map((moment) => Math.ceil((moment - clockMs) / 1000)).filter((s) => s > 0),
    );
    return [...seconds]
      .sort((left, right) => left - right)
      .find((second) => !this.#refuses(code, this.#at(question, clockMs + 1000 * second)));
  }

  #verdict(at: Moment): { send: OracleSend; caps: object; usage: object } {
    const today = this.#within(day, at.nowMs);
    const lastHour = this.#within(hour, at.nowMs);
    const kind = at.type === 'message' ? classAt(at) : at.type;
    const shares = at.type === 'group' ? sharesFor(at) : 0;
    const send: OracleSend = { atMs: at.nowMs, kind, to: at.to, content: at.content, shares };
    if (at.type === 'status') {
      const statusesToday = today.filter((other) => other.kind === 'status').length + 1;
      return { send, caps: { statusesPerDay: at.settings.statusesPerDay }, usage: { statusesToday } };
    }
    const caps = capsAt(at);
    const groupCaps = { perDay: at.settings.groupsPerDay, perHour: at.settings.groupsPerDay };
    const count = (sends: OracleSend[]): number =>
      at.type === 'group' ? sharesOf([...sends, send]) : [...sends, send].filter(isPerson).length;
    const usage = {
      today: count(today),
      lastHour: count(lastHour),
      coldToday: [...today, send].filter((other) => other.kind === 'cold').length,
      declaredToday: [...today, send].filter((other) => other.kind === 'declared').length,
    };
    return { send, caps: at.type === 'group' ? { ...caps, ...groupCaps } : caps, usage };
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
        'GROUP_RATE_LIMITED',
        'GROUP_DAILY_CAP_REACHED',
      ];
    case 'status':
      return ['STATUSES_DAILY_CAP_REACHED'];
  }
}

function isPerson(send: OracleSend): boolean {
  return send.kind === 'known' || send.kind === 'cold' || send.kind === 'declared';
}

function classAt(at: Moment): 'known' | 'cold' | 'declared' {
  if (at.isCustomer || at.lastInboundAtMs !== null) {
    return 'known';
  }
  const { declaration } = at;
  const isActive =
    declaration !== null &&
    !declaration.revoked &&
    (declaration.expiresAtMs === null || declaration.expiresAtMs > at.nowMs);
  return isActive ? 'declared' : 'cold';
}

function capsAt(at: Moment) {
  const days = at.pairedAtMs === null ? 0 : (at.nowMs - at.pairedAtMs) / day;
  const perDay = days < 3 ? 20 : days < 7 ? 50 : days < 14 ? 100 : 250;
  return {
    perDay,
    perHour: { 20: 10, 50: 10, 100: 16, 250: 41 }[perDay] as number,
    coldPerDay: at.settings.coldPerDay ?? ({ 20: 5, 50: 5, 100: 10, 250: 25 }[perDay] as number),
    declaredPerDay: at.settings.declaredPerDay,
  };
}

function sharesFor(at: Moment): number {
  const participants = at.group?.participantCount ?? 0;
  let shares = 1;
  while (shares * 50 < participants) {
    shares += 1;
  }
  return shares;
}

function sharesOf(sends: readonly OracleSend[]): number {
  return sends.filter((send) => send.kind === 'group').reduce((total, send) => total + send.shares, 0);
}
