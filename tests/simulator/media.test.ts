import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:https';
import { test } from 'node:test';
import { Fixture } from './fixture.ts';
import { trusting } from './test-client.ts';

const SHOP = '+33611111111';
const CUSTOMER = '+33622222222';
const CUSTOMER_ADDRESS = '33622222222@s.whatsapp.net';

test('attachments are uploaded over TLS and the phone reads the same bytes; the authority outlives a restart', async (context) => {
  const fixture = await Fixture.start(context);
  const ca = await fixture.control.mediaCa();
  const fetchAgent = trusting(ca);
  const client = await fixture.link(SHOP, { fetchAgent });
  const image = randomBytes(50_000);
  const document = randomBytes(3_333);
  const contents = [
    { image, caption: 'a picture', jpegThumbnail: '' },
    { document, mimetype: 'application/pdf', fileName: 'price list.pdf' },
  ];
  for (const content of contents) {
    const sentMessage = await client.socket.sendMessage(CUSTOMER_ADDRESS, content);
    await client.ack(sentMessage?.key.id ?? '');
  }
  const { items } = await fixture.control.inbox(CUSTOMER);
  assert.deepEqual(
    items.map(({ text, mediaType, mediaSha256 }) => ({ text, mediaType, mediaSha256 })),
    [
      { text: 'a picture', mediaType: 'image', mediaSha256: sha256(image) },
      { text: null, mediaType: 'document', mediaSha256: sha256(document) },
    ],
  );
  const status = { image, caption: 'Fresh', jpegThumbnail: '' };
  await client.ack(await client.post(status, await client.lidsOf([CUSTOMER])));
  assert.equal((await fixture.control.statuses(SHOP)).items[0]?.mediaSha256, sha256(image));
  await fixture.restart();
  assert.equal(await fixture.control.mediaCa(), ca);
  fetchAgent.destroy();
});

test('without the authority the upload fails, and a forged or unknown file is refused', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  await assert.rejects(
    client.socket.sendMessage(CUSTOMER_ADDRESS, { image: randomBytes(100), jpegThumbnail: '' }),
    /Media upload failed on all hosts/,
  );
  const { hosts, auth } = await client.socket.refreshMediaConn();
  const agent = trusting(await fixture.control.mediaCa());
  const base = `https://${hosts[0]?.hostname}/mms/image`;
  const nameOf = (body: string | Buffer): string => createHash('sha256').update(body).digest('base64url');
  const name = nameOf('content');
  // 100 MiB: the largest document that the sending component takes.
  const large = Buffer.alloc(100 * 1024 * 1024 + 26);
  const statuses = {
    'the right content': await post(`${base}/${name}?auth=${auth}`, 'content', agent),
    'a large document': await post(`${base}/${nameOf(large)}?auth=${auth}`, large, agent),
    'other content': await post(`${base}/${name}?auth=${auth}`, 'forged', agent),
    'a wrong secret': await post(`${base}/${name}?auth=guessed`, 'content', agent),
    'a path out of the folder': await post(`${base}/..%2f..%2fnetwork.jsonl?auth=${auth}`, 'x', agent),
  };
  assert.deepEqual(statuses, {
    'the right content': 200,
    'a large document': 200,
    'other content': 400,
    'a wrong secret': 401,
    'a path out of the folder': 404,
  });
  agent.destroy();
});

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

function post(url: string, body: string | Buffer, agent: ReturnType<typeof trusting>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: 'POST', agent }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    sending.once('error', reject);
    sending.end(body);
  });
}
