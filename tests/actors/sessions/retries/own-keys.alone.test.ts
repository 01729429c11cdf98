/** A device that could not read a message sends its own keys. It has a session then, whatever the network says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BinaryNode } from '@whiskeysockets/baileys';
import { withKeys } from '../sending/device-keys.ts';
import { PERSON, PERSONS_LID, retryAnswers } from './shop-with-retries.ts';

/** Returns the parts of a retry receipt with the keys of its device. */
function ownKeys(): BinaryNode[] {
  const [registration, ...keys] = withKeys({ tag: 'user', attrs: {} }).content as BinaryNode[];
  const type = { tag: 'type', attrs: {}, content: Uint8Array.of(5) };
  return [
    ...(registration === undefined ? [] : [registration]),
    { tag: 'keys', attrs: {}, content: [type, ...keys] },
  ];
}

const BOTH = ['33622222222:3@s.whatsapp.net', `${PERSONS_LID}:3@lid`];
const HOSTED = '33622222222:99@hosted';
const OTHERS = [PERSON, `${PERSONS_LID}@lid`, '33622222222:4@s.whatsapp.net'];

for (const { from, names } of [
  ...BOTH.map((each) => ({ from: each, names: BOTH })),
  { from: HOSTED, names: [HOSTED] },
]) {
  test(`a left-out device that asks again as ${from} is left out no longer if it sends its keys`, async () => {
    const { clock, memory, asked, sent, injected } = retryAnswers();
    const all = [...names, ...OTHERS];
    for (const name of all) memory.keyless.set(name, 'not now');
    const leftOut = (): string[] => all.filter((name) => memory.keyless.get(name) !== undefined);
    asked({ from });
    await clock.advance(1_000);
    assert.deepEqual([injected, leftOut()], [[], all]);
    asked({ from }, 'B', { content: ownKeys() });
    await clock.advance(1_000);
    assert.deepEqual(sent(), ['message', 'ack', 'message', 'ack']);
    assert.deepEqual([injected, leftOut()], [[from], OTHERS]);
  });
}
