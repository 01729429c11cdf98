/** The door of a listener: every request is counted in and out once, whatever breaks on the way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReplyValue, RequestValue } from '../../http/exchange.ts';
import { anonymous, type Front } from '../../http/front.ts';
import { observed } from '../../http/observed.ts';
import { requestWords } from '../../http/request-words.ts';
import { systemClock } from '../../runtime/clock.ts';

const REPLY: ReplyValue = { status: 200, contentType: 'text/plain', headers: '', body: 'here' };
const REQUEST: RequestValue = {
  method: 'GET',
  path: '/',
  query: '',
  headers: { authorization: '', apiKey: '', contentType: '', requestId: '', lastEventId: '' },
  body: '',
  bodyFault: undefined,
  ip: '127.0.0.1',
};

function door(front: Front, observe: () => void = () => undefined) {
  const faults: string[] = [];
  const say = (_fields: object, message: string): void => void faults.push(message);
  const silent = (): void => undefined;
  const log = { debug: silent, info: silent, warn: silent, error: say };
  const newId = () => '66b1f0a2c3d4e5f607182901' as never;
  const wordsOf = requestWords();
  return { faults, ...observed(front, { clock: systemClock, log, maxInFlight: 1, newId, wordsOf, observe }) };
}

for (const kind of ['at once', 'later'] as const) {
  const here: Front = () => {
    const reply = anonymous(REPLY, '/');
    return kind === 'later' ? Promise.resolve(reply) : reply;
  };
  const broken: Front = () => {
    if (kind === 'later') return Promise.reject(new Error('broken'));
    throw new Error('broken');
  };

  test(`answered ${kind}: it is in hand no more`, async () => {
    const { answer, inFlight } = door(here);
    assert.equal((await answer(REQUEST)).status, 200);
    assert.equal(inFlight(), 0);
  });

  test(`a front that breaks ${kind}: 500, a line in the log, and nothing is left in hand`, async () => {
    const { answer, inFlight, faults } = door(broken);
    assert.equal((await answer(REQUEST)).status, 500);
    assert.deepEqual([inFlight(), faults], [0, ['the front threw']]);
  });

  test(`who is told of an answer breaks once, for one that came ${kind}: counted out once`, async () => {
    let told = 0;
    const { answer, inFlight } = door(here, () => {
      told += 1;
      if (told === 1) throw new Error('broken');
    });
    assert.equal((await answer(REQUEST)).status, 500);
    assert.equal(inFlight(), 0);
  });
}
