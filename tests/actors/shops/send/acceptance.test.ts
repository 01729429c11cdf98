import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '../../../../actors/failure.ts';
import type { IdempotentReply } from '../../../../actors/shops/idempotent-reply.ts';
import { bodyWrite, dayOfMessage } from '../../../../actors/shops/records/message-days.ts';
import { withoutRecipient } from '../../../../actors/shops/records/message-record.ts';
import type { AcceptedReply, MessageDraft } from '../../../../actors/shops/shop-operations.ts';
import { resolveSettings } from '../../../../policy/tenant-settings.ts';
import { ShopHarness, textDraft } from '../shop-harness.ts';

/** Sends with always the same key. Returns whether the answer says that the message differs from the first. */
async function differsFromFirst(shop: ShopHarness, message: MessageDraft): Promise<boolean | undefined> {
  const draft = { ...message, idempotencyKey: 'k' };
  const command = { type: 'send', draft, settings: resolveSettings({}), pool: undefined } as const;
  const answer = (await shop.ask(command)) as Outcome<IdempotentReply<AcceptedReply>>;
  return answer.ok ? answer.value.differs : undefined;
}

test('a repeated key differs if the message replies to another one, or to none', async () => {
  const shop = await ShopHarness.connected();
  const answered = { inboundId: 'a'.repeat(24), toId: 'b'.repeat(24) };
  const differs = (reply: MessageDraft['reply']) =>
    differsFromFirst(shop, {
      ...textDraft('+33612345678', 'hello'),
      ...(reply === undefined ? {} : { reply }),
    });
  assert.deepEqual([await differs(answered), await differs(answered)], [false, false]);
  assert.equal(await differs({ ...answered, inboundId: 'c'.repeat(24) }), true);
  assert.equal(await differs(undefined), true);
});

test('a repeated key does not differ once its recipient was erased, as nothing is left to compare', async () => {
  const shop = await ShopHarness.connected();
  const differs = (text: string) => differsFromFirst(shop, textDraft('+33612345678', text));
  assert.deepEqual(
    [await differs('hello'), await differs('hello'), await differs('hi')],
    [false, false, true],
  );
  const [body] = shop.bodies.values();
  assert.ok(body);
  shop.redis.run(bodyWrite(shop.state.shard, dayOfMessage(body.id), withoutRecipient(body)));
  assert.deepEqual([await differs('hello'), await differs('hi')], [false, false]);
});
