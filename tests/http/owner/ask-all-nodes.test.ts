/** Questions to all nodes: what counts as an answer, and how a node without one is named. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allActors } from '../../../http/operator-api/fleet/actor-list.ts';
import { resumeEverywhere } from '../../../http/operator-api/fleet/resume-everywhere.ts';

/** A node `down` that does not answer, and one `other` that answers this. */
const answering = (answer: unknown) => ({
  otherNodes: () => ['down', 'other'],
  forwardToNode: (nodeId: string) =>
    nodeId === 'down' ? Promise.reject(new Error('gone')) : Promise.resolve(JSON.stringify(answer)),
});

const query = { sort: 'id', state: undefined, q: undefined, limit: 10, after: undefined } as const;
const empty = { eachShop: () => Promise.resolve(), localShop: () => undefined };
const ranked = { rank: 0, id: 'tenant/shop', actor: { tenantId: 'tenant', shopId: 'shop' } };

test('the list of actors names the nodes whose actors are missing', async () => {
  const list = await allActors(empty, answering([ranked]), query);
  assert.deepEqual(list, { actors: [ranked], silentNodes: ['down'] });
});

test('an actor of another build keeps the fields that this build does not know', async () => {
  const newer = { ...ranked, actor: { ...ranked.actor, mood: 'fine' } };
  assert.deepEqual((await allActors(empty, answering([newer]), query)).actors, [newer]);
});

for (const answer of [{ actors: [] }, [{ id: 'a' }], [{ ...ranked, actor: null }], null]) {
  test(`a node that answers ${JSON.stringify(answer)} to the list of actors is named`, async () => {
    const list = await allActors(empty, answering(answer), query);
    assert.deepEqual(list, { actors: [], silentNodes: ['down', 'other'] });
  });
}

const own = () => Promise.resolve({ resumed: 1, left: 2 });
const all = { tenantId: undefined, cause: undefined };

test('the actors that all nodes resumed are added up', async () => {
  const doneEverywhere = await resumeEverywhere(all, { own, forwarder: answering({ resumed: 3, left: 4 }) });
  assert.deepEqual(doneEverywhere, { resumed: 4, left: 6, silentNodes: ['down'] });
});

test('a node of another build that does not return how many are left is named and not added up', async () => {
  const doneEverywhere = await resumeEverywhere(all, { own, forwarder: answering({ resumed: 3 }) });
  assert.deepEqual(doneEverywhere, { resumed: 1, left: 2, silentNodes: ['down', 'other'] });
});
