/**
 * A person links a device or unlinks one, and the network reports it in one of several forms. The next message goes to
 * the person's present devices, although the former ones would be known for minutes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BinaryNode, encodeBinaryNode } from '@whiskeysockets/baileys';
import { linkedClient, type TestClient } from '../../../simulator/test-client.ts';
import { until } from '../../../testbed/waiting.ts';
import { SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';

const PERSON = '+33622222222';
const NUMBER = '33622222222@s.whatsapp.net';
/** The devices of a message: the person's phone and the shop's own phone. */
const PHONES = 2;

const list = (ts: string, content?: Uint8Array): BinaryNode => ({
  tag: 'key-index-list',
  attrs: { ts },
  ...(content === undefined ? {} : { content }),
});

// Shapes: oxidezap/whatsapp-rust, wacore/src/stanza/devices.rs (`test_parse_add_notification_with_key_bytes`,
// `test_parse_update_notification`, `test_remove_priority_over_add`, `test_parse_remove_notification`).
const LINKED = {
  'an addition, named by number': (lid, device) => ({
    attrs: { from: NUMBER, lid },
    content: [
      {
        tag: 'add',
        attrs: {},
        content: [
          { tag: 'device', attrs: { jid: `33622222222:${device}@s.whatsapp.net`, 'key-index': '5' } },
          list('999', Uint8Array.of(1, 2, 3)),
        ],
      },
    ],
  }),
  'a change without a device': (lid) => ({
    attrs: { from: NUMBER, lid },
    content: [{ tag: 'update', attrs: { hash: 'abcd' } }],
  }),
} satisfies { [form: string]: Report };

/** Returns a notification about a person's device. */
type Report = (
  lid: string,
  device: string,
) => { readonly attrs: Record<string, string>; readonly content: BinaryNode[] };

const UNLINKED: Report = (lid, device) => ({
  attrs: { from: lid },
  content: [
    {
      tag: 'remove',
      attrs: {},
      content: [{ tag: 'device', attrs: { jid: `${lid.split('@')[0]}:${device}@lid` } }, list('1769296600')],
    },
  ],
});

test('the next message goes to the devices that a person has now, in whichever form the change is reported', async (context) => {
  const clients: TestClient[] = [];
  context.after(async () => {
    for (const client of clients) await client.end();
  });
  const { control, simulator, outcomeOf } = await pairedShop(context);
  let count = 0;
  /** Sends a text, and returns the number of devices that it was for. */
  const devicesReached = async (): Promise<number> => {
    const before = await deliveries();
    count += 1;
    const outcome = await outcomeOf(textOrder(`text ${count}`, { to: PERSON }));
    assert.deepEqual(outcome, { kind: 'acknowledged' });
    return (await deliveries()) - before;
  };
  const deliveries = async (): Promise<number> => {
    const session = (await control.sessions()).items.find(({ phone }) => phone === SHOP_PHONE);
    return session?.sent.deliveries ?? 0;
  };
  const report = async (change: Report, client: TestClient): Promise<void> => {
    const [user = '', device = ''] = (client.auth.creds.me?.lid ?? '').split('@')[0]?.split(':') ?? [];
    const { attrs, content } = change(`${user}@lid`, device);
    const notification = {
      tag: 'notification',
      attrs: { type: 'devices', id: `N${count}`, t: '1', ...attrs },
      content,
    };
    await control.sendFrame(SHOP_PHONE, encodeBinaryNode(notification));
  };
  const untilReached = (expected: number, form: string) =>
    until(`${form}: ${expected} devices`, async () => (await devicesReached()) === expected);
  assert.equal(await devicesReached(), PHONES);
  for (const [form, changeOf] of Object.entries(LINKED)) {
    const client = await linkedClient(simulator, (qr) => control.scan(qr, PERSON));
    clients.push(client);
    assert.equal(await devicesReached(), PHONES + clients.length - 1, 'not known before it is reported');
    await report(changeOf, client);
    await untilReached(PHONES + clients.length, form);
  }
  const removedClient = clients.pop();
  assert.ok(removedClient);
  await removedClient.socket.logout();
  await report(UNLINKED, removedClient);
  await untilReached(PHONES + clients.length, 'a removal');
  await clients[0]?.received(`text ${count}`);
});
