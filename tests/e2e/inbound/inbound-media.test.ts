/** Attachments that people send reach the tenant whole, or as broken, and nothing of them is kept. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { test } from 'node:test';
import type { ContactMessageCall } from '../../testbed/simulator-control.ts';
import { until } from '../../testbed/waiting.ts';
import { makeAccount } from '../stack/account.ts';
import { sharedStack } from '../stack/shared-stack.ts';

const SHOP_PHONE = '+33611110077';
const PERSON = '+33622220077';

const stack = sharedStack({ phone: SHOP_PHONE }, async () => {
  await stack.admin.patch(`/tenants/${stack.tenantId}`, { inbound: 'texts' });
});

interface Received {
  readonly id: string;
  readonly media: { readonly sha256: string; readonly size: number };
  /** The network's path of the file. */
  readonly path: string;
}

/** Sends a file from a contact and returns the tenant's event. */
async function receive(message: Omit<ContactMessageCall, 'to'>): Promise<Received> {
  const { path } = await stack.network.write(PERSON, { to: SHOP_PHONE, ...message });
  const { data } = await stack.api.get(`/shops/${stack.shopId}/inbound?limit=1`);
  const [newest] = data.items as Omit<Received, 'path'>[];
  assert.ok(newest);
  return { ...newest, path: path ?? '' };
}

const fetchMedia = (id: string, init: RequestInit = {}, key = stack.apiKey): Promise<Response> =>
  fetch(`${stack.apiUrl()}/inbound/${id}/media`, { ...init, headers: { authorization: `Bearer ${key}` } });

const bytesOf = async (response: Response): Promise<Uint8Array> =>
  new Uint8Array(await response.arrayBuffer());

const codeOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as { error: { code: string } }).error.code;

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

test('a file of any length and kind is returned byte for byte', async () => {
  const kinds = ['image', 'video', 'document', 'voice', 'sticker', 'video_note', 'audio'] as const;
  for (const [index, fileBytes] of [1, 15, 16, 17, 65_535, 65_536, 3_000_000].entries()) {
    const { id, media } = await receive({ kind: kinds[index] ?? 'image', fileBytes });
    const response = await fetchMedia(id);
    assert.equal(response.status, 200);
    const bytes = await bytesOf(response);
    assert.deepEqual([bytes.byteLength, sha256(bytes)], [fileBytes, media.sha256], `${fileBytes} bytes`);
  }
});

test('a browser saves the file and does not open it, for any type that its sender declares', async () => {
  const declared = [
    ['image/jpeg', 'image/jpeg'],
    ['audio/ogg; codecs=opus', 'audio/ogg'],
    ['text/html', 'application/octet-stream'],
    ['image/svg+xml', 'application/octet-stream'],
    ['image/jpeg\r\nX-Evil: 1', 'application/octet-stream'],
  ] as const;
  for (const [fileType, shown] of declared) {
    const fileName = '../../"sub\r\nX-Evil: 1"/été.html';
    const { id } = await receive({ kind: 'document', fileType, fileName });
    const { headers, body } = await fetchMedia(id);
    await body?.cancel();
    assert.equal(headers.get('content-type'), shown);
    assert.equal(
      headers.get('content-disposition'),
      "attachment; filename*=UTF-8''__.._%22sub__X-Evil%3A%201%22_%C3%A9t%C3%A9.html",
    );
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.match(headers.get('content-security-policy') ?? '', /sandbox/);
    assert.equal(headers.get('x-evil'), null);
  }
});

test('a file that the network dropped, moved, or never had is refused before the first byte', async () => {
  const { id, path } = await receive({ kind: 'image' });
  for (const [fault, status, code] of [
    ['gone', 404, 'MEDIA_GONE'],
    ['moved', 503, 'MEDIA_UNAVAILABLE'],
  ] as const) {
    await stack.network.spoilFile(path, fault);
    const response = await fetchMedia(id);
    assert.deepEqual([response.status, await codeOf(response)], [status, code]);
  }
  const text = await receive({ text: 'no file' });
  assert.equal(await codeOf(await fetchMedia(text.id)), 'MEDIA_NOT_FOUND');
  assert.equal(await codeOf(await fetchMedia('66b1f0a2c3d4e5f607182908')), 'MESSAGE_NOT_FOUND');
});

test('the reply breaks off if the file has other bytes or is cut off', async () => {
  const { id, path } = await receive({ kind: 'video', fileBytes: 400_000 });
  for (const fault of ['garbled', 'cut'] as const) {
    await stack.network.spoilFile(path, fault);
    const response = await fetchMedia(id);
    assert.equal(response.status, 200);
    await assert.rejects(bytesOf(response));
  }
  await stack.network.spoilFile(path, 'none');
  assert.equal((await bytesOf(await fetchMedia(id))).byteLength, 400_000);
});

