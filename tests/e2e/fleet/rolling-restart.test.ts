/**
 * Nodes restarted one after the other, under callers behind a proxy. Like that of `image/`, it goes to the next node
 * when a connection is refused or ends without an answer. Few callers get a 503, and a retry succeeds.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pause } from '../../testbed/waiting.ts';
import { type Account, makeAccount } from '../stack/account.ts';
import type { ApiAnswer } from '../stack/api-client.ts';
import type { Fleet } from '../stack/fleet.ts';
import { sharedFleet } from '../stack/shared-fleet.ts';

const TENANTS = 16;
/** Between an answer and the next question of a caller. */
const PAUSE_MS = 20;
/** Without following tenants to their next owner, 3.7 % of the answers were 503. */
const MOST_ASKED_AGAIN = 0.01;

const fleet = sharedFleet({ nodes: 2 });

/** Answers by what they were: a status, with its code where it is an error. */
type Answers = Map<string, number>;

test('in a rolling restart no read or write fails, and few have to be repeated', async (context) => {
  const accounts = await Promise.all(
    Array.from({ length: TENANTS }, (_, index) => makeAccount(fleet.admin, `Tenant ${index}`)),
  );
  const answers: Answers = new Map();
  let isOver = false;
  const callers = accounts.map((account, index) => call(account, { index, answers, isOver: () => isOver }));
  for (const node of fleet.nodes) {
    assert.equal(await node.end('SIGTERM'), 0);
    await node.start();
    await fleet.spread();
  }
  isOver = true;
  await Promise.all(callers);
  context.diagnostic(JSON.stringify(Object.fromEntries(answers)));
  const {
    'GET 200': reads = 0,
    'POST 202': writes = 0,
    'asked again': again = 0,
    ...others
  } = Object.fromEntries(answers);
  assert.deepEqual(others, {});
  assert.ok(reads > 0 && writes > 0);
  assert.ok(again <= MOST_ASKED_AGAIN * (reads + writes), `${again} asked again`);
});

/** Reads and declares contacts by turns, until it is over. */
async function call(
  account: Account,
  run: { readonly index: number; readonly answers: Answers; readonly isOver: () => boolean },
): Promise<void> {
  const { answers } = run;
  for (let count = 0; !run.isOver(); count += 1) {
    const isWrite = count % 4 === 0;
    const phone = `+336${String(run.index * 10_000 + count).padStart(8, '0')}`;
    const ask = (): Promise<ApiAnswer> =>
      throughDoor(run.index + count, (node) =>
        isWrite
          ? node
              .api(account.apiKey)
              .post(`/shops/${account.shopId}/contacts/consented`, { contacts: [{ phone }] })
          : node.api(account.apiKey).get('/me'),
      );
    let answer = await ask();
    if (answer.status === 503) {
      answers.set('asked again', (answers.get('asked again') ?? 0) + 1);
      await pause(1_000 * Number(answer.headers.get('retry-after')));
      answer = await ask();
    }
    const name = [isWrite ? 'POST' : 'GET', answer.status, answer.error?.code].filter(Boolean).join(' ');
    answers.set(name, (answers.get(name) ?? 0) + 1);
    await pause(PAUSE_MS);
  }
}

/** Asks a node, and the next one if that does not answer at all. */
async function throughDoor(
  first: number,
  ask: (node: Fleet['nodes'][number]) => Promise<ApiAnswer>,
): Promise<ApiAnswer> {
  const { nodes } = fleet;
  let failure: unknown;
  for (let turn = 0; turn < nodes.length; turn += 1) {
    const node = nodes[(first + turn) % nodes.length];
    if (node === undefined) continue;
    try {
      return await ask(node);
    } catch (error) {
      failure = error;
    }
  }
  throw new Error('no node answered', { cause: failure });
}
