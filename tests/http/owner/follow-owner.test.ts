import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type FollowedRequest, ownerFollower } from '../../../http/owner/follow-owner.ts';
import { FORWARD_TIMEOUT_MS } from '../../../http/owner/forwarder.ts';
import type { OwnerReply } from '../../../http/owner/owner-reply.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { seededRandom } from '../../testbed/seeded-random.ts';

const reply = (status: number, hasMoved = false): OwnerReply => ({
  reply: { status, contentType: 'application/json', headers: '', body: '' },
  keyId: undefined,
  hasMoved,
});
const movedReply = reply(503, true);

/** An edge that follows tenants whose owner the test names. */
class Edge {
  readonly clock = new FakeClock();
  owner: string | undefined = 'first 1';
  isInCompany = true;
  /** The asked owners, and the time spent before each. */
  readonly asked: { readonly owner: string | undefined; readonly spentMs: number }[] = [];
  answer: () => OwnerReply = () =>
    this.owner === 'first 1' || this.owner === undefined ? movedReply : reply(200);
  readonly #follow = ownerFollower({
    forwarder: { ownership: () => this.owner, ownerMayCome: () => this.isInCompany },
    clock: this.clock,
    random: seededRandom(1),
  });

  /** The reply, once there is one. */
  request(refused?: FollowedRequest['refused']): { status: number | undefined } {
    const outcome: { status: number | undefined } = { status: undefined };
    const ask = async (spentMs: number): Promise<OwnerReply> => {
      this.asked.push({ owner: this.owner, spentMs });
      return this.answer();
    };
    const call = refused === undefined ? { tenantId: 't', ask } : { tenantId: 't', ask, refused };
    void this.#follow(call).then((knownReply) => {
      outcome.status = knownReply.reply.status;
    });
    return outcome;
  }
}

describe('a request whose tenant is handed over', () => {
  test('is answered by the next owner, as soon as that is known; no node is asked twice', async () => {
    const edge = new Edge();
    const outcome = edge.request();
    await edge.clock.advance(300);
    edge.owner = undefined;
    await edge.clock.advance(300);
    edge.owner = 'second 3';
    await edge.clock.advance(40);
    assert.equal(outcome.status, 200);
    assert.deepEqual(
      edge.asked.map(({ owner }) => owner),
      ['first 1', 'second 3'],
    );
    assert.ok((edge.asked[1]?.spentMs ?? 0) >= 600);
  });

  test('is refused when the time of a forwarded request is up and no node took the tenant', async () => {
    const edge = new Edge();
    const outcome = edge.request();
    await edge.clock.advance(FORWARD_TIMEOUT_MS - 50);
    assert.equal(outcome.status, undefined);
    await edge.clock.advance(50);
    assert.equal(outcome.status, 503);
    assert.equal(edge.asked.length, 1);
  });

  test('is refused as soon as no node is left that could take the tenant', async () => {
    const edge = new Edge();
    const outcome = edge.request();
    await edge.clock.advance(100);
    assert.equal(outcome.status, undefined);
    edge.isInCompany = false;
    await edge.clock.advance(40);
    assert.equal(outcome.status, 503);
  });

  test('is refused in time although the tenant keeps moving', async () => {
    const edge = new Edge();
    edge.answer = () => movedReply;
    const outcome = edge.request();
    for (let move = 2; move < 30; move += 1) {
      edge.owner = `node ${move}`;
      await edge.clock.advance(100);
    }
    assert.equal(outcome.status, 503);
    assert.ok(edge.asked.every(({ spentMs }) => spentMs < FORWARD_TIMEOUT_MS));
  });

  test('is not asked again if the answer does not prove that nothing was done', async () => {
    const edge = new Edge();
    edge.answer = () => reply(503);
    const outcome = edge.request();
    edge.owner = 'second 3';
    await edge.clock.advance(FORWARD_TIMEOUT_MS);
    assert.equal(outcome.status, 503);
    assert.equal(edge.asked.length, 1);
  });

  test('continues after the refusal of this very node, at once if another owner is known already', async () => {
    const edge = new Edge();
    edge.owner = 'second 3';
    const known = edge.request({ ownership: undefined, reply: movedReply });
    await edge.clock.advance(0);
    assert.equal(known.status, 200);
    edge.owner = 'self 1';
    const waits = edge.request({ ownership: 'self 1', reply: movedReply });
    await edge.clock.advance(500);
    assert.equal(waits.status, undefined);
    edge.owner = 'second 4';
    await edge.clock.advance(40);
    assert.equal(waits.status, 200);
  });

  test('waits with at most 255 others: more are refused at once', async () => {
    const edge = new Edge();
    const waiting = Array.from({ length: 256 }, () => edge.request());
    await edge.clock.advance(1);
    const oneTooMany = edge.request();
    await edge.clock.advance(1);
    assert.equal(oneTooMany.status, 503);
    edge.owner = 'second 3';
    await edge.clock.advance(40);
    assert.ok(waiting.every(({ status }) => status === 200));
    edge.owner = 'first 1';
    const later = edge.request();
    await edge.clock.advance(40);
    assert.equal(later.status, undefined);
  });
});
