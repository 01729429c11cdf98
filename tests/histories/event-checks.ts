import { groups, several } from './groups.ts';
import type { History } from './history.ts';
import { broken, type Violation } from './violation.ts';

/** The types of events at the end of a message. */
const END_TYPES: ReadonlySet<string> = new Set(['message.sent', 'message.failed', 'message.rejected']);

/**
 * The feed has each event once and in order, and each end once. An endpoint gets each event of the feed at least once,
 * in no order (docs/contract.md, Webhooks), and with the same content.
 */
export function eventsTold(history: History): Violation[] {
  return [...fedInOrder(history), ...endsTold(history), ...calledAsFed(history)];
}

function fedInOrder(history: History): Violation[] {
  const fed = groups(
    history.of('fed'),
    ({ tenant }) => tenant,
    ({ eventId }) => eventId,
    true,
  );
  return [...fed]
    .filter(([, ids]) => ids.some((id, index) => index > 0 && id <= (ids[index - 1] ?? '')))
    .map(([tenant]) => broken('the feed tells each event once, in order', tenant));
}

function endsTold(history: History): Violation[] {
  const isKept = isKeptIn(history);
  const told = groups(
    history.of('fed').filter(({ type }) => END_TYPES.has(type)),
    ({ about }) => about,
    ({ type }) => type,
    true,
  );
  return [
    ...several(told).map(([id, types]) => broken('an end is published once', id, ...types)),
    ...history
      .of('ended')
      .filter((end) => isKept(end) && !told.get(end.id)?.includes(`message.${end.status}`))
      .map(({ id, status }) => broken('the feed publishes each end', id, status)),
  ];
}

/** Checks that endpoints and feeds agree. Events of erased shops are left out: an endpoint may have got them before. */
function calledAsFed(history: History): Violation[] {
  const fed = history.of('fed').filter(isKeptIn(history));
  const called = history.of('called').filter(isKeptIn(history));
  const content = ({ type, about, shop }: (typeof fed)[number] | (typeof called)[number]): string =>
    `${type} ${about} ${shop}`;
  const inFeed = new Map(fed.map((event) => [`${event.tenant} ${event.eventId}`, content(event)]));
  const heard = new Set(called.map(({ tenant, eventId }) => `${tenant} ${eventId}`));
  return [
    ...fed
      .filter(({ tenant, eventId }) => !heard.has(`${tenant} ${eventId}`))
      .map(({ eventId, about }) => broken('an endpoint hears each event', eventId, about)),
    ...called
      .filter((event) => inFeed.get(`${event.tenant} ${event.eventId}`) !== content(event))
      .map(({ eventId, about }) => broken('an endpoint hears what the feed tells', eventId, about)),
  ];
}

/** The feed has each message of a customer once, and one customer's messages in the order of writing. */
export function inboundTold(history: History): Violation[] {
  const isKept = isKeptIn(history);
  const written = new Map(
    history
      .of('wrote')
      .toSorted((one, other) => one.atMs - other.atMs)
      .map((message) => [message.text, message]),
  );
  const received = history.of('fed').filter(({ type }) => type === 'message.received');
  const told = groups(
    received,
    ({ text }) => text ?? '',
    ({ eventId }) => eventId,
    true,
  );
  const places = groups(
    received.filter(({ text }) => written.has(text ?? '')),
    ({ text, shop }) => `${shop} ${written.get(text ?? '')?.by}`,
    ({ text }) => text ?? '',
  );
  const order = [...written.keys()];
  return [
    ...several(told)
      .filter(([text]) => written.has(text))
      .map(([text]) => broken('an inbound message is published once', text)),
    ...[...written.values()]
      .filter((message) => isKept(message) && !told.has(message.text))
      .map(({ shop, text }) => broken('an inbound message is published', text, shop)),
    ...[...places.values()]
      .filter((texts) => {
        return texts.some(
          (text, index) => index > 0 && order.indexOf(text) < order.indexOf(texts[index - 1] ?? ''),
        );
      })
      .map((texts) => broken('inbound messages are published in order', ...texts)),
  ];
}

/** Returns a filter for facts. It drops those of erased shops, and those about the texts of erased persons. */
export function isKeptIn(
  history: History,
): (fact: { readonly shop: string; readonly text?: string | null }) => boolean {
  const erased = new Set(history.of('erased').map(({ shop }) => shop));
  const texts = new Set(history.of('erased_person').map(({ text }) => text));
  return ({ shop, text }) => !erased.has(shop) && !texts.has(text ?? '');
}
