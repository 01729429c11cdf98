/** One call of the client: where its parameters go, how it fails, and when it is repeated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../client/src/api-error.ts';
import { messagingClient } from '../../client/src/messaging-client.ts';
import { BASE, cutOff, type FakeApi, fakeApi, inTurn, KEY, ok, refused, silent } from './fake-api.ts';

const SEND = { idOrName: 'Café 1/2', channel: 'msgapp', to: '+33622220001', text: 'Bread' } as const;
const accepted = () => ok({ id: 'm1', status: 'queued' }, 202);

/** Lets time pass until the call is settled; what it was rejected with. */
async function failureOf({ clock }: FakeApi, call: Promise<unknown>): Promise<unknown> {
  let settled: { readonly error?: unknown } | undefined;
  call.then(
    () => {
      settled = {};
    },
    (error: unknown) => {
      settled = { error };
    },
  );
  await clock.until(() => settled !== undefined, 600_000);
  return settled?.error;
}

function assertApiError(error: unknown): asserts error is ApiError {
  assert.ok(error instanceof ApiError, String(error));
}

test('a method puts parameters into path, query and body, and answers status, data and request id', async () => {
  const { api, calls } = fakeApi(inTurn(accepted, () => ok({ items: [], nextCursor: null })));
  const sentAnswer = await api.sendMessage({ ...SEND, mediaUrl: undefined });
  assert.deepEqual([sentAnswer.status, sentAnswer.data.id, sentAnswer.requestId], [202, 'm1', 'theirs']);
  await api.listMessages({ idOrName: 'x', status: 'failed', limit: 5, cursor: undefined });
  const [post, get] = calls;
  assert.equal(post?.url.href, `${BASE}/shops/Caf%C3%A9%201%2F2/messages`);
  assert.equal(post?.method, 'POST');
  assert.equal(post?.headers.get('authorization'), `Bearer ${KEY}`);
  assert.equal(post?.headers.get('content-type'), 'application/json');
  assert.deepEqual(post?.body, { channel: 'msgapp', to: SEND.to, text: 'Bread', idempotencyKey: 'id-2' });
  assert.equal(get?.url.href, `${BASE}/shops/x/messages?status=failed&limit=5`);
  assert.deepEqual([get?.method, get?.body], ['GET', undefined]);
});

test('a file is given as the stream that it is, and its refusal as an error', async () => {
  const file = () => new Response('bytes', { headers: { 'content-type': 'image/jpeg' } });
  const { api } = fakeApi(inTurn(file, () => refused(404, 'MEDIA_GONE')));
  const { data, headers } = await api.readInboundMedia({ id: 'm1' });
  assert.equal(headers.get('content-type'), 'image/jpeg');
  assert.equal(await new Response(data).text(), 'bytes');
  await assert.rejects(api.readInboundMedia({ id: 'm1' }), { code: 'MEDIA_GONE' });
});

test('a path part that would change the path is refused before anything is asked', async () => {
  const { api, calls } = fakeApi(accepted);
  for (const id of ['', '.', '..']) await assert.rejects(api.readMessage({ id }), /readMessage: id must be/);
  assert.equal(calls.length, 0);
});

test('a request id that no header can carry is refused at once, not reported as a failed connection', async () => {
  const { api, calls } = fakeApi(accepted);
  for (const requestId of ['', '🥖', 'two\nlines', ' blank', 'x'.repeat(257)]) {
    await assert.rejects(api.sendMessage(SEND, { requestId }), {
      name: 'TypeError',
      message: /requestId must be/,
    });
  }
  assert.equal(calls.length, 0);
  await api.sendMessage(SEND, { requestId: 'order 4711, twice' });
  assert.equal(calls[0]?.headers.get('x-request-id'), 'order 4711, twice');
});

test('an address or a key that cannot be one is refused, and the key is not shown', () => {
  const bad = [
    { baseUrl: 'api.example', apiKey: KEY },
    { baseUrl: 'ftp://api.example', apiKey: KEY },
    { baseUrl: 'https://user:pass@api.example', apiKey: KEY },
    { baseUrl: [], apiKey: KEY },
    { baseUrl: BASE, apiKey: 'two\nlines' },
    { baseUrl: BASE, apiKey: '' },
  ];
  for (const options of bad) {
    assert.throws(
      () => messagingClient(options),
      (error) => error instanceof TypeError && !/two|pass/.test(error.message),
    );
  }
});

