import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Target, TestTenant } from './conformance-target.ts';

type Case = readonly [row: string, method: string, path: string, json: unknown, fields: readonly string[]];

const send = { channel: 'msgapp', to: '+41791234567', text: 'hello' };
const uriOf = (length: number): string => `https://example.com/${'a'.repeat(length - 20)}`;

/** What fits: at its bounds, no field is complained of. */
const FITTING: readonly (readonly [
  row: string,
  method: string,
  path: string,
  json: unknown,
  status: number,
])[] = [
  ['page minimum 1', 'GET', '/shops?page=1', undefined, 200],
  ['limit 1', 'GET', '/shops?limit=1', undefined, 200],
  ['limit 100', 'GET', '/shops?limit=100', undefined, 200],
  ['name of 1 character', 'POST', '/shops', { name: 'x' }, 201],
  ['name of 100 characters, each two UTF-16 units', 'POST', '/shops', { name: '🥖'.repeat(100) }, 201],
  ['phone of 32 characters', 'POST', '/shops', { name: 'with phone', phone: '0'.repeat(32) }, 201],
  ['text of 4096 characters', 'POST', '/shops/{shop}/messages', { ...send, text: '🥖'.repeat(4096) }, 202],
  ['mediaUrl of 2048 characters', 'POST', '/shops/{shop}/messages', { ...send, mediaUrl: uriOf(2048) }, 202],
  [
    'mediaUrl without text',
    'POST',
    '/shops/{shop}/messages',
    { channel: 'msgapp', to: '+41791234567', mediaUrl: 'https://example.com/a.png' },
    202,
  ],
  [
    'idempotencyKey of 128 characters',
    'POST',
    '/shops/{shop}/messages',
    { ...send, idempotencyKey: 'k'.repeat(128) },
    202,
  ],
  ['mediaType video', 'POST', '/shops/{shop}/messages', { ...send, mediaType: 'video' }, 202],
  ['mediaType document', 'POST', '/shops/{shop}/messages', { ...send, mediaType: 'document' }, 202],
  ['to a group', 'POST', '/shops/{shop}/messages', { ...send, to: '120363041234567890@g.us' }, 202],
  ['to a group of any id', 'POST', '/shops/{shop}/messages', { ...send, to: 'regulars-1@g.us' }, 202],
  ['caption of 700 characters', 'POST', '/shops/{shop}/statuses', { caption: 'c'.repeat(700) }, 202],
  [
    'status with media only',
    'POST',
    '/shops/{shop}/statuses',
    { mediaUrl: 'https://example.com/a.png' },
    202,
  ],
  ['status: every message status filters', 'GET', '/shops/{shop}/messages?status=rejected', undefined, 200],
  [
    'cursor of 24 hexadecimal characters',
    'GET',
    '/shops/{shop}/messages?cursor=66b1f0a2c3d4e5f607182ABC',
    undefined,
    200,
  ],
  [
    'canSend, minParticipants and q',
    'GET',
    '/shops/{shop}/groups?canSend=true&minParticipants=2&q=REG',
    undefined,
    200,
  ],
  ['activeOnly false', 'GET', '/shops/{shop}/contacts/consented?activeOnly=false', undefined, 200],
  [
    'note of 500 characters',
    'POST',
    '/shops/{shop}/contacts/consented',
    { contacts: [{ phone: '+41791234567', note: 'n'.repeat(500) }] },
    202,
  ],
  [
    'expiresAt on a leap day',
    'POST',
    '/shops/{shop}/contacts/consented',
    { contacts: [{ phone: '+41791234567', expiresAt: '2028-02-29T23:59:59Z' }] },
    202,
  ],
];

