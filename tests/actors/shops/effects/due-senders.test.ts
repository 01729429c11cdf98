/** Sends that are due and cannot be made. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchSender, scheduledSender } from '../../../../actors/shops/effects/due-senders.ts';
import { shopAddress, shopKeys } from '../../../../actors/shops/records/shop-keys.ts';
import { batchKey } from '../../../../actors/shops/state/batches.ts';
import { RuntimeFailure } from '../../../../runtime/runtime-failure.ts';
import { MemoryRedis } from '../../../runtime/memory-redis.ts';
import { comparable, LineLog } from '../../../testbed/line-log.ts';
import { storeOf } from '../store-of.ts';

const shop = { tenantId: '65f000000000000000000001', shopId: '65f000000000000000000002' };
const keys = shopKeys(shopAddress(shop).shard, shop.shopId);
const SCHEDULED_LINE = 'a scheduled send was not made and is tried again';
const BATCH_LINE = 'a send of a batch was not made and is tried again';

/** The options of a sender over a store with these stored texts. Each send is refused by the runtime. */
function senderOptions(store: (redis: MemoryRedis) => void) {
  const redis = new MemoryRedis({ monotonicMs: () => 0, wallMs: () => 0 });
  store(redis);
  const send = async () => {
    throw new RuntimeFailure('NODE_BUSY', 'later');
  };
  return { store: storeOf(redis), send, log: new LineLog() };
}

test('a scheduled send whose stored content is broken is a defect in the log, without the content', async () => {
  const options = senderOptions((redis) => redis.run(['HSET', keys.scheduledDrafts, 'one', 'Dear Ann']));
  scheduledSender(options)(shop, 'one');
  const line = await options.log.first;
  assert.deepEqual(comparable(line), {
    level: 'error',
    ...shop,
    scheduledId: 'one',
    error: 'SyntaxError',
    message: SCHEDULED_LINE,
  });
  assert.doesNotMatch(JSON.stringify(line), /Dear/);
});

test('a scheduled send that the runtime refuses is a line at debug', async () => {
  const options = senderOptions((redis) => redis.run(['HSET', keys.scheduledDrafts, 'one', '{}']));
  scheduledSender(options)(shop, 'one');
  const line = await options.log.first;
  assert.deepEqual(comparable(line), {
    level: 'debug',
    ...shop,
    error: 'RuntimeFailure',
    scheduledId: 'one',
    message: SCHEDULED_LINE,
  });
});

test('a batch whose stored recipient is broken is a defect in the log, without the recipient', async () => {
  const key = batchKey(keys, 'b');
  const options = senderOptions((redis) => redis.run(['HSET', key, 'content', '{}', 'r:3', '+33600000010']));
  batchSender(options)(shop, 'b', 3);
  const line = await options.log.first;
  assert.deepEqual(comparable(line), {
    level: 'error',
    ...shop,
    batchId: 'b',
    place: 3,
    error: 'SyntaxError',
    message: BATCH_LINE,
  });
  assert.doesNotMatch(JSON.stringify(line), /\+336/);
});

test('a send of a batch that the runtime refuses is a line at debug', async () => {
  const recipient = JSON.stringify({ to: '+33600000010', fields: {}, was: 'known' });
  const key = batchKey(keys, 'b');
  const options = senderOptions((redis) => redis.run(['HSET', key, 'content', '{}', 'r:3', recipient]));
  batchSender(options)(shop, 'b', 3);
  const line = await options.log.first;
  assert.deepEqual(comparable(line), {
    level: 'debug',
    ...shop,
    error: 'RuntimeFailure',
    batchId: 'b',
    place: 3,
    message: BATCH_LINE,
  });
});
