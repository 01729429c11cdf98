import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkTopics } from '../../../runtime/node/link-topics.ts';

/** Returns the link of one node, which answers its own calls. */
function looped(): ReturnType<typeof linkTopics> {
  let handler: (payload: string) => Promise<string> = () => Promise.reject(new Error('nobody serves'));
  return linkTopics({
    serve(given) {
      handler = given;
    },
    call: (_target, payload) => handler(payload),
  });
}

test('each topic is answered by its own handler, with line breaks in payloads left as they are', async () => {
  const topic = looped();
  const [birds, fish] = [topic('birds'), topic('fish')];
  birds.serve(async (payload) => `sung: ${payload}`);
  fish.serve(async (payload) => `swum: ${payload}`);
  assert.equal(await birds.call(7, 'a\nb', 1_000), 'sung: a\nb');
  assert.equal(await fish.call(7, '', 1_000), 'swum: ');
});

test('a topic that no one serves yet is refused like a node that does not serve yet', async () => {
  await assert.rejects(looped()('birds').call(7, 'a', 1_000), { code: 'SHARD_NOT_OWNED' });
});
