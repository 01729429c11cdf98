import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { encodeMachines } from '../../../actors/shops/machines/shop-machines.ts';
import { listMessages } from '../../../actors/shops/operations/message-list.ts';
import { readMessages } from '../../../actors/shops/records/message-days.ts';
import { shopAddress, shopKeys } from '../../../actors/shops/records/shop-keys.ts';
import { loadShop } from '../../../actors/shops/state/load-shop.ts';
import { shardOf } from '../../../runtime/address.ts';
import { type Golden, goldenStore, goldenTenant, readGolden } from '../../actors/golden/golden-store.ts';
import { testEgressVault } from '../../actors/shops/shop-harness.ts';
import type { Draw } from '../draw.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { NOW_MS, READERS, SAMPLES } from './record-readers.ts';

/**
 * Stored records that an earlier or later program, or an operator at Redis, may leave. A read either succeeds or is
 * refused with an error of the reader. It takes no unbounded stack or memory. A later version is refused by name.
 */
export const records: FuzzTarget = {
  name: 'records',
  async open() {
    const goldens = [readGolden(1), readGolden(2)];
    const texts = goldens.flatMap(({ keys }) => Object.values(keys).flatMap(({ value }) => textsOf(value)));
    const otherBytes = texts.map((text) => Buffer.from(text));
    return {
      async tryCase(draw, note) {
        // Readers that await nothing would keep the process from all else.
        await nextTurn();
        if (draw.isOneIn(4)) return tryWhole(draw, note);
        const [name, read] = draw.pick(Object.entries(READERS));
        const whole = draw.isOneIn(2) ? (SAMPLES[name] ?? draw.pick(texts)) : draw.pick(texts);
        const text = draw.isOneIn(5) ? String(draw.odd()) : changedText(draw, whole, otherBytes);
        note({ name, text });
        await refusedOrRead(() => read(text, draw));
      },
      close: async () => undefined,
    };
  },
};

async function refusedOrRead(read: () => unknown): Promise<void> {
  try {
    await read();
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
  if (shop !== undefined) await refusedOrRead(() => encodeMachines(shop, NOW_MS));
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
    const offset = draw.int(value.length);
    return value.map((text, index) => (index === offset ? changedText(draw, text, []) : text));
  }
  const name = draw.pick(Object.keys(value));
  return { ...value, [name]: changedText(draw, value[name] ?? '', []) };
}

function changedText(draw: Draw, text: string, otherBuffers: readonly Buffer[]): string {
  if (draw.isOneIn(3)) {
    try {
      return JSON.stringify(draw.mutatedJson(JSON.parse(text))) ?? '';
    } catch {
      // It is no JSON.
    }
  }
  return draw.mutated(Buffer.from(text), otherBuffers).toString();
}
