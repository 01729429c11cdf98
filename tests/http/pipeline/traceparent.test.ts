/** A caller's traceparent by the rules of W3C Trace Context, and where the logs write it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnsweredRequest } from '../../../http/contract/answered-request.ts';
import { readTraceparent } from '../../../http/pipeline/traceparent.ts';
import { packEntry, unpackEntries } from '../../../http/request-log/request-log-entry.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const VALID = `00-${TRACE}-${PARENT}-01`;

test('version 00 is taken as it came; a later version by the fields that both know', () => {
  assert.equal(readTraceparent(VALID), VALID);
  assert.equal(readTraceparent(`00-${TRACE}-${PARENT}-00`), `00-${TRACE}-${PARENT}-00`);
  assert.equal(readTraceparent(`cc-${TRACE}-${PARENT}-03`), VALID);
  assert.equal(readTraceparent(`cc-${TRACE}-${PARENT}-00-more`), `00-${TRACE}-${PARENT}-00`);
});

test('a traceparent that breaks a rule is ignored', () => {
  for (const given of [
    '',
    `ff${VALID.slice(2)}`,
    `${VALID}-more`,
    `${VALID} `,
    VALID.slice(0, -1),
    VALID.toUpperCase(),
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${PARENT}-0g`,
    `cc-${TRACE}-${PARENT}-01more`,
    `${VALID},${VALID}`,
  ])
    assert.equal(readTraceparent(given), undefined, given);
});

test('the request log keeps it, with and without a code', () => {
  const answeredRequest: AnsweredRequest = {
    atMs: 1_800_000_000_000,
    requestId: 'r',
    tenantId: 't',
    keyId: undefined,
    method: 'GET',
    route: '/me',
    status: 200,
    latencyMs: 1,
    ip: '127.0.0.1',
    errorCode: undefined,
  };
  const kept = (part: Partial<AnsweredRequest>) => {
    const [entry] = unpackEntries('t', packEntry({ ...answeredRequest, ...part }));
    return [entry?.code, entry?.traceparent];
  };
  assert.deepEqual(kept({}), [null, null]);
  assert.deepEqual(kept({ traceparent: VALID }), [null, VALID]);
  assert.deepEqual(kept({ errorCode: 'NOT_FOUND' }), ['NOT_FOUND', null]);
  assert.deepEqual(kept({ errorCode: 'NOT_FOUND', traceparent: VALID }), ['NOT_FOUND', VALID]);
});
