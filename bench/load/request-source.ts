import { type LoadPlan, MESSAGES_PER_SHOP } from './load-plan.ts';
import { requestBytes } from './request-bytes.ts';

/** Gives the requests of a load, one after the other. */
export interface RequestSource {
  next(): string | Buffer;
  /** Every message there is to read was asked for. */
  isOver(): boolean;
  /** How many sends were given. */
  made(): number;
  /** The key of the send with this number. */
  keyOf(number: number): string;
}

/** Makes the requests of a plan. Those that can be are made beforehand, so that the client stays lean. */
export function requestSource({ requests }: LoadPlan): RequestSource {
  if (requests.kind === 'send') return sends(requests);
  const bytes = fixedRequests(requests).map(({ path, token }) =>
    Buffer.from(requestBytes({ method: 'GET', path: `/api/v1${path}`, token }), 'latin1'),
  );
  const most = requests.kind === 'read' && requests.once ? bytes.length : Number.POSITIVE_INFINITY;
  let count = 0;
  return {
    isOver: () => count >= most,
    next() {
      const request = bytes[count % bytes.length] as Buffer;
      count += 1;
      return request;
    },
    made: () => 0,
    keyOf: () => '',
  };
}

/** Returns the requests of a load that are known beforehand. */
export function fixedRequests(
  requests: Exclude<LoadPlan['requests'], { kind: 'send' }>,
): { readonly path: string; readonly token: string }[] {
  switch (requests.kind) {
    case 'me':
      return requests.keys.map((token) => ({ path: '/me', token }));
    case 'channel':
      return requests.shops.map(({ id, key }) => ({ path: `/shops/${id}/channels/msgapp`, token: key }));
    case 'read':
      return requests.messages.map(({ id, key }) => ({ path: `/messages/${id}`, token: key }));
  }
}

/**
 * Sends one message to each shop in turn, so that no shop gets more than its share. Each round has another recipient,
 * and no text repeats. Throws when the shops have used all that the policy allows.
 */
function sends(requests: Extract<LoadPlan['requests'], { kind: 'send' }>): RequestSource {
  const { shops, recipients, from, isUnbounded } = requests;
  const room = shops.length * MESSAGES_PER_SHOP;
  let count = from;
  const shopOf = (number: number) => shops[number % shops.length] as (typeof shops)[number];
  return {
    isOver: () => false,
    next() {
      if (count >= room && !isUnbounded)
        throw new Error(`${shops.length} shops take no more than ${room} messages an hour`);
      const number = count;
      count += 1;
      const { id, key } = shopOf(number);
      const round = Math.floor(number / shops.length);
      const to = recipients[
        ((number % shops.length) * MESSAGES_PER_SHOP + round) % recipients.length
      ] as string;
      return requestBytes({
        method: 'POST',
        path: `/api/v1/shops/${id}/messages`,
        token: key,
        body: {
          channel: 'msgapp',
          to,
          text: `Your order ${number} is ready and waits for you at the counter.`,
        },
      });
    },
    made: () => count,
    keyOf: (number) => shopOf(number).key,
  };
}
