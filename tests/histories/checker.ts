import type { History } from './history.ts';

/** A promise that a history breaks. `names` are the ids, texts or numbers that it is about. */
export interface Violation {
  readonly promise: string;
  readonly names: readonly string[];
}

/** What a young number may send within an hour (docs/contract.md, Send policy). No shop of a history lives as long. */
export const MESSAGES_AN_HOUR = 10;
/** A frame that was committed before a STOP may reach its handset for so long after the receipt of the STOP. */
const ON_THE_WAY_MS = 2_000;
/** Events that tell the end of a message. */
export const END_TYPES: ReadonlySet<string> = new Set(['message.sent', 'message.failed', 'message.rejected']);

/** Checks a finished history against the promises of docs/contract.md. Returns what it breaks; none is good. */
export function violationsOf(history: History): Violation[] {
  return [
    ...acceptedOnce(history),
    ...endedOnce(history),
    ...onHandsets(history),
    ...afterStops(history),
    ...eventsOnce(history),
    ...history
      .of('answered_after_revocation')
      .filter(({ code }) => code !== 'API_KEY_REVOKED')
      .map(({ key, code }) => broken('a revoked key is refused', key, code)),
    ...history
      .of('left_after_erasure')
      .map(({ shop, what }) => broken('an erased shop leaves nothing', shop, what)),
  ];
}

function broken(promise: string, ...names: string[]): Violation {
  return { promise, names };
}

/** One idempotency key is one message, one message has one key, and a repetition is answered with it. */
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
    ...several(ids).map(([, found]) => broken('one key is one message', ...found)),
    ...several(keys).map(([id, found]) => broken('one message has one key', id, ...found)),
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
    ...several(ends).map(([id, found]) => broken('an end does not change', id, ...found)),
  ];
}

/** A text is on a handset once at most, exactly once when it is said to be sent, and never more than the cap allows. */
function onHandsets(history: History): Violation[] {
  const delivered = groups(
    history.of('delivered'),
    ({ text }) => text,
    ({ to }) => to,
    true,
  );
  const ends = new Map(history.of('ended').map(({ id, status }) => [id, status]));
  const bySender = groups(
    history.of('delivered'),
    ({ from }) => from,
    ({ text }) => text,
  );
  return [
    ...[...delivered]
      .filter(([, phones]) => phones.length > 1)
      .map(([text, phones]) => broken('a message is on one handset once', text, ...phones)),
    ...history
      .of('accepted')
      .filter(({ id, text }) => ends.get(id) === 'sent' && !delivered.has(text))
      .map(({ id, text }) => broken('a sent message is on its handset', id, text)),
    ...[...bySender]
      .filter(([, texts]) => texts.length > MESSAGES_AN_HOUR)
      .map(([from, texts]) => broken('a number keeps to its cap', from, ...texts)),
  ];
}

/** Nothing is accepted for a person after their STOP was acknowledged, and nothing reaches them. */
function afterStops(history: History): Violation[] {
  const phones = new Map(history.of('connected').map(({ shop, phone }) => [shop, phone]));
  const late = history.of('stopped').flatMap(({ shop, by, atMs }) =>
    history
      .of('delivered')
      .filter(({ from, to, atMs: deliveredMs }) => {
        return from === phones.get(shop) && to === by && deliveredMs > atMs + ON_THE_WAY_MS;
      })
      .map(({ text }) => broken('nothing is sent after a STOP', by, text)),
  );
  const answers = history
    .of('answered_after_stop')
    .filter(({ code }) => code !== 'RECIPIENT_OPTED_OUT')
    .map(({ shop, to, code }) => broken('a STOP is a STOP', shop, to, code));
  return [...late, ...answers];
}

/** The feed tells each event once and in order; an endpoint hears the same events; each end is told once. */
function eventsOnce(history: History): Violation[] {
  const erased = new Set(history.of('erased').map(({ shop }) => shop));
  const broke: Violation[] = [];
  const fed = groups(
    history.of('fed'),
    ({ tenant }) => tenant,
    (event) => event,
    true,
  );
  for (const [tenant, events] of fed) {
    const ids = events.map(({ eventId }) => eventId);
    const ordered = ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? ''));
    if (!ordered) broke.push(broken('the feed tells each event once, in order', tenant));
  }
  const told = groups(
    history.of('fed').filter(({ type }) => END_TYPES.has(type)),
    ({ about }) => about,
    ({ type }) => type,
    true,
  );
  for (const [id, types] of told)
    if (types.length > 1) broke.push(broken('an end is told once', id, ...types));
  for (const { id, shop, status } of history.of('ended')) {
    if (!erased.has(shop) && !told.get(id)?.includes(`message.${status}`))
      broke.push(broken('the feed tells each end', id, status));
  }
  const called = groups(
    history.of('called'),
    ({ tenant }) => tenant,
    ({ eventId }) => eventId,
  );
  const kept = new Set(
    history
      .of('ended')
      .filter(({ shop }) => !erased.has(shop))
      .map(({ id }) => id),
  );
  for (const { tenant, eventId, type, about } of history.of('fed')) {
    if (END_TYPES.has(type) && kept.has(about) && !called.get(tenant)?.includes(eventId))
      broke.push(broken('an endpoint hears of each end', eventId, about));
  }
  return broke;
}

/** Values by name; each value once, unless `repeats`. */
function groups<Item, Value>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  pick: (item: Item) => Value,
  repeats = false,
): Map<string, Value[]> {
  const found = new Map<string, Value[]>();
  for (const item of items) {
    const values = found.get(nameOf(item)) ?? [];
    if (repeats || !values.includes(pick(item))) values.push(pick(item));
    found.set(nameOf(item), values);
  }
  return found;
}

function several<Value>(values: ReadonlyMap<string, Value[]>): [string, Value[]][] {
  return [...values].filter(([, found]) => found.length > 1);
}
