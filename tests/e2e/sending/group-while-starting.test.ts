/** A message to a group while the shop's session is reconnecting and has not reported the group yet. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DAY_MS, MINUTE_MS } from '../../../runtime/durations.ts';
import { until } from '../../testbed/waiting.ts';
import { type MemoryStack, startMemoryStack } from '../stack/memory-stack.ts';
import { sendText, untilStatus } from '../stack/shop-steps.ts';

const GROUP = '120363000000000001@g.us';

let stack: MemoryStack;
const connect = () => stack.api.post(`/shops/${stack.shopId}/channels/msgapp/connect`);

async function untilChannelIs(status: string): Promise<void> {
  await until(`the channel is ${status}`, async () => {
    const { data } = await stack.api.get(`/shops/${stack.shopId}/channels/msgapp`);
    return data.status === status;
  });
}

/** Drops the session, which takes `connectMs` to open again. Meanwhile the shop was put into a group. */
async function drop(connectMs: number): Promise<void> {
  stack.network.behave({ connectMs });
  stack.network.drop(stack.session(stack.shopId), 'transient', 428);
  await untilChannelIs('starting');
}

before(async () => {
  stack = await startMemoryStack({ paired: true, pairedAgoMs: 30 * DAY_MS });
  await connect();
  await untilChannelIs('connected');
});
after(() => stack.stop());

test('503 with Retry-After if the session takes longer than the wait; a send to a number is 202 meanwhile', async () => {
  await drop(10 * MINUTE_MS);
  const answers: string[] = [];
  const noted = async (name: string, answer: ReturnType<typeof sendText>) => {
    const receivedAnswer = await answer;
    answers.push(`${name} ${receivedAnswer.status}`);
    return receivedAnswer;
  };
  const [refusedAnswer] = await Promise.all([
    noted('group', sendText(stack, stack.shopId, { to: GROUP, text: 'Welcome' })),
    noted('number', sendText(stack, stack.shopId, { to: '+33622220001', text: 'Welcome' })),
  ]);
  assert.deepEqual(answers, ['number 202', 'group 503']);
  assert.equal(refusedAnswer.error?.code, 'MSGAPP_NOT_CONNECTED');
  assert.deepEqual([refusedAnswer.error.retryAfter, refusedAnswer.headers.get('retry-after')], [1, '1']);
});

test('503 with Retry-After if the session is back and the network does not report its groups', async () => {
  stack.network.behave({ tellsGroups: false });
  await drop(10);
  await connect();
  await untilChannelIs('connected');
  const refusedAnswer = await sendText(stack, stack.shopId, { to: GROUP, text: 'Welcome' });
  const { data: forecast } = await stack.api.get(`/shops/${stack.shopId}/policy?to=${GROUP}`);
  assert.deepEqual(
    [refusedAnswer.error?.code, refusedAnswer.headers.get('retry-after')],
    ['MSGAPP_NOT_CONNECTED', '1'],
  );
  assert.deepEqual([forecast.code, forecast.retryAfter], ['MSGAPP_NOT_CONNECTED', 1]);
  stack.network.behave({ tellsGroups: true });
});

test('202 once the session is back within the wait and has reported the group', async () => {
  stack.network.setGroups(stack.session(stack.shopId), [
    { id: GROUP, name: 'Regulars', participantCount: 3, isAdmin: true, announce: false },
  ]);
  await drop(300);
  // Asked to connect, the shop leaves out the pause before its next attempt.
  const [acceptedAnswer] = await Promise.all([
    sendText(stack, stack.shopId, { to: GROUP, text: 'Welcome' }),
    connect(),
  ]);
  assert.equal(acceptedAnswer.status, 202, JSON.stringify(acceptedAnswer.error));
  await untilStatus(stack, String(acceptedAnswer.data.id), 'sent');
});
