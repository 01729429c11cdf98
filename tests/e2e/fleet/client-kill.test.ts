/**
 * The client of `client/` against two nodes. The one that has its tenant is killed while it sends, follows events and
 * waits, and some answers are lost. Every message it sent exists once, and the feed has each end once. TEST_SEED
 * repeats a run.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endedMessage } from '../../../client/src/event-feed.ts';
import { type MessagingClient, messagingClient } from '../../../client/src/messaging-client.ts';
import type { Message } from '../../../client/src/operations.ts';
import { MINUTE_MS } from '../../../runtime/durations.ts';
import { seededRandom } from '../../testbed/seeded-random.ts';
import { testEnvironment } from '../../testbed/test-environment.ts';
import { pause, until } from '../../testbed/waiting.ts';
import { type Account, makeAccount } from '../stack/account.ts';
import { sharedFleet } from '../stack/shared-fleet.ts';

const { seed } = testEnvironment();
const SHOPS = 4;
/** Within the ten that a shop of day 0 may send an hour. */
const SENDS_PER_SHOP = 8;
const SENDS = SHOPS * SENDS_PER_SHOP;
/** Over which time sends begin, in milliseconds; the kill is in the middle. */
const SENDING_MS = 2_000;
/** The part of the answers that is lost. */
const LOST_ANSWERS = 0.15;
/**
 * Twice the wait of a call that waited for the owner through the other node, in milliseconds: it is answered at its
 * end.
 */
const HEARD_WITHIN_MS = 30_000;

let account: Account;
const fleet = sharedFleet({ nodes: 2, gapMs: '20-100' }, async () => {
  account = await makeAccount(fleet.admin);
});

const textOf = (index: number): string => `message ${index}`;
const numberOf = (index: number): string => `+3366${1_000_000 + index}`;

/** Makes shops and connects each by the client's own flow. */
async function connectShops(api: MessagingClient): Promise<string[]> {
  const phones = Array.from({ length: SENDS }, (_, index) => numberOf(index));
  await fleet.admin.post(`/tenants/${account.tenantId}/customers`, { phones });
  const connect = async (index: number): Promise<string> => {
    const { data } = await api.createShop({ name: `Shop ${index}` });
    for await (const { qr } of api.connect({ idOrName: data.id })) {
      if (qr !== undefined) await fleet.network.scan(qr, `+3365100000${index}`);
    }
    return data.id;
  };
  return Promise.all(Array.from({ length: SHOPS }, (_, index) => connect(index)));
}

test(`a node killed under the client: no message lost, none doubled (seed ${seed})`, async (context) => {
  const random = seededRandom(seed);
  let retries = 0;
  const api = messagingClient({
    baseUrl: fleet.nodes.map(({ apiUrl }) => apiUrl()),
    apiKey: account.apiKey,
    eventGapMs: 100,
    random,
    // A kill seldom does this: the service has done the work, and the answer is lost.
    fetch: async (...call) => {
      const answer = await fetch(...call);
      if (random() > LOST_ANSWERS) return answer;
      await answer.body?.cancel();
      throw new TypeError('the answer is lost');
    },
    onRetry: () => {
      retries += 1;
    },
  });
  const shops = await connectShops(api);
  const { data: now } = await api.listEvents({});
  const end = new AbortController();
  // Also where the test fails: a feed goes on by itself.
  context.after(() => end.abort());
  const told: string[] = [];
  const following = (async () => {
    for await (const event of api.followEvents({ cursor: now.nextCursor, signal: end.signal })) {
      const message = endedMessage(event);
      if (message !== undefined) told.push(message.id);
    }
  })();
  // It is checked below, with the events that it got until then.
  let brokenOff: unknown;
  following.catch((error: unknown) => {
    brokenOff = error;
  });

  const sends = Array.from({ length: SENDS }, async (_, index): Promise<Message> => {
    await pause(random() * SENDING_MS);
    const { data } = await api.sendMessage({
      idOrName: shops[index % SHOPS] ?? '',
      channel: 'msgapp',
      to: numberOf(index),
      text: textOf(index),
    });
    return api.waitForMessage(data.id, { timeoutMs: MINUTE_MS });
  });
  const all = Promise.all(sends);
  await pause(SENDING_MS / 2);
  const { data: actor } = await fleet.admin.get(`/actors/${account.tenantId}/${shops[0]}`);
  const { nodeId } = actor.owner as { readonly nodeId: string };
  const owner = fleet.nodes.find((node) => node.nodeId === nodeId);
  assert.ok(owner);
  await owner.end('SIGKILL');
  const messages = await all;

  assert.equal(new Set(messages.map(({ id }) => id)).size, SENDS, 'each send is a message of its own');
  const recorded: string[] = [];
  for (const idOrName of shops) {
    for await (const { text } of api.eachMessage({ idOrName, limit: 5 })) recorded.push(String(text));
  }
  assert.deepEqual(
    recorded.toSorted(),
    Array.from({ length: SENDS }, (_, index) => textOf(index)).toSorted(),
  );
  for (const [index, { id, status, reason, text }] of messages.entries()) {
    assert.equal(text, textOf(index));
    const inbox = await fleet.network.inbox(numberOf(index));
    const arrived = inbox.items.filter((entry) => entry.text === text).length;
    const outcome = `${id} ${status} ${reason}, arrived ${arrived} times`;
    if (status === 'sent') assert.equal(arrived, 1, outcome);
    else assert.ok(reason === 'BOT_RESTARTED' && arrived <= 1, outcome);
  }
  const allTold = async (): Promise<boolean> => brokenOff !== undefined || told.length >= SENDS;
  await until('the feed told every end', allTold, { withinMs: HEARD_WITHIN_MS });
  assert.equal(brokenOff, undefined);
  assert.deepEqual(told.toSorted(), messages.map(({ id }) => id).toSorted(), 'each end once');
  const sentCount = messages.filter(({ status }) => status === 'sent').length;
  context.diagnostic(
    `${sentCount} of ${SENDS} sent, the others failed BOT_RESTARTED; ${retries} repetitions`,
  );
  assert.ok(retries > 0, 'the kill was not noticed');
});
