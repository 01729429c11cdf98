import { MINUTE_MS } from '../../runtime/durations.ts';
import { groups } from './groups.ts';
import type { Entry, History } from './history.ts';
import { broken, type Violation } from './violation.ts';

/** The sends of a young number within an hour (docs/contract.md, Send policy). All shops of a history are younger. */
export const MESSAGES_AN_HOUR = 10;
/** The messages of a number to one recipient within a day. No history is as long. */
export const MESSAGES_TO_ONE = 3;
/** Between two messages to one recipient who has not written since. */
export const APART_MS = 10 * MINUTE_MS;

/** No number sends more than its caps allow (docs/contract.md, Messages to numbers). */
export function capsKept(history: History): Violation[] {
  return [...onHandsets(history), ...apart(history)];
}

function onHandsets(history: History): Violation[] {
  const between = history.of('delivered').filter(({ group }) => group === null);
  const bySender = groups(
    between,
    ({ from }) => from,
    ({ text }) => text,
  );
  const byPair = groups(
    between,
    ({ from, to }) => `${from} ${to}`,
    ({ text }) => text,
  );
  return [
    ...[...bySender]
      .filter(([, texts]) => texts.length > MESSAGES_AN_HOUR)
      .map(([from, texts]) => broken('a number keeps to its cap', from, ...texts)),
    ...[...byPair]
      .filter(([, texts]) => texts.length > MESSAGES_TO_ONE)
      .map(([, texts]) => broken('a recipient gets no more than a day allows', ...texts)),
  ];
}

/** The moments at which messages to one recipient were accepted are as far apart as they must be. */
function apart(history: History): Violation[] {
  const made = groups(
    history.of('made').toSorted((one, other) => one.atMs - other.atMs),
    ({ shop, to }) => `${shop} ${to}`,
    (message) => message,
    true,
  );
  return [...made.values()]
    .flatMap((messages) =>
      messages.filter((message, index) => {
        const before = messages[index - 1];
        return before !== undefined && isTooSoon(history, before, message);
      }),
    )
    .map(({ id, to }) => broken('messages to one recipient are apart', id, to));
}

type Made = Extract<Entry, { kind: 'made' }>;

/** True if the recipient can have written nothing between two messages that are too close to each other. */
function isTooSoon(history: History, before: Made, { shop, to, atMs }: Made): boolean {
  if (atMs - before.atMs >= APART_MS) return false;
  return !history
    .of('wrote')
    .some(
      (wrote) =>
        wrote.shop === shop && wrote.by === to && wrote.atMs <= atMs && wrote.receiptedMs >= before.atMs,
    );
}
