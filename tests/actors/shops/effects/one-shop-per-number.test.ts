/** Several shops of one tenant connect one number at the same moment. The shop that was paired first keeps it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { confirmNumber } from '../../../../actors/shops/effects/one-shop-per-number.ts';
import type { Actors } from '../../../../runtime/actors.ts';
import type { Address } from '../../../../runtime/address.ts';
import { QuietLog } from '../../../testbed/quiet-log.ts';

const tenantId = '66b1f0a2c3d4e5f6071829a0';
const PHONE = '33600000001';

const shopOf = ({ id }: Address): string => id.slice(id.indexOf('/') + 1);

/** Confirms the number of shops, given when each was paired and what it is. Returns which lose it, and to whom. */
async function losers(
  shops: Readonly<Record<string, { pairedAtMs: number; phone?: string; value?: string }>>,
): Promise<string[]> {
  const told: string[] = [];
  const actors = {
    state: async () => ({ shops: new Map(Object.keys(shops).map((shopId) => [shopId, {}])) }),
    peek: (address: Address) => {
      const { value = 'connected', phone = PHONE, pairedAtMs = 0 } = shops[shopOf(address)] ?? {};
      return { channel: { value, context: { phone, pairedAtMs } } };
    },
    tell: (address: Address, { by }: { readonly by: string }) =>
      void told.push(`${shopOf(address)} to ${by}`),
  } as unknown as Actors;
  const log = new QuietLog();
  confirmNumber({ tenantId, shopId: 'any' }, PHONE, { actors, log });
  await nextTurn();
  assert.deepEqual(log.warnings, []);
  return told;
}

test('the shop that was paired first keeps the number, in any order of the shops', async () => {
  const times = { a: { pairedAtMs: 3 }, b: { pairedAtMs: 1 }, c: { pairedAtMs: 2 } };
  assert.deepEqual(await losers(times), ['c to b', 'a to b']);
  const others = { d: { pairedAtMs: 1 }, e: { pairedAtMs: 2 } };
  assert.deepEqual(await losers(others), ['e to d']);
  const same = { g: { pairedAtMs: 1 }, f: { pairedAtMs: 1 } };
  assert.deepEqual(await losers(same), ['g to f']);
});

test('shops with another number, and shops that are not connected, keep what they have', async () => {
  const shops = {
    a: { pairedAtMs: 2 },
    b: { pairedAtMs: 1, phone: '33600000002' },
    c: { pairedAtMs: 1, value: 'reconnecting' },
  };
  assert.deepEqual(await losers(shops), []);
});
