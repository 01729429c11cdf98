/** A group that was made a moment ago, of which the session heard nothing yet. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DAY_MS } from '../../../runtime/durations.ts';
import { type MemoryStack, startMemoryStack } from '../stack/memory-stack.ts';
import { sendText, untilConnected, untilStatus } from '../stack/shop-steps.ts';

const group = (id: string) => ({ id, name: 'Regulars', participantCount: 3, isAdmin: true, announce: false });
const FIRST = '120363000000000001@g.us';
const SECOND = '120363000000000002@g.us';
const NOBODYS = '120363000000000003@g.us';

let stack: MemoryStack;
before(async () => {
  stack = await startMemoryStack({ paired: true, pairedAgoMs: 30 * DAY_MS });
  await stack.api.post(`/shops/${stack.shopId}/channels/msgapp/connect`);
  await untilConnected(stack, stack.shopId);
});
after(() => stack.stop());

test('a forecast asks the session for such a group as the send does', async () => {
  stack.network.setGroups(stack.session(stack.shopId), [group(FIRST)]);
  for (const [to, code] of [
    [FIRST, null],
    [NOBODYS, 'GROUP_CONTEXT_REQUIRED'],
  ] as const) {
    const { data } = await stack.api.get(`/shops/${stack.shopId}/policy?to=${to}`);
    assert.deepEqual([data.recipientClass, data.wouldAllow, data.code], ['group', code === null, code]);
  }
  stack.network.setGroups(stack.session(stack.shopId), []);
  await stack.api.get(`/shops/${stack.shopId}/groups`);
});

test('the session is asked once more before a send to a group that it did not report is refused', async () => {
  stack.network.setGroups(stack.session(stack.shopId), [group(FIRST)]);
  const acceptedAnswer = await sendText(stack, stack.shopId, { to: FIRST, text: 'Welcome' });
  assert.equal(acceptedAnswer.status, 202, JSON.stringify(acceptedAnswer.error));
  await untilStatus(stack, String(acceptedAnswer.data.id), 'sent');
  const refusedAnswer = await sendText(stack, stack.shopId, { to: NOBODYS, text: 'Welcome' });
  assert.deepEqual([refusedAnswer.status, refusedAnswer.error?.code], [422, 'GROUP_CONTEXT_REQUIRED']);
});

test('a group made a moment ago is on the list of groups', async () => {
  stack.network.setGroups(stack.session(stack.shopId), [group(FIRST), group(SECOND)]);
  const { data } = await stack.api.get(`/shops/${stack.shopId}/groups`);
  assert.deepEqual(
    (data.items as { id: string }[]).map(({ id }) => id),
    [FIRST, SECOND],
  );
});

test('a call waits a moment for a session that gets no answer, not until its caller gives up', async () => {
  stack.network.behave({ tellsGroups: false });
  const [refusedAnswer, listedAnswer] = await Promise.all([
    sendText(stack, stack.shopId, { to: NOBODYS, text: 'Welcome' }),
    stack.api.get(`/shops/${stack.shopId}/groups`),
  ]);
  assert.deepEqual([refusedAnswer.status, refusedAnswer.error?.code], [422, 'GROUP_CONTEXT_REQUIRED']);
  assert.equal((listedAnswer.data.items as unknown[]).length, 2);
});
