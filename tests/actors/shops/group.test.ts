import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Failure } from '../../../actors/failure.ts';
import type { SendReply } from '../../../actors/shops/protocol/shop-replies.ts';
import { channelState } from '../../../actors/shops/state/shop-state.ts';
import { resolveSettings } from '../../../policy/tenant-settings.ts';
import { ShopHarness, textDraft } from './shop-harness.ts';

const GROUP_ID = '120363000000000001@g.us';

function groups(id: string, isAdmin: boolean) {
  const group = { id, name: 'Regulars', participantCount: 12, isAdmin, announce: false };
  return { type: 'session.groups', groups: [group] } as const;
}

/** A message to a group the shop administered when it was accepted, with a session that has only just come back. */
async function reconnected(): Promise<{ readonly shop: ShopHarness; readonly id: string }> {
  const shop = await ShopHarness.connected();
  shop.session(groups(GROUP_ID, true));
  const id = shop.send(GROUP_ID);
  shop.session({ type: 'session.closed', end: 'transient', statusCode: undefined, detail: '' });
  shop.pass(1_000);
  shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 1 });
  return { shop, id };
}

function toWire(shop: ShopHarness, messageId: string): void {
  const dispatch = { body: shop.bodies.get(messageId), writer: undefined, audience: [] };
  shop.toWireBy(messageId, dispatch);
}

for (const [kind, told, status] of [
  ['administered', groups(GROUP_ID, true), 'sending'],
  ['joined', groups(GROUP_ID, false), 'rejected GROUP_NOT_ADMINISTERED'],
  ['left', groups('120363000000000002@g.us', true), 'rejected GROUP_NOT_ADMINISTERED'],
] as const) {
  test(`a message to a group waits until the new session reports its groups; one that is ${kind}: ${status}`, async () => {
    const { shop, id } = await reconnected();
    toWire(shop, id);
    assert.equal(shop.statusOf(id), 'queued');
    shop.session(told);
    toWire(shop, id);
    assert.equal(shop.statusOf(id), status);
  });
}

test('a session that comes back is not asked for its groups, because it reports them by itself', async () => {
  const { shop } = await reconnected();
  assert.deepEqual(shop.effectsOf('refresh_groups'), []);
});

test('a message to a group that waits for the groups of its session delays no other, and is not checked meanwhile', async () => {
  const { shop, id } = await reconnected();
  const lookedAtBefore = shop.effectsOf('first_look').length;
  const others = [shop.send('+33600000010'), shop.send('+33600000011')];
  for (const other of others) {
    shop.toWire(other);
    shop.outcome(other, { kind: 'acknowledged' });
    assert.equal(shop.statusOf(other), 'sent');
    shop.pass(20_000);
  }
  assert.equal(shop.effectsOf('first_look').length, lookedAtBefore + others.length);
  shop.session(groups(GROUP_ID, true));
  toWire(shop, id);
  assert.equal(shop.statusOf(id), 'sending');
});

test('a message to a group is accepted while the session comes back, and checked again once it reports its groups', async () => {
  for (const [told, status] of [
    [groups(GROUP_ID, true), 'sending'],
    [groups(GROUP_ID, false), 'rejected GROUP_NOT_ADMINISTERED'],
  ] as const) {
    const shop = await ShopHarness.connected();
    shop.session(groups(GROUP_ID, true));
    shop.session({ type: 'session.closed', end: 'transient', statusCode: undefined, detail: '' });
    assert.equal(channelState(shop.state), 'reconnecting');
    const id = shop.send(GROUP_ID);
    assert.match(id, /^[0-9a-f]{24}$/);
    shop.pass(1_000);
    assert.equal(channelState(shop.state), 'starting');
    assert.equal(shop.send('120363000000000009@g.us'), 'MSGAPP_NOT_CONNECTED', 'nobody can tell now');
    shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 1 });
    toWire(shop, id);
    assert.equal(shop.statusOf(id), 'queued', 'what the session before told is not enough for the wire');
    shop.session(told);
    toWire(shop, id);
    assert.equal(shop.statusOf(id), status);
  }
});

test('the groups of a lost or disconnected session are unknown', async () => {
  const ended = { type: 'session.closed', end: 'logged_out', statusCode: 401, detail: '' } as const;
  for (const end of ['lost', 'disconnected'] as const) {
    const shop = await ShopHarness.connected();
    shop.session(groups(GROUP_ID, true));
    if (end === 'lost') shop.session(ended);
    else shop.command({ type: 'disconnect' });
    assert.equal(shop.state.groups, undefined);
  }
});

test('after a restart a send to a group gets Retry-After until the session has reported its groups', async () => {
  const shop = await (await ShopHarness.connected()).successor('store');
  assert.equal(shop.send(GROUP_ID), 'MSGAPP_NOT_CONNECTED');
  const send = {
    type: 'send',
    draft: textDraft(GROUP_ID, 'hello'),
    settings: resolveSettings({}),
    pool: undefined,
  } as const;
  const facts = { send: { isCustomer: false, writer: undefined, declaration: null } };
  const first = shop.command(send, facts) as SendReply;
  assert.ok(
    'ask' in first && first.ask === 'group' && first.groupId === GROUP_ID,
    'its session is waited for',
  );
  const { failure } = shop.command({ ...send, groupAsked: true }, facts) as { failure: Failure };
  assert.deepEqual([failure.code, failure.retryAfterSeconds], ['MSGAPP_NOT_CONNECTED', 1]);
  assert.match(shop.send('+33600000010'), /^[0-9a-f]{24}$/);
  shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 1 });
  shop.session(groups(GROUP_ID, true));
  assert.match(shop.send(GROUP_ID), /^[0-9a-f]{24}$/);
  const never = await ShopHarness.start();
  assert.equal(never.send(GROUP_ID), 'MSGAPP_NOT_CONNECTED');
});

test('a group is not refused as unknown before the open session has reported its groups', async () => {
  const shop = await ShopHarness.connected();
  assert.equal(shop.send(GROUP_ID), 'MSGAPP_NOT_CONNECTED');
  const { failure } = shop.command(
    { type: 'send', draft: textDraft(GROUP_ID, 'hello'), settings: resolveSettings({}), pool: undefined },
    { send: { isCustomer: false, writer: undefined, declaration: null } },
  ) as { failure: Failure };
  assert.equal(failure.retryAfterSeconds, 1);
  shop.session(groups('120363000000000002@g.us', true));
  assert.equal(shop.send(GROUP_ID), 'GROUP_CONTEXT_REQUIRED');
});

test('an empty message to a group is refused for its content, also while no session has reported the group', async () => {
  const connected = await ShopHarness.connected();
  for (const shop of [connected, await connected.successor('store'), await ShopHarness.start()])
    assert.equal(shop.send(GROUP_ID, ' '), 'EMPTY_MESSAGE');
});

test('a message to a group is refused as lost while a caller reconnects a lost session', async () => {
  const shop = await ShopHarness.connected();
  shop.replacedOnce();
  shop.session({ type: 'session.closed', end: 'replaced', statusCode: 440, detail: '' });
  shop.command({ type: 'connect' });
  assert.equal(channelState(shop.state), 'starting');
  assert.equal(shop.send(GROUP_ID), 'MSGAPP_SESSION_LOST');
});