/** What breaks a bound, and every field that is named for it. */
const BREAKING: readonly Case[] = [
  ['page 0', 'GET', '/shops?page=0', undefined, ['page']],
  ['page 1.5', 'GET', '/shops?page=1.5', undefined, ['page']],
  ['page empty', 'GET', '/shops?page=', undefined, ['page']],
  ['limit 0 and page x at once', 'GET', '/shops?limit=0&page=x', undefined, ['page', 'limit']],
  ['limit 101', 'GET', '/shops?limit=101', undefined, ['limit']],
  ['limit twice', 'GET', '/shops?limit=1&limit=2', undefined, ['limit']],
  ['unknown query properties', 'GET', '/shops?one=1&two=2', undefined, ['one', 'two']],
  ['query on GET /me', 'GET', '/me?verbose=1', undefined, ['verbose']],
  ['broken percent-encoding in the query', 'GET', '/shops?limit=%zz', undefined, ['limit']],
  ['broken percent-encoding in the path', 'GET', '/shops/%zz', undefined, ['idOrName']],
  ['name missing', 'POST', '/shops', {}, ['name']],
  ['name empty', 'POST', '/shops', { name: '' }, ['name']],
  ['name of 101 characters', 'POST', '/shops', { name: 'x'.repeat(101) }, ['name']],
  ['name not a text', 'POST', '/shops', { name: 7 }, ['name']],
  ['phone of 33 characters', 'POST', '/shops', { name: 'x', phone: '0'.repeat(33) }, ['phone']],
  [
    'unknown body properties, all named',
    'POST',
    '/shops',
    { name: 'x', a: 1, b: 2, __proto: 3 },
    ['a', 'b', '__proto'],
  ],
  ['a list for a body', 'POST', '/shops', [], ['body']],
  ['a text for a body', 'POST', '/shops', 'name', ['body']],
  ['null for a body', 'POST', '/shops', null, ['body']],
  ['everything missing', 'POST', '/shops/{shop}/messages', {}, ['channel', 'to']],
  ['channel other than msgapp', 'POST', '/shops/{shop}/messages', { ...send, channel: 'sms' }, ['channel']],
  ['to without plus', 'POST', '/shops/{shop}/messages', { ...send, to: '41791234567' }, ['to']],
  ['to with a leading zero', 'POST', '/shops/{shop}/messages', { ...send, to: '+041791234567' }, ['to']],
  ['to of 16 digits', 'POST', '/shops/{shop}/messages', { ...send, to: '+1234567890123456' }, ['to']],
  [
    'text of 4097 characters',
    'POST',
    '/shops/{shop}/messages',
    { ...send, text: 'x'.repeat(4097) },
    ['text'],
  ],
  [
    'mediaUrl of 2049 characters',
    'POST',
    '/shops/{shop}/messages',
    { ...send, mediaUrl: uriOf(2049) },
    ['mediaUrl'],
  ],
  ['mediaUrl no URI', 'POST', '/shops/{shop}/messages', { ...send, mediaUrl: 'not a uri' }, ['mediaUrl']],
  [
    'mediaUrl a list: at most one attachment',
    'POST',
    '/shops/{shop}/messages',
    { ...send, mediaUrl: [uriOf(30)] },
    ['mediaUrl'],
  ],
  ['mediaType audio', 'POST', '/shops/{shop}/messages', { ...send, mediaType: 'audio' }, ['mediaType']],
  [
    'idempotencyKey empty',
    'POST',
    '/shops/{shop}/messages',
    { ...send, idempotencyKey: '' },
    ['idempotencyKey'],
  ],
  [
    'idempotencyKey cut within a character',
    'POST',
    '/shops/{shop}/messages',
    { ...send, idempotencyKey: '🥖'.slice(0, 1) },
    ['idempotencyKey'],
  ],
  [
    'idempotencyKey of 129 characters',
    'POST',
    '/shops/{shop}/messages',
    { ...send, idempotencyKey: 'k'.repeat(129) },
    ['idempotencyKey'],
  ],
  [
    'a message to a missing shop is validated first',
    'POST',
    '/shops/missing/messages',
    { ...send, to: '0' },
    ['to'],
  ],
  ['caption of 701 characters', 'POST', '/shops/{shop}/statuses', { caption: 'c'.repeat(701) }, ['caption']],
  [
    'status mediaType document',
    'POST',
    '/shops/{shop}/statuses',
    { caption: 'c', mediaType: 'document' },
    ['mediaType'],
  ],
  ['status no message status', 'GET', '/shops/{shop}/messages?status=lost', undefined, ['status']],
  [
    'cursor of 23 characters',
    'GET',
    `/shops/{shop}/messages?cursor=${'a'.repeat(23)}`,
    undefined,
    ['cursor'],
  ],
  [
    'cursor not hexadecimal',
    'GET',
    `/shops/{shop}/contacts/consented?cursor=${'g'.repeat(24)}`,
    undefined,
    ['cursor'],
  ],
  ['canSend yes', 'GET', '/shops/{shop}/groups?canSend=yes', undefined, ['canSend']],
  [
    'minParticipants negative',
    'GET',
    '/shops/{shop}/groups?minParticipants=-1',
    undefined,
    ['minParticipants'],
  ],
  ['activeOnly 1', 'GET', '/shops/{shop}/contacts/consented?activeOnly=1', undefined, ['activeOnly']],
  ['contacts empty', 'POST', '/shops/{shop}/contacts/consented', { contacts: [] }, ['contacts']],
  [
    'contacts: each broken item by its path',
    'POST',
    '/shops/{shop}/contacts/consented',
    { contacts: [{ phone: '1' }, { phone: '+41791234567', note: 'n'.repeat(501) }, { x: 1 }] },
    ['contacts.0.phone', 'contacts.1.note', 'contacts.2.phone', 'contacts.2.x'],
  ],
  ['phone of a revocation missing', 'DELETE', '/shops/{shop}/contacts/consented', {}, ['phone']],
  ['a body where none is taken', 'POST', '/shops/{shop}/channels/msgapp/connect', { force: true }, ['force']],
];