test('a refusal is an ApiError with code, reason, status, retryAfter and request id', async () => {
  const fields = [{ field: 'to', message: 'is required' }];
  const fake = fakeApi(() => refused(422, 'VALIDATION_ERROR', { fields }));
  const error = await failureOf(fake, fake.api.sendMessage(SEND));
  assertApiError(error);
  const { code, reason, status, retryAfter, requestId } = error;
  assert.deepEqual(
    { code, reason, status, retryAfter, requestId },
    {
      code: 'VALIDATION_ERROR',
      reason: 'it is VALIDATION_ERROR',
      status: 422,
      retryAfter: undefined,
      requestId: 'theirs',
    },
  );
  assert.deepEqual(error.fields, fields);
  assert.equal(fake.calls.length, 1);
});

test('a send is repeated with the same key and request id until it is answered', async () => {
  const fake = fakeApi(
    inTurn(cutOff, () => refused(503, 'SERVICE_UNAVAILABLE', { retryAfter: 1 }), accepted),
  );
  assert.equal(await failureOf(fake, fake.api.sendMessage(SEND)), undefined);
  assert.deepEqual(
    fake.calls.map(({ body, headers }) => [body?.idempotencyKey, headers.get('x-request-id')]),
    Array(3).fill(['id-2', 'id-1']),
  );
  // 200 ms of which a half is drawn; then the second asked for, and half of 400 ms.
  assert.deepEqual(fake.gaps(), [150, 1_200]);
});

test("a caller's own idempotency key is kept, in the body or the header that takes it", async () => {
  const { api, calls } = fakeApi(accepted);
  await api.sendMessage({ ...SEND, idempotencyKey: 'order-1' });
  await api.createShop({ name: 'Bakery', idempotencyKey: 'shop 1' });
  await api.postStatus({ idOrName: 's', caption: 'Open' });
  assert.deepEqual(
    calls.map(({ headers, body }) => [headers.get('idempotency-key'), body]),
    [
      [null, { channel: 'msgapp', to: SEND.to, text: 'Bread', idempotencyKey: 'order-1' }],
      ['shop 1', { name: 'Bakery' }],
      ['id-4', { caption: 'Open' }],
    ],
  );
  // HTTP drops blanks at the ends of a header.
  for (const idempotencyKey of ['zwölf', ' shop', 'shop ', ''])
    await assert.rejects(api.createShop({ name: 'Bakery', idempotencyKey }), /visible ASCII/);
  assert.equal(calls.length, 3);
});

