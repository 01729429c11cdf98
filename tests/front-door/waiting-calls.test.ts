/**
 * Calls and streams that wait for events, through the proxy of compose.yaml. The calls of another tenant are answered
 * all the same.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedService } from '../http/shared-service.ts';
import type { TestTenant } from '../http/target.ts';
import { type EventAccount, eventAccount } from '../http/tenant-api/event-account.ts';
import { eventually, pause } from '../testbed/waiting.ts';
import { behindNginx, type NginxFront } from './nginx-front.ts';
import { type NodeRelay, startNodeRelay } from './node-relay.ts';

const POLLS = 8;
const STREAMS = 8;
const WAITING_CALL = /^GET \/api\/v1\/events\?/;

let waitingAccount: EventAccount;
let bystander: TestTenant;
let servicePort: number;
const { service, target } = sharedService({}, async () => {
  waitingAccount = await eventAccount(service, target);
  bystander = await target.tenant({ plan: 'scale' });
  servicePort = Number(new URL(service.apiUrl).port);
});

/** Starts two nodes behind the proxy. */
async function behind(
  outcomeOf: NonNullable<Parameters<typeof startNodeRelay>[1]>,
  change: (configuration: string) => string,
  ask: (front: NginxFront, nodes: readonly [NodeRelay, NodeRelay]) => Promise<void>,
): Promise<void> {
  const nodes = [
    await startNodeRelay(servicePort, outcomeOf),
    await startNodeRelay(servicePort, outcomeOf),
  ] as const;
  try {
    await behindNginx([nodes[0].port, nodes[1].port], (front) => ask(front, nodes), {
      change,
    });
  } finally {
    for (const node of nodes) await node.die();
  }
}

const get = ({ url }: NginxFront, path: string, { key }: { readonly key: string }): Promise<Response> =>
  fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } });

/** Calls `GET /me` again and again until everything has settled. Returns the statuses it saw. */
async function asksUntilSettled(front: NginxFront, work: Promise<unknown>): Promise<ReadonlySet<number>> {
  const seen = new Set<number>();
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  work.then(end, end);
  while (!isOver) {
    const answer = await get(front, '/me', bystander);
    await answer.text();
    seen.add(answer.status);
    // Bounds the load of this test alone.
    await pause(20);
  }
  return seen;
}

/** Opens a stream. Resolves once its first bytes are there. */
async function openStream({ url }: NginxFront, key: string) {
  const answer = await fetch(`${url}/api/v1/events`, {
    headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
  });
  assert.equal(answer.status, 200);
  assert.ok(answer.body);
  const chunks = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  /** Reads until the text is there. False when the stream ends before. */
  const reads = async (wanted: string): Promise<boolean> => {
    while (!text.includes(wanted)) {
      const { done, value } = await chunks.read().catch(() => ({ done: true, value: '' }));
      if (done) return false;
      text += value;
    }
    return true;
  };
  assert.ok(await reads('retry:'));
  return reads;
}

test('idle polls of 30 s, open streams and a node that dies meanwhile: another tenant sees nothing but 200', () =>
  behind(
    () => 'pass',
    (configuration) => configuration,
    async (front, [dying, staying]) => {
      const streams = await Promise.all(
        Array.from({ length: STREAMS }, () => openStream(front, waitingAccount.owner.key)),
      );
      const polls = Array.from({ length: POLLS }, async () => {
        const answer = await get(front, '/events?waitMs=30000', waitingAccount.owner);
        return { status: answer.status, body: (await answer.json()) as { data: { items: unknown[] } } };
      });
      const seen = asksUntilSettled(front, Promise.all(polls));
      await eventually(() =>
        [dying, staying].every(({ taken }) => taken.some((line) => WAITING_CALL.test(line))),
      );
      await dying.die();
      for (const { status, body } of await Promise.all(polls)) {
        assert.equal(status, 200, JSON.stringify(body));
        assert.deepEqual(body.data.items, []);
      }
      assert.deepEqual([...(await seen)], [200]);
      await waitingAccount.store(1);
      const went = await Promise.all(streams.map((reads) => reads('recipient.opted_out')));
      const isOfDying = dying.taken.filter((line) => line.startsWith('GET /api/v1/events HTTP'));
      assert.equal(went.filter((isThere) => isThere).length, STREAMS - isOfDying.length);
    },
  ));

test('a waiting call without an answer goes to one node, and that node still gets the others', () =>
  behind(
    (line) => (WAITING_CALL.test(line) ? 'swallow' : 'pass'),
    // The times of the configuration, a hundred times shorter.
    (configuration) => configuration.replaceAll(/(timeout) (\d+)s;/g, '$1 $20ms;'),
    async (front, nodes) => {
      const polls = Array.from({ length: POLLS }, () =>
        get(front, '/events?waitMs=30000', waitingAccount.owner),
      );
      const seen = asksUntilSettled(front, Promise.all(polls));
      for (const answer of await Promise.all(polls)) {
        assert.equal(answer.status, 503);
        assert.equal(answer.headers.get('retry-after'), '1');
      }
      assert.deepEqual([...(await seen)], [200]);
      const takenLines = nodes.flatMap((node) => node.taken.filter((line) => WAITING_CALL.test(line)));
      assert.equal(takenLines.length, POLLS);
    },
  ));
