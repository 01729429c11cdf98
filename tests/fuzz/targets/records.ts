import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { encodeMachines } from '../../../actors/shops/machines/shop-machines.ts';
import { listMessages } from '../../../actors/shops/service/message-list.ts';
import { decodeBatches } from '../../../actors/shops/state/batches.ts';
import { decodeCarried } from '../../../actors/shops/state/carried-message.ts';
import { loadShop } from '../../../actors/shops/state/load-shop.ts';
import { readMessages } from '../../../actors/shops/state/message-days.ts';
import { decodeReceipts } from '../../../actors/shops/state/message-receipts.ts';
import { decodeMessage } from '../../../actors/shops/state/message-record.ts';
import { decodeNumberUse } from '../../../actors/shops/state/number-use.ts';
import { decodeNotices } from '../../../actors/shops/state/opt-out-notice.ts';
import { decodePooled } from '../../../actors/shops/state/pooled-message.ts';
import { decodeScheduled } from '../../../actors/shops/state/scheduled-sends.ts';
import { decodeSent } from '../../../actors/shops/state/sent-index.ts';
import { shopAddress, shopKeys } from '../../../actors/shops/state/shop-keys.ts';
import { readLedger } from '../../../actors/shops/state/stored-ledger.ts';
import { decodeLimits } from '../../../actors/shops/state/stored-limits.ts';
import { decodeUndelivered } from '../../../actors/shops/state/undelivered.ts';
import { decodeWriter } from '../../../actors/shops/state/writer.ts';
import { decodeContact } from '../../../actors/tenants/contact-record.ts';
import { decodeEvent } from '../../../actors/tenants/tenant-event.ts';
import { decodeForwarded, decodeOwnedReply } from '../../../http/owner/forwarded-form.ts';
import { DeclarationLedger } from '../../../policy/declaration-limits.ts';
import { decodeEntry } from '../../../policy/ledger-entry.ts';
import { KeyLimits } from '../../../policy/limits/key-limits.ts';
import { QuotaMeter } from '../../../policy/limits/quota-meter.ts';
import { decodeWholeNumbers } from '../../../policy/limits/whole-numbers-text.ts';
import { shardOf } from '../../../runtime/address.ts';
import { parseRecord } from '../../../runtime/engine.ts';
import { type Golden, goldenStore, goldenTenant, readGolden } from '../../actors/golden/golden-store.ts';
import { testEgressVault } from '../../actors/shop-harness.ts';
import type { Draw } from '../draw.ts';
import type { FuzzTarget } from '../fuzz-target.ts';

const NOW_MS = 1_800_000_000_000;
/** Every reader of a stored text, or of the texts of a hash. */
const READERS: Readonly<Record<string, (text: string, draw: Draw) => unknown>> = {
  batches: (text) => decodeBatches(['66b1f0a2c3d4e5f60718293a', text]),
  scheduled: (text) => decodeScheduled(['66b1f0a2c3d4e5f60718293a', text]),
  carried: (text, draw) => decodeCarried([text, draw.isOneIn(2) ? null : text]),
  message: (text, draw) =>
    decodeMessage('66b1f0a2c3d4e5f60718293a', [text, draw.isOneIn(2) ? null : text, null] as never),
  receipts: (text) => decodeReceipts(text),
  numberUse: (text) => decodeNumberUse(text),
  notices: (text) => decodeNotices([text]),
  pooled: (text) => decodePooled(['66b1f0a2c3d4e5f60718293a', text], () => 0),
  sent: (text) => decodeSent(text, NOW_MS),
  limits: (text) => decodeLimits(text),
  ledger: (text) => readLedger([text], NOW_MS),
  entry: (text) => decodeEntry(text),
  undelivered: (text) => decodeUndelivered(text),
  writer: (text) => decodeWriter(text),
  contact: (text) => decodeContact(text),
  event: (text) => decodeEvent(['1-1', ['t', text, 's', 'shop', 'd', text]]),
  forwarded: (text) => decodeForwarded(text),
  reply: (text) => decodeOwnedReply(text),
  declared: (text) => DeclarationLedger.restore([text], NOW_MS),
  keyWindows: (text) => new KeyLimits().restore({ keyId: 'k', state: text, nowMs: NOW_MS }),
  quota: (text) => QuotaMeter.restore(text, NOW_MS),
  wholeNumbers: (text) => decodeWholeNumbers(text),
  shard: (text) => parseRecord(text),
};

/**
 * Stored records that an earlier or later program, or an operator at Redis, may leave. A read either succeeds or is
 * refused with an error of the reader. It takes no unbounded stack or memory. A later version is refused by name.
 */
export const records: FuzzTarget = {
  name: 'records',
  async open() {
    const goldens = [readGolden(1), readGolden(2)];
    const texts = goldens.flatMap(({ keys }) => Object.values(keys).flatMap(({ value }) => textsOf(value)));
    const others = texts.map((text) => Buffer.from(text));
    return {
      async tryCase(draw, note) {
        // Readers that await nothing would keep the process from all else.
        await nextTurn();
        if (draw.isOneIn(4)) return tryWhole(draw, note);
        const [name, read] = draw.pick(Object.entries(READERS));
        const text = draw.isOneIn(5) ? String(draw.odd()) : changedText(draw, draw.pick(texts), others);
        note({ name, text });
        refusedOrRead(() => read(text, draw));
      },
      close: async () => undefined,
    };
  },
};

function refusedOrRead(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    assertRefusal(error);
  }
}

/** A reader may refuse what it cannot read; running out of stack or memory is no refusal. */
function assertRefusal(error: unknown): void {
  assert.ok(error instanceof Error, String(error));
  assert.ok(!/call stack|array length|string length|allocation/i.test(error.message), error.stack);
}

/** A whole tenant and shop, of which one stored value is changed. */
async function tryWhole(draw: Draw, note: (input: unknown) => void): Promise<void> {
  const golden = readGolden(draw.pick([1, 2]));
  const [key, entry] = draw.pick(Object.entries(golden.keys));
  entry.value = changedValue(draw, entry.value);
  note({ key, value: entry.value });
  const store = goldenStore(golden);
  const { shard } = shopAddress(golden);
  assert.equal(shard, shardOf(golden.tenantId));
  await goldenTenant(golden).catch(assertRefusal);
  const shop = await loadShop(shopAddress(golden), store, NOW_MS, testEgressVault).catch(assertRefusal);
  if (shop !== undefined) refusedOrRead(() => encodeMachines(shop, NOW_MS));
  await readMessages(shard, golden.messages, store).catch(assertRefusal);
  const listed = { shard, keys: shopKeys(shard, golden.shopId) };
  await listMessages(listed, store, { status: undefined, limit: 10, cursor: undefined }).catch(assertRefusal);
}

type Stored = Golden['keys'][string]['value'];

function textsOf(value: Stored): string[] {
  return typeof value === 'string' ? [value] : Object.values(value);
}

function changedValue(draw: Draw, value: Stored): Stored {
  if (typeof value === 'string') return changedText(draw, value, []);
  if (Array.isArray(value)) {
    const at = draw.int(value.length);
    return value.map((text, index) => (index === at ? changedText(draw, text, []) : text));
  }
  const name = draw.pick(Object.keys(value));
  return { ...value, [name]: changedText(draw, value[name] ?? '', []) };
}

function changedText(draw: Draw, text: string, others: readonly Buffer[]): string {
  if (draw.isOneIn(3)) {
    try {
      return JSON.stringify(draw.mutatedJson(JSON.parse(text))) ?? '';
    } catch {
      // It is no JSON.
    }
  }
  return draw.mutated(Buffer.from(text), others).toString();
}
