import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  DEFAULT_CONNECTION_CONFIG,
  initAuthCreds,
  type SignalDataTypeMap,
  type SignalKeyStoreWithTransaction,
} from '@whiskeysockets/baileys';
import { boundMappings } from '../../../../actors/sessions/worker-thread/connection/client-memory.ts';
import { quietLogger } from '../../../../actors/sessions/worker-thread/shared/silent-logger.ts';

test('a client remembers 4,000 entries of contacts’ ids, and reads the others from the store', async () => {
  const stored = new Map<string, string>();
  const keys: SignalKeyStoreWithTransaction = {
    get: async <Type extends keyof SignalDataTypeMap>(_type: Type, ids: string[]) => {
      const known = ids.flatMap((id) => (stored.has(id) ? [[id, stored.get(id)]] : []));
      return Object.fromEntries(known) as Record<string, SignalDataTypeMap[Type]>;
    },
    set: async (data) => {
      for (const [id, value] of Object.entries(data['lid-mapping'] ?? {})) stored.set(id, String(value));
    },
    transaction: (work) => work(),
    isInTransaction: () => false,
  };
  const client = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
    { creds: initAuthCreds(), keys },
    quietLogger,
    async () => [],
  );
  boundMappings(client);
  const pairs = Array.from({ length: 10_000 }, (_, index) => ({
    pn: `${33_700_000_000 + index}@s.whatsapp.net`,
    lid: `${100_000_000_000 + index}@lid`,
  }));
  await client.lidMapping.storeLIDPNMappings(pairs);
  const { mappingCache } = client.lidMapping as unknown as { mappingCache: { size: number } };
  assert.equal(mappingCache.size, 4_000);
  const [oldest] = pairs;
  assert.equal(await client.lidMapping.getLIDForPN(oldest?.pn ?? ''), oldest?.lid);
});