const NO_DATES = [
  '2027-02-29T00:00:00Z',
  '2027-04-31T00:00:00Z',
  '2027-13-01T00:00:00Z',
  '2027-01-01T24:00:00Z',
  '2027-01-01T00:00:00+00:00',
  '2027-01-01',
  'soon',
  '2027-01-01 00:00:00Z',
];

/** SPEC: the query and body tables, and Input bounds. */
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
    // A real send policy may refuse a send for its own reasons; that it was not VALIDATION_ERROR is what counts.
    it(`fits: ${row}`, async () => {
      const { owner, shop } = await prepared();
      const { api, plan } = target();
      const reply = await api.call(method, path.replace('{shop}', shop), { key: owner.key, json });
      if (plan !== undefined) assert.equal(reply.status, status, reply.text);
      assert.notEqual(reply.body.error?.code, 'VALIDATION_ERROR', reply.text);
    });
  }

  for (const [row, method, path, json, fields] of BREAKING) {
    it(`422 VALIDATION_ERROR: ${row}`, async () => {
      const { owner, shop } = await prepared();
      const reply = await target().api.call(method, path.replace('{shop}', shop), { key: owner.key, json });
      assert.equal(reply.status, 422, reply.text);
      assert.equal(reply.body.error.code, 'VALIDATION_ERROR');
      const named = reply.body.error.fields.map(({ field }: { field: string }) => field);
      assert.deepEqual(named.toSorted(), [...fields].sort(), reply.text);
    });
  }

  for (const expiresAt of NO_DATES) {
    it(`422 VALIDATION_ERROR: expiresAt ${expiresAt}`, async () => {
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
    it(`422 VALIDATION_ERROR: ${row}`, async () => {
      const { owner } = await prepared();
      const reply = await target().api.call('POST', '/shops', { key: owner.key, ...call });
      assert.equal(reply.status, 422, reply.text);
      assert.equal(reply.body.error.code, 'VALIDATION_ERROR');
      assert.equal(reply.body.error.fields.length, 1);
    });
  }

  it('a content type with charset utf-8 is JSON too', async () => {
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
  ] as const) {
    it(`422 EMPTY_MESSAGE: ${row}`, async () => {
      const { owner, shop } = await prepared();
      const reply = await target().api.call('POST', `/shops/${shop}/messages`, { key: owner.key, json });
      assert.equal(reply.status, 422);
      assert.equal(reply.body.error.code, 'EMPTY_MESSAGE');
    });
  }

  it('422 EMPTY_MESSAGE: a status with neither caption nor mediaUrl', async () => {
    const { owner, shop } = await prepared();
    const reply = await target().api.call('POST', `/shops/${shop}/statuses`, { key: owner.key, json: {} });
    assert.equal(reply.status, 422);
    assert.equal(reply.body.error.code, 'EMPTY_MESSAGE');
  });

  it('404 NOT_FOUND: an unknown path, without a key', async () => {
    for (const path of ['/nothing', '/shops/', '/me/', '/shops/x/channels', '']) {
      const reply = await target().api.call('GET', path);
      assert.equal(reply.status, 404, path);
      assert.equal(reply.body.error.code, 'NOT_FOUND');
    }
  });

  it('405 METHOD_NOT_ALLOWED: a wrong method, with Allow, without a key', async () => {
    const reply = await target().api.call('PUT', '/shops');
    assert.equal(reply.status, 405);
    assert.equal(reply.headers.allow, 'GET, POST');
    assert.equal(reply.body.error.code, 'METHOD_NOT_ALLOWED');
  });

  it('413 PAYLOAD_TOO_LARGE: a body over 64 KiB, without a key; one of exactly 64 KiB is read', async () => {
    const { owner } = await prepared();
    const headers = { 'content-type': 'application/json' };
    const fitting = await target().api.call('POST', '/shops', {
      key: owner.key,
      body: ' '.repeat(65_536),
      headers,
    });
    assert.equal(fitting.status, 422);
    const reply = await target().api.call('POST', '/shops', { body: ' '.repeat(65_537), headers });
    assert.equal(reply.status, 413);
    assert.equal(reply.body.error.code, 'PAYLOAD_TOO_LARGE');
  });

  it("X-Request-Id: the caller's is echoed when well formed, else one of ours", async () => {
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
      const replaced = await api.call('GET', '/nothing', {
        headers: { 'x-request-id': Buffer.from(id).toString('latin1') },
      });
      assert.match(replaced.headers['x-request-id'] ?? '', /^[0-9a-f]{24}$/);
    }
  });
}