const repeats: readonly (readonly [
  what: string,
  again: boolean,
  fake: FakeApi,
  call: (fake: FakeApi) => unknown,
])[] = [
  ...(
    [
      ['no answer', true, cutOff],
      ['502 of a proxy', true, () => new Response('<html>', { status: 502 })],
      ['503 BOT_SERVICE_UNREACHABLE', true, () => refused(503, 'BOT_SERVICE_UNREACHABLE')],
      ['500 INTERNAL_ERROR', true, () => refused(500, 'INTERNAL_ERROR')],
      ['503 MSGAPP_NOT_CONNECTED', false, () => refused(503, 'MSGAPP_NOT_CONNECTED')],
      [
        '503 MSGAPP_NOT_CONNECTED on its way back',
        true,
        () => refused(503, 'MSGAPP_NOT_CONNECTED', { retryAfter: 1 }),
      ],
      ['503 MSGAPP_SESSION_LOST', false, () => refused(503, 'MSGAPP_SESSION_LOST')],
      ['404', false, () => refused(404, 'MESSAGE_NOT_FOUND')],
      ['a 200 of something else', false, () => new Response('hello')],
      ['a redirect', false, () => new Response('', { status: 302 })],
    ] as const
  ).map(
    ([title, again, answer]) =>
      [
        `GET, ${title}`,
        again,
        fakeApi(inTurn(answer, () => ok({}))),
        ({ api }: FakeApi) => api.readIdentity(),
      ] as const,
  ),
  ...(
    [
      ['no answer', false, cutOff],
      ['503 SERVICE_UNAVAILABLE', false, () => refused(503, 'SERVICE_UNAVAILABLE', { retryAfter: 1 })],
      ['503 OVERLOADED', true, () => refused(503, 'OVERLOADED', { retryAfter: 1 })],
      ['429 RATE_LIMITED', true, () => refused(429, 'RATE_LIMITED', { retryAfter: 20 })],
      ['429 to come back in 45 s', false, () => refused(429, 'RATE_LIMITED', { retryAfter: 45 })],
    ] as const
  ).map(
    ([title, again, answer]) =>
      [
        `POST without a key, ${title}`,
        again,
        fakeApi(inTurn(answer, () => ok({}, 202))),
        ({ api }: FakeApi) => api.connectChannel({ idOrName: 's' }),
      ] as const,
  ),
  [
    'a batch that is too large',
    false,
    fakeApi(inTurn(() => refused(429, 'DECLARE_BATCH_TOO_LARGE', { retryAfter: 1 }))),
    ({ api }) => api.declareContacts({ idOrName: 's', contacts: [{ phone: '+33622220001' }] }),
  ],
  [
    'POST that the caller says may be repeated, no answer',
    true,
    fakeApi(inTurn(cutOff, () => ok({}))),
    ({ api }) => api.disconnectChannel({ idOrName: 's' }, { isRepeatable: true }),
  ],
  [
    'DELETE, no answer',
    true,
    fakeApi(inTurn(cutOff, () => ok({}))),
    ({ api }) => api.revokeContact({ idOrName: 's', phone: '+33622220001' }),
  ],
  [
    'cancelMessage, no answer',
    true,
    fakeApi(inTurn(cutOff, () => ok({}))),
    ({ api }) => api.cancelMessage({ id: 'm1' }),
  ],
  [
    'markInboundRead, no answer',
    true,
    fakeApi(inTurn(cutOff, () => ok({}))),
    ({ api }) => api.markInboundRead({ id: 'i1' }),
  ],
  [
    'cancelQueue, whose count a second call would not tell, no answer',
    false,
    fakeApi(inTurn(cutOff, () => ok({ cancelled: 0 }))),
    ({ api }) => api.cancelQueue({ idOrName: 's', idempotencyKeyPrefix: 'spring-' }),
  ],
];

test('a reply and a scheduled send are repeated with the same idempotency key', async () => {
  const calls = [
    ({ api }: FakeApi) => api.replyToInbound({ id: 'i1', text: 'Yes' }),
    ({ api }: FakeApi) =>
      api.scheduleMessage({
        idOrName: 's',
        channel: 'msgapp',
        sendAt: '2026-12-01T08:00:00Z',
        to: '+33622220001',
      }),
  ];
  for (const call of calls) {
    const fake = fakeApi(inTurn(cutOff, () => ok({}, 202)));
    assert.equal(await failureOf(fake, call(fake)), undefined);
    const [first, again] = fake.calls.map(({ body }) => body?.idempotencyKey);
    assert.ok(typeof first === 'string' && first === again);
  }
});

for (const [title, again, fake, call] of repeats) {
  test(`${title}: ${again ? 'repeated' : 'not repeated'}`, async () => {
    const error = await failureOf(fake, Promise.resolve(call(fake)));
    assert.deepEqual([fake.calls.length, error instanceof ApiError], again ? [2, false] : [1, true]);
  });
}

test('500 INTERNAL_ERROR is repeated once, no more', async () => {
  const fake = fakeApi(() => refused(500, 'INTERNAL_ERROR'));
  assertApiError(await failureOf(fake, fake.api.readIdentity()));
  assert.equal(fake.calls.length, 2);
});

