import assert from 'node:assert/strict';
import { test } from 'node:test';
import { egressText, readEgressAddress, shownEgress } from '../../../actors/egress-address.ts';
import { credentialCiphers } from '../../../actors/sessions/credential-cipher.ts';
import { egressVault } from '../../../actors/sessions/egress-vault.ts';
import { channelView } from '../../../actors/shops/operations/channel-view.ts';
import { shopAddress } from '../../../actors/shops/records/shop-keys.ts';
import { loadShop } from '../../../actors/shops/state/load-shop.ts';
import { channelState } from '../../../actors/shops/state/shop-state.ts';
import { describeShop } from '../../../actors/shops/turns/describe-shop.ts';
import type { Store } from '../../../runtime/store.ts';
import { fakeOf } from '../../testbed/fake-of.ts';
import { readsBy } from '../../testbed/reads-by.ts';
import { ShopHarness, testEgressVault } from './shop-harness.ts';

const ADDRESS = 'socks5://bakery:s3cret@proxy.example:1080';

function egressOf(shop: ShopHarness, text = ADDRESS) {
  const address = readEgressAddress(text);
  assert.ok(address, text);
  return testEgressVault.seal(shop.state.shop, address);
}

const opened = (shop: ShopHarness) =>
  shop.effects.flatMap((effect) => (effect.type === 'open' ? [effect.opening] : []));

test('an address of a proxy is read in one form, and shown without its password', () => {
  const cases = {
    'socks5://u:p@proxy.example:1080': 'socks5://u:***@proxy.example:1080',
    'SOCKS5://u:p%40ss@PROXY.example:1080/': 'socks5://u:***@proxy.example:1080',
    'http://10.0.0.7:3128': 'http://10.0.0.7:3128',
    'http://[::1]:3128': 'http://[::1]:3128',
    'http://u%3Ax:p@h.example:80': undefined,
    'socks5://u@proxy.example:1080': undefined,
    'socks5://proxy.example': undefined,
    'socks5://u:p@proxy.example:0': undefined,
    'socks5://u:p@proxy.example:65536': undefined,
    'socks5://u:%0a@proxy.example:1080': undefined,
    'socks5://u:%zz@proxy.example:1080': undefined,
    'https://u:p@proxy.example:443': undefined,
    'socks4://proxy.example:1080': undefined,
    'socks5://u:p@proxy.example:1080/path': undefined,
    [`socks5://u:${'p'.repeat(256)}@proxy.example:1080`]: undefined,
    '': undefined,
  };
  for (const [text, shown] of Object.entries(cases)) {
    const address = readEgressAddress(text);
    assert.equal(address && shownEgress(address), shown, text);
    if (address !== undefined) assert.deepEqual(readEgressAddress(egressText(address)), address);
  }
});

test('a new egress is stored sealed, and opens the session again once, by itself alone', async () => {
  const shop = await ShopHarness.connected();
  const countBefore = opened(shop).length;
  const egress = egressOf(shop);
  shop.command({ type: 'set_egress', egress });
  assert.equal(channelState(shop.state), 'starting');
  assert.deepEqual(
    opened(shop)
      .slice(countBefore)
      .map((opening) => opening.egress),
    [egress.sealed],
  );
  assert.ok(!JSON.stringify([shop.writes, shop.effects]).includes('s3cret'));
  assert.equal(describeShop(shop.state).egress, 'socks5://bakery:***@proxy.example:1080');
  const next = await shop.successor('store');
  assert.equal(opened(next).at(-1)?.egress, egress.sealed);
  next.command({ type: 'set_egress', egress: undefined });
  assert.equal(opened(next).at(-1)?.egress, undefined);
  assert.equal((await next.successor('store')).state.egress, undefined);
});

test('a program that knows no egress refuses a shop that has one', async () => {
  const shop = await ShopHarness.connected();
  const versions = () =>
    shop.writes.flatMap((write) => {
      const [, text = ''] = /"version":(\d)/.exec(JSON.stringify(write).replaceAll('\\', '')) ?? [];
      return text === '' ? [] : [text];
    });
  assert.equal(versions().at(-1), '2');
  shop.command({ type: 'disconnect' });
  shop.command({ type: 'set_egress', egress: egressOf(shop) });
  assert.equal(versions().at(-1), '3', 'also where no session is to be opened');
  shop.command({ type: 'set_egress', egress: undefined });
  assert.equal(versions().at(-1), '2');
});

test('a dead egress is reported as the reason, and retried like a lost connection', async () => {
  const shop = await ShopHarness.connected();
  shop.command({ type: 'set_egress', egress: egressOf(shop) });
  const id = shop.send();
  shop.session({ type: 'session.closed', end: 'egress_unreachable', statusCode: undefined, detail: 'd' });
  assert.equal(channelState(shop.state), 'reconnecting');
  assert.equal((await channelView(shop.state, async () => '')).reason, 'EGRESS_UNREACHABLE');
  assert.equal(shop.statusOf(id), 'queued');
  shop.pass(1_000);
  assert.equal(opened(shop).at(-1)?.egress, shop.state.egress?.sealed);
  shop.command({ type: 'set_egress', egress: egressOf(shop, 'http://other.example:3128') });
  assert.equal((await channelView(shop.state, async () => '')).reason, undefined);
  assert.equal(shop.state.channel.context.attempts, 0);
});

test('a shop without a session, or whose login is refused, is opened by no new egress', async () => {
  const shop = await ShopHarness.start();
  shop.command({ type: 'set_egress', egress: egressOf(shop) });
  assert.deepEqual(opened(shop), []);
  const refusedHarness = await ShopHarness.connected();
  refusedHarness.session({ type: 'session.closed', end: 'login_refused', statusCode: 409, detail: '' });
  const countBefore = opened(refusedHarness).length;
  refusedHarness.command({ type: 'set_egress', egress: egressOf(refusedHarness) });
  assert.equal(opened(refusedHarness).length, countBefore);
});

test('an egress follows a new CREDENTIALS_KEY; a shop whose egress no key opens cannot connect', async () => {
  const [olderBytes, newerBytes] = [Buffer.alloc(32, 1), Buffer.alloc(32, 9)];
  const shop = await ShopHarness.connected();
  shop.command({ type: 'set_egress', egress: egressOf(shop) });
  const store = { read: readsBy((read) => shop.redis.run(read)) };
  const load = (keys: readonly Buffer[]) =>
    loadShop(
      shopAddress(shop.state.shop),
      fakeOf<Store>(store),
      shop.nowMs,
      egressVault(credentialCiphers(keys)),
    );
  const rotatedState = await load([newerBytes, olderBytes]);
  assert.notEqual(rotatedState?.egress?.sealed, shop.state.egress?.sealed);
  assert.deepEqual(rotatedState?.unstored, [
    ['HSET', shop.state.keys.shop, 'egress', rotatedState?.egress?.sealed],
  ]);
  const aloneVault = egressVault(credentialCiphers([newerBytes]));
  assert.equal(egressText(aloneVault.open(shop.state.shop, rotatedState?.egress?.sealed ?? '')), ADDRESS);
  const unreadable = await load([newerBytes]);
  assert.deepEqual(unreadable?.egress, { sealed: shop.state.egress?.sealed, shown: null });
  assert.deepEqual(unreadable?.unstored, []);
});
