/**
 * Access to Redis' PUBLISH and SUBSCRIBE alone does not let anyone read, forge, move or repeat messages between nodes.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import type { NodeLink } from '../../../runtime/node/node-link.ts';
import { RuntimeFailure } from '../../../runtime/runtime-failure.ts';
import { textCipher } from '../../../runtime/text-cipher.ts';
import { startRedisServer } from '../../testbed/redis-server.ts';
import { eventually } from '../../testbed/waiting.ts';
import { redisNode } from '../redis-node.ts';

/** A published message: its channel, the words of its first line, and the rest. */
interface Heard {
  readonly channel: string;
  readonly words: readonly string[];
  readonly text: string;
}

/** Nodes `a` and `c` that ask, a node `b` that answers, and a spy who may publish and subscribe. */
interface Attacked {
  readonly a: NodeLink;
  readonly c: NodeLink;
  readonly heard: readonly Heard[];
  /** The questions that b got, in order. */
  readonly asked: readonly string[];
  /** The questions that c got. */
  readonly askedOfC: readonly string[];
  /** Lets b answer a question that begins with `slow`, once b has got it. */
  release(question: string): Promise<void>;
  /** Waits until `count` questions or answers were published, and returns all so far. */
  recorded(kind: 'question' | 'answer', count: number): Promise<readonly Heard[]>;
  publish(channel: string, words: readonly string[], text: string): Promise<number>;
  channelOf(nodeId: 'a' | 'b' | 'c'): string;
}

async function attacked(run: (world: Attacked) => Promise<void>): Promise<void> {
  const server = await startRedisServer();
  const [redis, spy] = [new Redis(server.url), new Redis(server.url)];
  const heard: Heard[] = [];
  spy.on('pmessage', (_pattern, channel: string, message: string) => {
    const end = message.indexOf('\n');
    heard.push({ channel, words: message.slice(0, end).split(' '), text: message.slice(end + 1) });
  });
  // Nodes publish owners on other channels.
  await spy.psubscribe('{runtime}:link-2:*');
  const [secret, bytesBefore] = [randomBytes(32), randomBytes(32)];
  const start = (nodeId: string, secrets: readonly Buffer[]) =>
    redisNode({ redisUrl: server.url, nodeId, linkCipher: textCipher(secrets, 'node-link') });
  // b was given the new secret first. The others have the new secret, too, but still seal with the old one.
  const b = await start('b', [secret, bytesBefore]);
  const a = await start('a', [bytesBefore, secret]);
  const c = await start('c', [bytesBefore, secret]);
  const nodes = [a, b, c];
  await eventually(() => nodes.every(({ node }) => node.nodes().length === 3));
  const asked: string[] = [];
  const askedOfC: string[] = [];
  const waiting = new Map<string, () => void>();
  b.node.link.serve(async (payload) => {
    asked.push(payload);
    if (payload.startsWith('moved')) throw new RuntimeFailure('SHARD_NOT_OWNED', 'tm_live_inTheFailure', 1);
    if (payload.startsWith('slow')) await new Promise<void>((resolve) => waiting.set(payload, resolve));
    return `tm_live_answer to ${payload}`;
  });
  c.node.link.serve(async (payload) => {
    askedOfC.push(payload);
    return 'from c';
  });
  const channelOf = (nodeId: 'a' | 'b' | 'c'): string => {
    const { incarnation } = { a, b, c }[nodeId].node;
    return `{runtime}:link-2:${incarnation}`;
  };
  try {
    await run({
      a: a.node.link,
      c: c.node.link,
      heard,
      asked,
      askedOfC,
      channelOf,
      async release(question) {
        await eventually(() => waiting.has(question));
        waiting.get(question)?.();
      },
      async recorded(kind, count) {
        const ofKind = () => heard.filter(({ words }) => (words[0] === 'ask') === (kind === 'question'));
        await eventually(() => ofKind().length >= count);
        return ofKind();
      },
      publish: (channel, words, text) => redis.publish(channel, `${words.join(' ')}\n${text}`),
    });
  } finally {
    await Promise.all(nodes.map(({ node }) => node.stop()));
    spy.disconnect();
    redis.disconnect();
    await server.stop();
  }
}

test('no message can be read, whichever of two secrets a node seals with', () =>
  attacked(async ({ a, heard, recorded }) => {
    assert.equal(await a.call('b', 'tm_live_question', 2_000), 'tm_live_answer to tm_live_question');
    await assert.rejects(a.call('b', 'moved tm_live_question', 2_000), {
      code: 'SHARD_NOT_OWNED',
      message: 'tm_live_inTheFailure',
      retryAfterSeconds: 1,
    });
    // The spy has a separate connection, which may be slower than the answer.
    await recorded('answer', 2);
    const readable = heard.filter(({ words, text }) => /tm_live|SHARD/.test(`${words.join(' ')} ${text}`));
    assert.deepEqual(readable, []);
  }));

test('the reply to one request is refused for another', () =>
  attacked(async ({ a, recorded, publish, release }) => {
    await a.call('b', "one tenant's", 2_000);
    const [answer] = await recorded('answer', 1);
    const other = a.call('b', "slow another tenant's", 10_000);
    const [, question] = await recorded('question', 2);
    const [verb = '', , ...otherWords] = answer?.words ?? [];
    await publish(answer?.channel ?? '', [verb, question?.words[1] ?? '', ...otherWords], answer?.text ?? '');
    await release("slow another tenant's");
    assert.equal(await other, "tm_live_answer to slow another tenant's");
  }));

