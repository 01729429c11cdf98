import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkRequest } from '../../../http/contract/checked-request.ts';
import type { Endpoint } from '../../../http/contract/endpoint.ts';
import { errorReply } from '../../../http/contract/envelope.ts';
import { validate } from '../../../http/contract/validation.ts';
import { addCustomers } from '../../../http/operator-api/customers.ts';
import { createBatch } from '../../../http/tenant-api/batches.ts';
import { declareContacts } from '../../../http/tenant-api/contacts.ts';
import { listShops } from '../../../http/tenant-api/shops.ts';

const BODY_BYTES = 64 * 1024;
/** 50 fields, each with a path of 128 characters that JSON may write as six bytes, and our words. */
const MOST_REPLY_BYTES = 48 * 1024;

/** Returns a body with as many items as it can hold. */
function filled(item: string, open = '{"contacts":[', close = ']}'): string {
  const count = Math.floor((BODY_BYTES - open.length - close.length) / (item.length + 1));
  return open + Array<string>(count).fill(item).join(',') + close;
}

function refusal(
  endpoint: Pick<Endpoint<never>, 'method' | 'params' | 'query' | 'body' | 'takesIdempotencyKey'>,
  { body = '', query = '' }: { readonly body?: string; readonly query?: string },
) {
  const contentType = 'application/json';
  const checkedParts = checkRequest(endpoint, {
    values: ['shop'],
    query,
    contentType,
    body,
    idempotencyKey: '',
  });
  assert.ok(!checkedParts.ok);
  const { fields } = checkedParts;
  return { fields, reply: errorReply({ code: 'VALIDATION_ERROR', fields }) };
}

describe('the answer to nonsense', () => {
  const keys = Array.from({ length: 12_000 }, (_, index) => `"${index.toString(36)}":1`);
  for (const [row, body] of [
    ['empty objects', filled('{}')],
    ['numbers instead of objects', filled('1')],
    ['nulls', filled('null')],
    ['objects of unknown properties', filled('{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}')],
    ['long unknown names', filled(`{"${'\\u0001'.repeat(300)}":1}`)],
    ['one name as long as the body', `{"${'x'.repeat(BODY_BYTES - 10)}":1}`],
    ['one object of 12,000 unknown properties', `{${keys.join(',').slice(0, BODY_BYTES - 20)}"z":1}`],
  ] as const) {
    test(`names at most 50 fields and stays below 48 KiB: ${row}`, () => {
      const { fields, reply } = refusal(declareContacts, { body });
      assert.ok(fields.length >= 1 && fields.length <= 50, String(fields.length));
      assert.ok(Buffer.byteLength(reply.body) <= MOST_REPLY_BYTES, String(reply.body.length));
    });
  }

  test('names at most 50 parameters of a query', () => {
    const query = Array.from({ length: 2_000 }, (_, index) => `p${index}=%ff&q${index}=1`).join('&');
    assert.equal(refusal(listShops, { query }).fields.length, 50);
  });

  test('checks at most twice as many items as it names', () => {
    let looked = 0;
    const items = Array.from({ length: 900 }, () => ({
      get phone() {
        looked += 1;
        return 1;
      },
    }));
    assert.ok(declareContacts.body);
    assert.equal(validate(declareContacts.body, { contacts: items }, 'body').ok, false);
    assert.ok(looked <= 100, `${looked} times`);
  });

  test('an object with more than 64 properties is refused as one', () => {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`p${index}`, 1]));
    assert.deepEqual(refusal(declareContacts, { body: JSON.stringify(many) }).fields, [
      { field: 'body', message: 'must have at most 64 properties' },
    ]);
    assert.deepEqual(refusal(declareContacts, { body: JSON.stringify({ contacts: [many] }) }).fields, [
      { field: 'contacts.0', message: 'must have at most 64 properties' },
    ]);
  });

  test('the fields of a recipient have at most 64 properties', () => {
    let looked = 0;
    const fields: Record<string, unknown> = {};
    for (let index = 0; index < 65; index += 1) {
      Object.defineProperty(fields, `f${index}`, {
        enumerable: true,
        get() {
          looked += 1;
          return 1;
        },
      });
    }
    assert.ok(createBatch.body);
    const checkedResult = validate(
      createBatch.body,
      { name: 'b', text: 'hi', recipients: [{ to: '+41791234567', fields }] },
      'body',
    );
    assert.deepEqual(checkedResult, {
      ok: false,
      fields: [{ field: 'recipients.0.fields', message: 'must have at most 64 properties' }],
    });
    assert.equal(looked, 0);
  });

  test('the fields of a recipient keep names that every object has', () => {
    assert.ok(createBatch.body);
    const given = '{"constructor":"a","prototype":"b","__proto__":"c","name":"d"}';
    const recipients = [{ to: '+41791234567', fields: JSON.parse(given) }];
    const checkedResult = validate(createBatch.body, { name: 'b', text: 'hi', recipients }, 'body');
    assert.ok(checkedResult.ok);
    const taken = checkedResult.value as { readonly recipients: readonly { readonly fields: object }[] };
    assert.equal(JSON.stringify(taken.recipients[0]?.fields), given);
  });

  test('an array that is too long is refused before its items', () => {
    assert.deepEqual(refusal(addCustomers, { body: filled('1', '{"phones":[') }).fields, [
      { field: 'phones', message: 'must have at most 1000 items' },
    ]);
  });

  test('a batch of contacts that is far too large is left to its own refusal', () => {
    const body = filled('{"phone":"+41791234567"}');
    const checkedParts = checkRequest(declareContacts, {
      values: ['s'],
      query: '',
      contentType: 'application/json',
      idempotencyKey: '',
      body,
    });
    assert.ok(checkedParts.ok);
    assert.equal((checkedParts.body as { contacts: unknown[] }).contacts.length, 1_000);
  });
});