test('delays grow, keep at least half of their length and retryAfter, and end with timeoutMs', async () => {
  for (const random of [0, 0.999]) {
    const fake = fakeApi(cutOff, { random: () => random, timeoutMs: 30_000 });
    const begunMs = fake.clock.monotonicMs();
    const error = await failureOf(fake, fake.api.readIdentity());
    assertApiError(error);
    assert.equal(error.code, 'NO_ANSWER');
    assert.ok(fake.clock.monotonicMs() - begunMs <= 30_000);
    const growing = [200, 400, 800, 1_600, 3_200, 5_000, 5_000];
    for (const [index, gap] of fake.gaps().slice(0, 7).entries()) {
      const full = growing[index] ?? 0;
      assert.ok(gap >= full / 2 - 1 && gap <= full, `pause ${index} took ${gap} ms`);
    }
  }
  const limited = fakeApi(
    inTurn(
      () => refused(429, 'RATE_LIMITED', { retryAfter: 7 }),
      () => ok({}),
    ),
    {
      random: () => 0,
    },
  );
  await failureOf(limited, limited.api.readIdentity());
  assert.deepEqual(limited.gaps(), [7_000]);
});

test('an attempt that hangs is ended after tryTimeoutMs and repeated; the call ends with timeoutMs', async () => {
  const fake = fakeApi(
    inTurn(silent, () => ok({})),
    { tryTimeoutMs: 2_000 },
  );
  assert.equal(await failureOf(fake, fake.api.readIdentity()), undefined);
  assert.deepEqual(fake.gaps(), [2_150]);
  const hanging = fakeApi(silent, { tryTimeoutMs: 2_000 });
  const begunMs = hanging.clock.monotonicMs();
  const error = await failureOf(hanging, hanging.api.readIdentity({}, { timeoutMs: 1_000 }));
  assertApiError(error);
  assert.deepEqual([error.code, hanging.clock.monotonicMs() - begunMs], ['TIMEOUT', 1_000]);
});

test("an aborted call rejects with the signal's reason, in an attempt and in a pause", async () => {
  for (const answer of [silent, cutOff]) {
    const fake = fakeApi(answer);
    const end = new AbortController();
    const call = fake.api.readIdentity({}, { signal: end.signal });
    call.catch(() => undefined);
    await fake.clock.advance(100);
    end.abort(new Error('enough'));
    await assert.rejects(call, /^Error: enough$/);
    assert.equal(fake.timers(), 0);
    await assert.rejects(fake.api.readIdentity({}, { signal: end.signal }), /enough/);
    assert.equal(fake.calls.length, 1, 'nothing is asked with a signal that was aborted before');
  }
});

test('a call leaves no listener on its signal', async () => {
  const { signal } = new AbortController();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  let listeners = 0;
  signal.addEventListener = (...words: Parameters<typeof add>) => {
    listeners += 1;
    add(...words);
  };
  signal.removeEventListener = (...words: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...words);
  };
  const fake = fakeApi(inTurn(cutOff, () => ok({})));
  assert.equal(await failureOf(fake, fake.api.readIdentity({}, { signal })), undefined);
  assert.deepEqual([fake.calls.length, listeners, fake.timers()], [2, 0, 0]);
});

test('calls that fail together move once to the next of several addresses when one does not answer', async () => {
  const nodes = ['http://one.example/api/v1/', 'http://two.example/api/v1'];
  const fake = fakeApi(({ url }) => (url.host === 'one.example' ? cutOff() : ok({})), { baseUrl: nodes });
  const calls = [fake.api.readIdentity(), fake.api.readIdentity()];
  assert.equal(await failureOf(fake, Promise.all(calls)), undefined);
  assert.deepEqual(
    fake.calls.map(({ url }) => url.href),
    [...Array(2).fill('http://one.example/api/v1/me'), ...Array(2).fill('http://two.example/api/v1/me')],
  );
});

test('errors contain neither the key nor the sent data', async () => {
  const fake = fakeApi(
    inTurn(() => refused(422, 'EMPTY_MESSAGE'), cutOff),
    { timeoutMs: 100 },
  );
  for (let index = 0; index < 2; index += 1) {
    const error = await failureOf(fake, fake.api.sendMessage(SEND));
    assertApiError(error);
    const shownText = `${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
    assert.ok(!/secret|Bread|3362222/.test(shownText), shownText);
  }
});
