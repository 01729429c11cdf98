/** Replies of another node, also of 0.2.0, which sends no code beside the body. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorReply } from '../../../http/contract/envelope.ts';
import { decodeOwnerReply } from '../../../http/owner/forwarded-form.ts';

const refusedValue = errorReply({ code: 'RATE_LIMITED', retryAfterSeconds: 1 });

/** Returns a reply as this node reads it from the text of another. */
function read(reply: object) {
  return decodeOwnerReply(JSON.stringify({ reply })).reply;
}

test('a refusal without a code has that of its body', () => {
  assert.equal(refusedValue.status, 429);
  assert.deepEqual(read({ ...refusedValue, code: undefined }), refusedValue);
});

test('a refusal that has a code keeps it', () => {
  assert.equal(read({ ...refusedValue, code: 'OVERLOADED' }).code, 'OVERLOADED');
});

test('a reply that refuses nothing stays as it is, whatever its body is', () => {
  const { contentType, headers, body } = refusedValue;
  const reply = { status: 200, contentType, headers, body };
  assert.deepEqual(read(reply), reply);
});

test('a body in another form gives no code', () => {
  for (const body of ['', '<html>', '{"error":"RATE_LIMITED"}', `[${String(refusedValue.body)}]`])
    assert.equal(read({ ...refusedValue, code: undefined, body }).code, undefined, body);
});
