import { capsKept } from './cap-checks.ts';
import { eventsTold, inboundTold } from './event-checks.ts';
import { groups, several } from './groups.ts';
import type { History } from './history.ts';
import { broken, type Violation } from './violation.ts';

/** Reasons of messages that never left (docs/contract.md, Message states). */
const NEVER_LEFT: ReadonlySet<string> = new Set(['CANCELLED', 'EXPIRED', 'MSGAPP_NOT_CONNECTED']);

/** Checks a finished history against the promises of docs/contract.md. Returns what it breaks; none is good. */
export function violationsOf(history: History): Violation[] {
  return [
    ...acceptedOnce(history),
    ...endedOnce(history),
    ...onHandsets(history),
    ...capsKept(history),
    ...afterStops(history),
    ...whileSuspended(history),
    ...eventsTold(history),
    ...inboundTold(history),
    ...history
      .of('answered_after_revocation')
      .filter(({ code }) => code !== 'API_KEY_REVOKED')
      .map(({ key, code }) => broken('a revoked key is refused', key, code)),
    ...history
      .of('left_after_erasure')
      .map(({ of, name, what }) => broken(`an erased ${of} leaves nothing`, name, what)),
    ...history.of('gave_up').map(({ shop, what }) => broken('what is asked for happens', shop, what)),
  ];
}

/** Each idempotency key has one message, each message one key, and a repeated call is answered with that message. */
function acceptedOnce(history: History): Violation[] {
  const ids = groups(
    history.of('accepted'),
    ({ shop, key }) => `${shop} ${key}`,
    ({ id }) => id,
  );
  const keys = groups(
    history.of('accepted'),
    ({ id }) => id,
    ({ key }) => key,
  );
  return [
    ...several(ids).map(([, foundIds]) => broken('one key is one message', ...foundIds)),
    ...several(keys).map(([id, foundKeys]) => broken('one message has one key', id, ...foundKeys)),
    ...history
      .of('repeat_refused')
      .map(({ id, code }) => broken('a repetition is answered with its message', id, code)),
  ];
}

/** Each accepted message of a shop that is still there ends, and keeps its end. */
function endedOnce(history: History): Violation[] {
  const erased = new Set(history.of('erased').map(({ shop }) => shop));
  const ends = groups(
    history.of('ended'),
    ({ id }) => id,
    ({ status, reason }) => `${status} ${reason}`,
  );
  const accepted = history.of('accepted').filter(({ shop }) => !erased.has(shop));
  return [
    ...accepted
      .filter(({ id }) => !ends.has(id))
      .map(({ id, text }) => broken('an accepted message ends', id, text)),
    ...several(ends).map(([id, foundEnds]) => broken('an end does not change', id, ...foundEnds)),
  ];
}

/**
 * A text is on a handset at most once. It is there exactly once if it was reported as sent, and never if it was
 * reported as not sent.
 */
function onHandsets(history: History): Violation[] {
  const delivered = history.of('delivered');
  const between = delivered.filter(({ group }) => group === null);
  const phones = new Map([
    ...groups(
      between,
      ({ text }) => text,
      ({ to }) => to,
      true,
    ),
    // All members of a group get it.
    ...groups(
      delivered.filter(({ group }) => group !== null),
      ({ text, to }) => `${text} in a group ${to}`,
      ({ to }) => to,
      true,
    ),
  ]);
  const arrived = new Set(delivered.map(({ text }) => text));
  const cancelled = history.of('cancelled').filter(({ text }) => arrived.has(text));
  const ends = new Map(history.of('ended').map((end) => [end.id, end]));
  return [
    ...several(phones).map(([text, foundPhones]) =>
      broken('a message is on one handset once', text, ...foundPhones),
    ),
    ...history
      .of('accepted')
      .filter(({ id, text }) => ends.get(id)?.status === 'sent' && !arrived.has(text))
      .map(({ id, text }) => broken('a sent message is on its handset', id, text)),
    ...history
      .of('accepted')
      .filter(({ id, text }) => arrived.has(text) && neverLeft(ends.get(id)))
      .map(({ id, text }) => broken('what is said not to have left is on no handset', id, text)),
    ...cancelled.map(({ text }) => broken('what was cancelled is not sent', text)),
  ];
}

function neverLeft(end: { readonly status: string; readonly reason: string } | undefined): boolean {
  return end !== undefined && (end.status === 'rejected' || NEVER_LEFT.has(end.reason));
}

/** Nothing is accepted for a person after their STOP was acknowledged, and nothing reaches them. */
function afterStops(history: History): Violation[] {
  const phones = new Map(history.of('connected').map(({ shop, phone }) => [shop, phone]));
  const late = history.of('stopped').flatMap(({ shop, by, atMs, held }) => {
    const fromMs = arrivedBy(history, atMs);
    return history
      .of('delivered')
      .filter(({ from, to, group }) => group === null && from === phones.get(shop) && to === by)
      .filter(({ atMs: arrivedMs, text }) => arrivedMs > fromMs || text === held)
      .map(({ text }) => broken('nothing is sent after a STOP', by, text));
  });
  const answers = history
    .of('answered_after_stop')
    .filter(({ code }) => code !== 'RECIPIENT_OPTED_OUT')
    .map(({ shop, to, code }) => broken('a STOP is a STOP', shop, to, code));
  return [...late, ...answers];
}

/** Nothing of a tenant reaches a handset while it is suspended. */
function whileSuspended(history: History): Violation[] {
  const changes = history.of('suspended');
  return changes.flatMap(({ tenant, on, atMs, held }, index) => {
    if (!on) return [];
    const next = changes.find((change, place) => place > index && change.tenant === tenant);
    const untilMs = next?.atMs ?? Number.POSITIVE_INFINITY;
    const fromMs = arrivedBy(history, atMs);
    const own = history.of('connected').filter((shop) => shop.tenant === tenant);
    const phones = new Set(own.map(({ phone }) => phone));
    return history
      .of('delivered')
      .filter((delivery) => phones.has(delivery.from) && delivery.atMs < untilMs)
      .filter(({ atMs: arrivedMs, text }) => arrivedMs > fromMs || text === held)
      .map(({ text }) => broken('a suspended tenant sends nothing', tenant, text));
  });
}

/** By when everything has arrived that was on its way at a moment: later where a node was frozen. */
function arrivedBy(history: History, atMs: number): number {
  const { onTheWayMs } = history;
  let byMs = atMs + onTheWayMs;
  for (const { name, on, atMs: changedMs } of history.of('fault')) {
    if (!on && name.startsWith('freeze') && changedMs > atMs && changedMs < byMs + onTheWayMs)
      byMs = Math.max(byMs, changedMs + onTheWayMs);
  }
  return byMs;
}