test('a reply to one node is refused by another that used the same id', () =>
  attacked(async ({ a, c, recorded, publish, release, channelOf }) => {
    await a.call('b', 'asked by a', 2_000);
    const [answer] = await recorded('answer', 1);
    const other = c.call('b', 'slow asked by c', 10_000);
    const [first, second] = await recorded('question', 2);
    assert.equal(first?.words[1], second?.words[1], 'both asked under one id');
    assert.equal(await publish(channelOf('c'), answer?.words ?? [], answer?.text ?? ''), 2);
    await release('slow asked by c');
    assert.equal(await other, 'tm_live_answer to slow asked by c');
  }));

test('a failure that was made up, or is that of another request, hides no reply', () =>
  attacked(async ({ a, recorded, publish, release, channelOf }) => {
    await a.call('b', 'moved', 2_000).catch(() => undefined);
    const [failure] = await recorded('answer', 1);
    const write = a.call('b', 'slow write', 10_000);
    const [, question] = await recorded('question', 2);
    const id = question?.words[1] ?? '';
    const [verb = '', , ...otherWords] = failure?.words ?? [];
    await publish(channelOf('a'), [verb, id, ...otherWords], failure?.text ?? '');
    await publish(channelOf('a'), ['failure', id, 'SHARD_NOT_OWNED', '1'], 'the owner is gone');
    await publish(channelOf('a'), ['reply', id], 'failure SHARD_NOT_OWNED 1\nthe owner is gone');
    await release('slow write');
    assert.equal(await write, 'tm_live_answer to slow write');
  }));

test('a request is carried out once, for any number of publications on any channel', () =>
  attacked(async ({ a, asked, askedOfC, recorded, publish, channelOf }) => {
    await a.call('b', 'write', 2_000);
    const [question] = await recorded('question', 1);
    const { channel, words, text } = question ?? { channel: '', words: [], text: '' };
    const [verb = '', id = '', from = ''] = words;
    await publish(channel, words, text);
    await publish(channel, [verb, String(Number(id) + 1), from], text);
    await publish(channelOf('c'), words, text);
    // A later question arrives after them.
    await a.call('b', 'next', 2_000);
    await publish(channel, words, text);
    await a.call('b', 'last', 2_000);
    assert.deepEqual(asked, ['write', 'next', 'last']);
    assert.equal(await a.call('c', 'next', 2_000), 'from c');
    assert.deepEqual(askedOfC, ['next']);
    // A repeated question is not answered either: the answer could come before that of the first.
    const answers = await recorded('answer', 4);
    assert.deepEqual(
      answers.map(({ words: [, answered] }) => answered),
      ['1', '2', '3', '4'],
    );
  }));

test('a request is refused as a reply, and a reply as a request', () =>
  attacked(async ({ a, asked, recorded, publish, release, channelOf }) => {
    const call = a.call('b', 'slow', 10_000);
    const [question] = await recorded('question', 1);
    const id = question?.words[1] ?? '';
    for (const verb of ['answer', 'reply']) await publish(channelOf('a'), [verb, id], question?.text ?? '');
    await release('slow');
    assert.equal(await call, 'tm_live_answer to slow');
    // The first two are made from the question.
    const [, , answer] = await recorded('answer', 3);
    const from = question?.words[2] ?? '';
    for (const text of [answer?.text ?? '', 'requests\n{"kind":"operator"}'])
      await publish(channelOf('b'), ['ask', '2', from], text);
    await a.call('b', 'next', 2_000);
    assert.deepEqual(asked, ['slow', 'next']);
  }));

test('a message sealed without the secret is refused as a request', () =>
  attacked(async ({ a, asked, publish, channelOf }) => {
    const stranger = textCipher([randomBytes(32)], 'node-link');
    const to = channelOf('b').split(':').slice(2).join(':');
    await publish(channelOf('b'), ['ask', '1', 'd:9'], stranger.seal(`ask 1 d:9 ${to}`, 'a question'));
    await a.call('b', 'next', 2_000);
    assert.deepEqual(asked, ['next']);
  }));

test('a node of the former format is not notified, and its requests are answered at once with nothing done', async () => {
  const server = await startRedisServer();
  const [redis, formerRedis] = [new Redis(server.url), new Redis(server.url)];
  const toldFormer: string[] = [];
  formerRedis.on('message', (_channel, message: string) => void toldFormer.push(message));
  await formerRedis.subscribe('{runtime}:node:former:1');
  await redis.set('{runtime}:lease:former', 'former:1', 'PX', 600_000);
  await redis.sadd('{runtime}:nodes', 'former');
  const { node } = await redisNode({ redisUrl: server.url });
  await eventually(() => node.nodes().length === 2);
  await assert.rejects(node.link.call('former', 'write', 600_000), {
    code: 'SHARD_NOT_OWNED',
    retryAfterSeconds: 1,
  });
  assert.equal(await redis.publish(`{runtime}:node:${node.incarnation}`, 'ask 1 former:1\nsealed'), 0);
  assert.equal(await redis.publish('{runtime}:node:former:1', 'the last'), 1);
  await eventually(() => toldFormer.includes('the last'));
  assert.deepEqual(toldFormer, ['the last']);
  await node.stop();
  formerRedis.disconnect();
  redis.disconnect();
  await server.stop();
});