test('a file that is too large is refused by its sender’s figure', async () => {
  const { id } = await receive({ kind: 'document', fileBytes: 100 * 1024 * 1024 + 1 });
  const response = await fetchMedia(id);
  assert.deepEqual([response.status, await codeOf(response)], [422, 'MEDIA_TOO_LARGE']);
});

test('four at a time for a tenant; a caller that leaves frees its slot, and its download ends', async () => {
  const { id, path } = await receive({ kind: 'video', fileBytes: 400_000 });
  await stack.network.spoilFile(path, 'stalled');
  const leaving = Array.from({ length: 4 }, () => new AbortController());
  const openResponses = await Promise.all(leaving.map(({ signal }) => fetchMedia(id, { signal })));
  assert.deepEqual(
    openResponses.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  assert.equal(await codeOf(await fetchMedia(id)), 'OVERLOADED');
  await until('the network gives four', async () => (await stack.network.downloads()) === 4);
  for (const controller of leaving) controller.abort();
  await until('the network is left', async () => (await stack.network.downloads()) === 0);
  await stack.network.spoilFile(path, 'none');
  await until('there is room', async () => (await fetchMedia(id)).status === 200);
});

test('ten seconds without a byte, from the network or to the reader, end the download', async (context) => {
  const { id, path } = await receive({ kind: 'video', fileBytes: 400_000 });
  await stack.network.spoilFile(path, 'stalled');
  const large = await receive({ kind: 'document', fileBytes: 40_000_000 });
  const leaving = new AbortController();
  const stalled = await fetchMedia(id);
  const unread = await fetchMedia(large.id, { signal: leaving.signal });
  assert.deepEqual([stalled.status, unread.status], [200, 200]);
  assert.equal(await stack.network.downloads(), 2);
  context.after(async () => {
    leaving.abort();
    await stack.network.spoilFile(path, 'none');
  });
  await assert.rejects(stalled.arrayBuffer());
  await until('the network is left', async () => (await stack.network.downloads()) === 0);
});

test('a slow reader gets the whole file, and the service asks for no more than it reads', async () => {
  const fileBytes = 40_000_000;
  const { id, media } = await receive({ kind: 'document', fileBytes });
  const hash = createHash('sha256');
  const url = new URL(`${stack.apiUrl()}/inbound/${id}/media`);
  await new Promise<void>((resolve, reject) => {
    const call = request(url, { headers: { authorization: `Bearer ${stack.apiKey}` } }, (response) => {
      // Until it reads, buffers alone are full: the network still has most of it.
      response.pause();
      void until('the network waits', async () => (await stack.network.downloads()) === 1).then(() => {
        response.on('data', (piece: Buffer) => hash.update(piece));
        response.on('end', resolve).on('error', reject);
        response.resume();
      }, reject);
    });
    call.on('error', reject).end();
  });
  assert.equal(hash.digest('hex'), media.sha256);
});

test('HEAD has the status and the headers of GET, and leaves the network at once', async () => {
  const { id, path } = await receive({ kind: 'image', fileBytes: 400_000 });
  for (const [fault, status, type] of [
    ['stalled', 200, 'image/jpeg'],
    ['gone', 404, 'application/json; charset=utf-8'],
    ['moved', 503, 'application/json; charset=utf-8'],
  ] as const) {
    await stack.network.spoilFile(path, fault);
    const response = await fetchMedia(id, { method: 'HEAD' });
    assert.deepEqual([response.status, response.headers.get('content-type')], [status, type]);
    await until('the network is left', async () => (await stack.network.downloads()) === 0);
  }
});

test('an attachment is refused without a session, without the permission, and to another tenant’s key', async () => {
  const { id } = await receive({ kind: 'image' });
  const key = await stack.admin.post(`/tenants/${stack.tenantId}/keys`, {
    name: 'states',
    permissions: ['messages.read'],
    limits: { minute: 600, hour: 6_000, day: 60_000 },
  });
  assert.equal(await codeOf(await fetchMedia(id, {}, String(key.data.key))), 'FORBIDDEN_PERMISSION');
  const otherAccount = await makeAccount(stack.admin);
  assert.equal(await codeOf(await fetchMedia(id, {}, otherAccount.apiKey)), 'MESSAGE_NOT_FOUND');
  await stack.api.post(`/shops/${stack.shopId}/channels/msgapp/disconnect`);
  const away = await fetchMedia(id);
  assert.deepEqual([away.status, await codeOf(away)], [503, 'MSGAPP_NOT_CONNECTED']);
});
