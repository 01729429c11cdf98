import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../openapi/checked-client.ts';
import type { Target } from '../target.ts';
import { plannedRows } from './planned-rows.ts';

/** Makes a tenant with a shop. */
async function ownShop(target: Target) {
  const owner = await target.tenant();
  return { ...target, owner, id: await target.shop(owner) };
}

/** docs/contract.md, Errors, States and Resources. */
export function resourceRows(target: () => Target, canPlan: boolean): void {
  plannedRows(target, canPlan);

  test('429 DECLARE_BATCH_TOO_LARGE: of 101 contacts none is declared', async () => {
    const { api, tenant, shop } = target();
    const owner = await tenant();
    const path = `/shops/${await shop(owner)}/contacts/consented`;
    const contacts = Array.from({ length: 101 }, (_, index) => ({ phone: `+4179${1_000_000 + index}` }));
    const reply = await api.call('POST', path, { key: owner.key, json: { contacts } });
    assert.equal(reply.status, 429);
    assert.deepEqual([reply.body.error.code, reply.body.error.retryAfter], ['DECLARE_BATCH_TOO_LARGE', 1]);
    assert.equal(reply.headers['retry-after'], '1');
    assert.equal((await api.call('GET', path, { key: owner.key })).body.data.items.length, 0);
  });

  test('404 SHOP_NOT_FOUND and MESSAGE_NOT_FOUND: unknown', async () => {
    const { api, tenant } = target();
    const { key } = await tenant();
    for (const id of ['nowhere', '66b1f0a2c3d4e5f607182901', '%F0%9F%A5%96']) {
      const shop = await api.call('GET', `/shops/${id}`, { key });
      assert.equal(shop.body.error.code, 'SHOP_NOT_FOUND');
      assert.equal(shop.status, 404);
      const message = await api.call('GET', `/messages/${id}`, { key });
      assert.equal(message.body.error.code, 'MESSAGE_NOT_FOUND');
      assert.equal(message.status, 404);
    }
  });

  test('{idOrName}: by id in either case, by name in any case and URL-encoded, with slash and plus', async () => {
    const { api, tenant, shop } = target();
    const owner = await tenant();
    const id = await shop(owner, 'Käse & Brot / Rue+1');
    const name = encodeURIComponent('KÄSE & brot / rue+1');
    for (const reference of [id, id.toUpperCase(), name]) {
      const reply = await api.call('GET', `/shops/${reference}`, { key: owner.key });
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.body.data.id, id);
    }
  });

  test("a message's id in a path is taken in either case", async () => {
    const { api, tenant, shop, connect } = target();
    const owner = await tenant();
    const shopId = await shop(owner);
    await connect(owner.key, shopId);
    const json = { channel: 'msgapp', to: '+41791234567', text: 'Hello' };
    const sentReply = await api.call('POST', `/shops/${shopId}/messages`, { key: owner.key, json });
    const { id } = sentReply.body.data;
    const foundReply = await api.call('GET', `/messages/${id.toUpperCase()}`, { key: owner.key });
    assert.deepEqual([foundReply.status, foundReply.body.data?.id], [200, id]);
  });

  test('409 AMBIGUOUS_SHOP: two shops share the name; candidates lists their ids', async () => {
    const { api, tenant, shop } = target();
    const owner = await tenant();
    const ids = [await shop(owner, 'Twin'), await shop(owner, 'TWIN')];
    const reply = await api.call('GET', '/shops/twin/messages', { key: owner.key });
    assert.deepEqual([reply.status, reply.body.error.code], [409, 'AMBIGUOUS_SHOP']);
    assert.deepEqual(reply.body.error.candidates.toSorted(), ids.toSorted());
  });

  test('POST /shops answers the new shop; its name again is 409 SHOP_NAME_TAKEN', async () => {
    const { api, tenant } = target();
    const { key } = await tenant();
    const createdReply = await api.call('POST', '/shops', { key, json: { name: 'Once' } });
    assert.equal(createdReply.status, 201);
    assert.ok(createdReply.body.data.setupUrl.includes(createdReply.body.data.id));
    assert.deepEqual(createdReply.body.data.setupRequired, ['location', 'operatingHours']);
    for (const name of ['ONCE', 'Ｏnce', 'ⓞnce']) {
      const repeatedReply = await api.call('POST', '/shops', { key, json: { name } });
      assert.equal(repeatedReply.status, 409, name);
      assert.equal(repeatedReply.body.error.code, 'SHOP_NAME_TAKEN');
      const foundReply = await api.call('GET', `/shops/${encodeURIComponent(name)}`, { key });
      assert.equal(foundReply.body.data.id, createdReply.body.data.id);
    }
    const otherReply = await api.call('POST', '/shops', { key, json: { name: ' Once' } });
    assert.equal(otherReply.status, 201, 'white space tells names apart');
  });

  test('409 SHOP_NAME_TAKEN: the id of another shop as a name; an id comes before a name', async () => {
    const { api, tenant, shop } = target();
    const owner = await tenant();
    const id = await shop(owner, 'First');
    for (const name of [id, id.toUpperCase()]) {
      const createdReply = await api.call('POST', '/shops', { key: owner.key, json: { name } });
      assert.deepEqual([createdReply.status, createdReply.body.error?.code], [409, 'SHOP_NAME_TAKEN']);
      assert.equal(createdReply.body.error.message, 'The name is the id of another shop.');
    }
    // An import may have any name.
    await shop(owner, id);
    const foundReply = await api.call('GET', `/shops/${id}`, { key: owner.key });
    assert.equal(foundReply.body.data.name, 'First');
  });

  test("402 QUOTA_EXCEEDED: at the plan's shop limit", async () => {
    const { api, tenant } = target();
    const { key } = await tenant({ plan: 'free' });
    assert.equal((await api.call('POST', '/shops', { key, json: { name: 'one' } })).status, 201);
    const reply = await api.call('POST', '/shops', { key, json: { name: 'two' } });
    assert.deepEqual([reply.status, reply.body.error.code], [402, 'QUOTA_EXCEEDED']);
  });

  test('409 TENANT_OWNER_MISSING: the tenant has no owner', async () => {
    const { api, tenant } = target();
    const { key } = await tenant({ owner: null });
    const reply = await api.call('POST', '/shops', { key, json: { name: 'one' } });
    assert.deepEqual([reply.status, reply.body.error.code], [409, 'TENANT_OWNER_MISSING']);
  });

  for (const page of ['1000000001', '9007199254740993', '9'.repeat(400)]) {
    test(`Shops: page ${page.slice(0, 20)} of ${page.length} digits is beyond the end: an empty page`, async () => {
      const { api, tenant } = target();
      const owner = await tenant();
      await api.call('POST', '/shops', { key: owner.key, json: { name: 'only one' } });
      const reply = await api.call('GET', `/shops?page=${page}`, { key: owner.key });
      assert.equal(reply.status, 200, reply.text);
      const { items, page: told, total } = reply.body.data;
      assert.deepEqual([items, total], [[], 1]);
      assert.equal(told, Math.min(Number(page), Number.MAX_SAFE_INTEGER));
    });
  }

  test('Shops: page-based, newest first, none skipped and none twice', async () => {
    const { api, tenant, shop } = target();
    const owner = await tenant();
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) ids.unshift(await shop(owner, name));
    const seen: string[] = [];
    for (const page of [1, 2, 3]) {
      const { data } = (await api.call('GET', `/shops?page=${page}&limit=2`, { key: owner.key })).body;
      assert.deepEqual([data.page, data.limit, data.total], [page, 2, 5]);
      seen.push(...data.items.map(({ id }: { id: string }) => id));
    }
    assert.deepEqual(seen, ids);
  });

  test('409 MSGAPP_NOT_CONFIGURED: GET connect before any POST connect', async () => {
    const { api, owner, id } = await ownShop(target());
    const reply = await api.call('GET', `/shops/${id}/channels/msgapp/connect`, { key: owner.key });
    assert.deepEqual([reply.status, reply.body.error.code], [409, 'MSGAPP_NOT_CONFIGURED']);
  });

  test('404 MSGAPP_NOT_CONFIGURED: disconnect on a shop that never had a channel', async () => {
    const { api, owner, id } = await ownShop(target());
    const reply = await api.call('POST', `/shops/${id}/channels/msgapp/disconnect`, { key: owner.key });
    assert.deepEqual([reply.status, reply.body.error.code], [404, 'MSGAPP_NOT_CONFIGURED']);
  });

  test('GET channel of a shop never configured: 200, disconnected, channelConfigId null', async () => {
    const { api, owner, id } = await ownShop(target());
    const reply = await api.call('GET', `/shops/${id}/channels/msgapp`, { key: owner.key });
    assert.deepEqual(reply.body.data, { status: 'disconnected', channelConfigId: null });
  });

  test('a repeated idempotencyKey: 200, X-Idempotent-Replay, the original message, nothing sent again', async (context) => {
    const { api, owner, id, connect } = await ownShop(target());
    await connect(owner.key, id);
    const json = { channel: 'msgapp', to: '+41791234567', text: 'once', idempotencyKey: 'order-1' };
    const send = (body: object, headers: Readonly<Record<string, string>> = {}) =>
      api.call('POST', `/shops/${id}/messages`, { key: owner.key, json: body, headers });
    const first = await send(json);
    assert.equal(first.status, 202, first.text);
    assert.equal(first.body.data.statusUrl, `/api/v1/messages/${first.body.data.id}`);
    assert.equal(first.headers['x-idempotent-replay'], undefined);
    const assertRepeated = (reply: Reply, mismatch: 'true' | undefined): void => {
      assert.deepEqual([reply.status, reply.body.data.id], [200, first.body.data.id], reply.text);
      assert.equal(reply.headers['x-idempotent-replay'], 'true');
      assert.equal(reply.headers['x-idempotent-mismatch'], mismatch);
    };
    for (const text of ['other', undefined, '', ' \n']) {
      await context.test(`with the text ${JSON.stringify(text)}: X-Idempotent-Mismatch`, async () =>
        assertRepeated(await send({ ...json, text }), 'true'),
      );
    }
    await context.test('with a mediaType, which a text ignores: no mismatch', async () =>
      assertRepeated(await send({ ...json, mediaType: 'video' }), undefined),
    );
    const { idempotencyKey, ...bare } = json;
    await context.test('with the key in the header Idempotency-Key: no mismatch', async () =>
      assertRepeated(await send(bare, { 'idempotency-key': idempotencyKey }), undefined),
    );
    await context.test('with another key in the header: 422', async () => {
      const { status, body } = await send(json, { 'idempotency-key': 'another' });
      assert.deepEqual([status, body.error.fields[0].field], [422, 'idempotencyKey']);
    });
    await context.test('one message is listed', async () => {
      const listedReply = await api.call('GET', `/shops/${id}/messages`, { key: owner.key });
      assert.equal(listedReply.body.data.items.length, 1);
    });
  });

  test('a repeated Idempotency-Key on a status: 200 with the original', async () => {
    const { api, owner, id, connect } = await ownShop(target());
    await connect(owner.key, id);
    const headers = { 'idempotency-key': 'day 1' };
    const post = (path: string, json: unknown) =>
      api.call('POST', `/shops/${id}/${path}`, { key: owner.key, json, headers });
    const json = { channel: 'msgapp', to: '+41791234567', text: 'hello' };
    const message = await post('messages', json);
    assert.equal(message.status, 202, message.text);
    const bothReplies = await Promise.all([0, 1].map(() => post('statuses', { caption: 'open' })));
    assert.deepEqual(bothReplies.map(({ status }) => status).sort(), [200, 202]);
    const [first, second] = bothReplies.map(({ body }) => body.data.id);
    assert.equal(first, second);
    assert.notEqual(first, message.body.data.id);
    const otherReply = await post('statuses', { caption: 'closed' });
    assert.deepEqual([otherReply.status, otherReply.body.data.id], [200, first]);
    assert.equal(otherReply.headers['x-idempotent-replay'], 'true');
    assert.equal(otherReply.headers['x-idempotent-mismatch'], 'true');
    const emptyReply = await post('statuses', {});
    assert.deepEqual([emptyReply.status, emptyReply.body.data.id], [200, first]);
    assert.equal(emptyReply.headers['x-idempotent-mismatch'], 'true');
    const listedReply = await api.call('GET', `/shops/${id}/messages`, { key: owner.key });
    assert.equal(listedReply.body.data.items.length, 2);
  });

  test('a repeated Idempotency-Key on POST /shops: 200 with the shop, also at the plan’s limit', async () => {
    const { api, tenant } = target();
    const { key } = await tenant({ plan: 'free' });
    const headers = { 'idempotency-key': 'first shop' };
    const make = (name: string) => api.call('POST', '/shops', { key, json: { name }, headers });
    const bothReplies = await Promise.all(['Bakery', 'Bakery'].map(make));
    assert.deepEqual(bothReplies.map(({ status }) => status).sort(), [200, 201]);
    const [made, replayed] = bothReplies.map(({ body }) => body.data);
    assert.deepEqual(made, replayed);
    const otherReply = await make('Butcher');
    assert.deepEqual([otherReply.status, otherReply.body.data.name], [200, 'Bakery']);
    assert.equal(otherReply.headers['x-idempotent-mismatch'], 'true');
    const beyond = await api.call('POST', '/shops', { key, json: { name: 'Butcher' } });
    assert.equal(beyond.body.error.code, 'QUOTA_EXCEEDED');
  });

  test('an Idempotency-Key of more than 128 characters, or not of visible ASCII, is named', async () => {
    const { api, tenant } = target();
    const { key } = await tenant();
    for (const given of ['x'.repeat(129), 'caf\u00e9 1']) {
      const headers = { 'idempotency-key': given };
      const reply = await api.call('POST', '/shops', { key, json: { name: 'Bakery' }, headers });
      assert.deepEqual([reply.status, reply.body.error?.fields[0].field], [422, 'idempotency-key']);
    }
  });

  test('a record names the idempotency key, the request and the trace of the call that made it', async () => {
    const { api, tenant, shop, connect } = target();
    const owner = await tenant();
    const { key } = owner;
    const id = await shop(owner);
    await connect(key, id);
    const json = { channel: 'msgapp', to: '+41791234567', text: 'hello', idempotencyKey: 'order "1"' };
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const own = { 'x-request-id': 'mine "1" \\', traceparent: trace };
    const sentReply = await api.call('POST', `/shops/${id}/messages`, { key, json, headers: own });
    const replayedReply = await api.call('POST', `/shops/${id}/messages`, { key, json });
    assert.equal(replayedReply.status, 200);
    const status = await api.call('POST', `/shops/${id}/statuses`, {
      key,
      json: { caption: 'hello' },
      headers: { traceparent: trace.toUpperCase() },
    });
    const record = async (reply: Reply) =>
      (await api.call('GET', `/messages/${reply.body.data.id}`, { key })).body.data;
    const { idempotencyKey, requestId, traceparent } = await record(sentReply);
    assert.deepEqual([idempotencyKey, requestId, traceparent], ['order "1"', 'mine "1" \\', trace]);
    const posted = await record(status);
    assert.deepEqual([posted.idempotencyKey, posted.requestId], [null, status.headers['x-request-id']]);
    assert.equal(posted.traceparent, null, 'what is no traceparent is ignored');
  });

  test('Consented contact: none → active → revoked, the record kept', async (context) => {
    const { api, tenant, shop } = target();
    const owner = await tenant();
    const path = `/shops/${await shop(owner)}/contacts/consented`;
    const { key } = owner;
    const json = { contacts: [{ phone: '+41791234567', note: 'hi' }] };
    const declaredReply = await api.call('POST', path, { key, json });
    assert.equal(declaredReply.status, 202);
    assert.equal(declaredReply.body.data.accepted, 1);
    assert.equal(declaredReply.body.data.contacts[0].source, 'api');
    const revokedReply = await api.call('DELETE', path, { key, json: { phone: '+41791234567' } });
    assert.ok(revokedReply.body.data.revokedAt);
    await context.test('a revoked contact is listed only with activeOnly=false', async () => {
      assert.equal((await api.call('GET', path, { key })).body.data.items.length, 0);
      assert.equal((await api.call('GET', `${path}?activeOnly=false`, { key })).body.data.items.length, 1);
    });
    await context.test('revoking a contact that was never declared: the same fields, null', async () => {
      const never = await api.call('DELETE', path, { key, json: { phone: '+41790000001' } });
      assert.deepEqual(Object.keys(never.body.data).sort(), Object.keys(revokedReply.body.data).sort());
      const { phone, active, ...rest } = never.body.data;
      assert.deepEqual([phone, active], ['+41790000001', false]);
      assert.deepEqual([...new Set(Object.values(rest))], [null]);
    });
    await context.test(
      'a contact that is listed twice in a call counts once, with its last note',
      async () => {
        const contacts = ['one', 'two'].map((note) => ({ phone: '+41791234567', note }));
        const { data } = (await api.call('POST', path, { key, json: { contacts } })).body;
        assert.deepEqual([data.accepted, data.contacts.length, data.contacts[0].note], [1, 1, 'two']);
      },
    );
  });

  test('active → expired: past expiresAt a declaration no longer counts', async () => {
    const { api, tenant, shop } = target();
    const owner = await tenant();
    const path = `/shops/${await shop(owner)}/contacts/consented`;
    const json = { contacts: [{ phone: '+41791234567', expiresAt: '2020-01-01T00:00:00Z' }] };
    const declaredReply = await api.call('POST', path, { key: owner.key, json });
    assert.equal(declaredReply.body.data.contacts[0].active, false);
    assert.equal((await api.call('GET', path, { key: owner.key })).body.data.items.length, 0);
  });

  test('Documentation: articles with any key; 404 DOC_ARTICLE_NOT_FOUND for an unknown one', async () => {
    const { api, tenant, key } = target();
    const bare = await key((await tenant()).id, { permissions: [] });
    const listedReply = await api.call('GET', '/docs', { key: bare.key });
    assert.ok(listedReply.body.data.items.length >= 5);
    for (const { slug, title } of listedReply.body.data.items) {
      const article = await api.call('GET', `/docs/${slug}`, { key: bare.key });
      assert.ok(article.body.data.markdown.startsWith(`# ${title}\n`));
    }
    const unknownReply = await api.call('GET', '/docs/unknown', { key: bare.key });
    assert.deepEqual([unknownReply.status, unknownReply.body.error.code], [404, 'DOC_ARTICLE_NOT_FOUND']);
    assert.equal((await api.call('GET', '/docs')).body.error.code, 'API_KEY_MISSING');
  });
}
