import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { CONTENT_POLICY_CODES, MESSAGE_POLICY_CODES } from '../../../policy/refusal.ts';
import { HOUR_MS } from '../../../runtime/durations.ts';
import type { Target, TestTenant } from '../target.ts';
import { BREAKING, FITTING, NO_DATES } from './input-cases.ts';

const SEND_POLICY: readonly string[] = [...MESSAGE_POLICY_CODES, 'STATUSES_DAILY_CAP_REACHED'].filter(
  (code) => !(CONTENT_POLICY_CODES as readonly string[]).includes(code),
);

/** docs/contract.md, Input bounds, and the schemas of each endpoint. */
export function inputRows(target: () => Target): void {
  let shared: Promise<{ readonly owner: TestTenant; readonly shop: string }> | undefined;
  const prepared = (): NonNullable<typeof shared> => {
    shared ??= (async () => {
      const { tenant, shop, connect } = target();
      const owner = await tenant({ plan: 'scale' });
      const id = await shop(owner);
      await connect(owner.key, id);
      return { owner, shop: id };
    })();
    return shared;
  };

  for (const [row, method, path, json, status] of FITTING) {
    // The send policy may refuse a send for its own reasons.
    test(`fits: ${row}`, async () => {
      const { owner, shop } = await prepared();
      const { api, plan } = target();
      const reply = await api.call(method, path.replace('{shop}', shop), { key: owner.key, json });
      const code = reply.body.error?.code;
      if (plan !== undefined && !SEND_POLICY.includes(code)) assert.equal(reply.status, status, reply.text);
      assert.notEqual(code, 'VALIDATION_ERROR', reply.text);
    });
  }

  for (const [row, method, path, json, fields] of BREAKING) {
    test(`422 VALIDATION_ERROR: ${row}`, async () => {
      const { owner, shop } = await prepared();
      const reply = await target().api.call(method, path.replace('{shop}', shop), { key: owner.key, json });
      assert.equal(reply.status, 422, reply.text);
      assert.equal(reply.body.error.code, 'VALIDATION_ERROR');
      const named = reply.body.error.fields.map(({ field }: { field: string }) => field);
      assert.deepEqual(named.toSorted(), [...fields].sort(), reply.text);
    });
  }

  for (const expiresAt of NO_DATES) {
    test(`422 VALIDATION_ERROR: expiresAt ${expiresAt}`, async () => {
      const { owner, shop } = await prepared();
      const json = { contacts: [{ phone: '+41791234567', expiresAt }] };
      const reply = await target().api.call('POST', `/shops/${shop}/contacts/consented`, {
        key: owner.key,
        json,
      });
      assert.equal(reply.status, 422);
      assert.equal(reply.body.error.fields[0].field, 'contacts.0.expiresAt');
    });
  }

  for (const [row, call] of [
    ['malformed JSON', { body: '{"name":', headers: { 'content-type': 'application/json' } }],
    ['no body at all', { body: '', headers: { 'content-type': 'application/json' } }],
    ['a wrong content type', { body: '{"name":"x"}', headers: { 'content-type': 'text/plain' } }],
    ['no content type', { body: '{"name":"x"}' }],
    [
      'bytes that are not UTF-8',
      { body: Buffer.from([0x7b, 0xff, 0x7d]), headers: { 'content-type': 'application/json' } },
    ],
  ] as const) {
    test(`422 VALIDATION_ERROR: ${row}`, async () => {
      const { owner } = await prepared();
      const reply = await target().api.call('POST', '/shops', { key: owner.key, ...call });
      assert.equal(reply.status, 422, reply.text);
      assert.equal(reply.body.error.code, 'VALIDATION_ERROR');
      assert.equal(reply.body.error.fields.length, 1);
    });
  }

  test('422 VALIDATION_ERROR: bytes that are not UTF-8, at a call without fields', async () => {
    const { owner, shop } = await prepared();
    const reply = await target().api.call('POST', `/shops/${shop}/channels/msgapp/connect`, {
      key: owner.key,
      body: Buffer.from([0x7b, 0xff, 0x7d]),
      headers: { 'content-type': 'application/json' },
    });
    assert.deepEqual([reply.status, reply.body.error?.fields[0].field], [422, 'body'], reply.text);
  });

  for (const [coding, compress] of [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const) {
    test(`a body in ${coding} is refused as compressed, and one in the clear is read in spite of the header`, async () => {
      const { owner } = await prepared();
      const call = (body: string | Buffer) =>
        target().api.call('POST', '/shops', {
          key: owner.key,
          body,
          headers: { 'content-type': 'application/json', 'content-encoding': coding },
        });
      const json = JSON.stringify({ name: `Sent in ${coding}` });
      const refusedReply = await call(compress(json));
      const problems = [{ field: 'body', message: 'must be UTF-8, and not compressed' }];
      assert.deepEqual(
        [refusedReply.status, refusedReply.body.error?.fields],
        [422, problems],
        refusedReply.text,
      );
      assert.equal((await call(json)).status, 201);
    });
  }

  test('a content type with charset utf-8 is JSON too', async () => {
    const { owner } = await prepared();
    const headers = { 'content-type': 'Application/JSON; charset=UTF-8' };
    const reply = await target().api.call('POST', '/shops', {
      key: owner.key,
      body: '{"name":"charset"}',
      headers,
    });
    assert.equal(reply.status, 201, reply.text);
  });

  for (const [row, json] of [
    ['neither text nor mediaUrl', { channel: 'msgapp', to: '+41791234567' }],
    ['text of blanks only', { channel: 'msgapp', to: '+41791234567', text: ' \n ' }],
    ['text of a zero-width space', { channel: 'msgapp', to: '+41791234567', text: '\u200b' }],
    [
      'text of characters that show nothing',
      { channel: 'msgapp', to: '+41791234567', text: '\u00ad \u2060\ufeff\u202e\ufe0f\u3164\0' },
    ],
    ['text of empty braille cells', { channel: 'msgapp', to: '+41791234567', text: '\u2800 \u2800' }],
    ['nothing for a group', { channel: 'msgapp', to: '120363000000000001@g.us' }],
  ] as const) {
    test(`422 EMPTY_MESSAGE: ${row}`, async () => {
      const { owner, shop } = await prepared();
      const reply = await target().api.call('POST', `/shops/${shop}/messages`, { key: owner.key, json });
      assert.deepEqual([reply.status, reply.body.error.code], [422, 'EMPTY_MESSAGE']);
    });
  }

  test('422 EMPTY_MESSAGE: a scheduled send and a batch with neither mediaUrl nor a text that shows', async () => {
    const { owner, shop } = await prepared();
    const to = '+41791234567';
    const sendAt = new Date(Date.now() + HOUR_MS).toISOString();
    for (const text of [undefined, ' ', '\u2800']) {
      for (const [path, json] of [
        ['scheduled', { channel: 'msgapp', to, sendAt, text }],
        ['batches', { name: 'news', recipients: [{ to }], text }],
      ] as const) {
        const reply = await target().api.call('POST', `/shops/${shop}/${path}`, { key: owner.key, json });
        assert.deepEqual([reply.status, reply.body.error.code], [422, 'EMPTY_MESSAGE']);
      }
    }
  });

  test('422 EMPTY_MESSAGE: a status with neither mediaUrl nor a caption that shows', async () => {
    const { owner, shop } = await prepared();
    for (const json of [{}, { caption: ' ' }, { caption: '\u200d\u200b' }, { caption: '\u2800' }]) {
      const reply = await target().api.call('POST', `/shops/${shop}/statuses`, { key: owner.key, json });
      assert.deepEqual([reply.status, reply.body.error.code], [422, 'EMPTY_MESSAGE']);
    }
  });

  test('404 NOT_FOUND: an unknown path, without a key', async () => {
    for (const path of ['/nothing', '/shops/', '/me/', '/shops/x/channels', '']) {
      const reply = await target().api.call('GET', path);
      assert.equal(reply.status, 404, path);
      assert.equal(reply.body.error.code, 'NOT_FOUND');
    }
  });

  test('405 METHOD_NOT_ALLOWED: a wrong method, with Allow, without a key', async () => {
    const reply = await target().api.call('PUT', '/shops');
    assert.equal(reply.status, 405);
    assert.equal(reply.headers.allow, 'GET, HEAD, POST');
    assert.equal(reply.body.error.code, 'METHOD_NOT_ALLOWED');
  });

  test('413 PAYLOAD_TOO_LARGE: a body over 64 KiB, without a key; one of exactly 64 KiB is read', async () => {
    const { owner } = await prepared();
    const headers = { 'content-type': 'application/json' };
    const fitting = await target().api.call('POST', '/shops', {
      key: owner.key,
      body: ' '.repeat(65_536),
      headers,
    });
    assert.equal(fitting.status, 422);
    const reply = await target().api.call('POST', '/shops', { body: ' '.repeat(65_537), headers });
    assert.deepEqual([reply.status, reply.body.error.code], [413, 'PAYLOAD_TOO_LARGE']);
  });

  test("X-Request-Id: the caller's is echoed when well formed, else one of ours", async () => {
    const { api } = target();
    const echoed = await api.call('GET', '/nothing', { headers: { 'x-request-id': 'order:4711/a-b_c.d' } });
    assert.equal(echoed.headers['x-request-id'], 'order:4711/a-b_c.d');
    const wordy = '{order 4711}; part=1, of <two>';
    const asSent = await api.call('GET', '/nothing', { headers: { 'x-request-id': wordy } });
    assert.equal(asSent.headers['x-request-id'], wordy);
    const visible = String.fromCharCode(...Array.from({ length: 94 }, (_, index) => 0x21 + index));
    for (const id of [visible, `"${'\\'.repeat(254)}"`]) {
      assert.equal(
        (await api.call('GET', '/nothing', { headers: { 'x-request-id': id } })).headers['x-request-id'],
        id,
      );
    }
    for (const id of ['naïve', 'x'.repeat(257), 'a\tb']) {
      const replacedReply = await api.call('GET', '/nothing', {
        headers: { 'x-request-id': Buffer.from(id).toString('latin1') },
      });
      assert.match(replacedReply.headers['x-request-id'] ?? '', /^[0-9a-f]{24}$/);
    }
  });
}
