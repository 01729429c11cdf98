import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_CONNECTION_CONFIG, initAuthCreds, type SignalDataSet } from '@whiskeysockets/baileys';
import { boundMappings } from '../../actors/sessions/worker-thread/connection/client-memory.ts';
import { quietLogger } from '../../actors/sessions/worker-thread/session/silent-logger.ts';

test('a client remembers 4,000 entries of contacts’ ids, and reads the others from the store', async () => {
  const stored = new Map<string, string>();
  const keys = {
    get: async (_type: string, ids: string[]) =>
      Object.fromEntries(ids.flatMap((id) => (stored.has(id) ? [[id, stored.get(id)]] : []))),
    set: async (data: SignalDataSet) => {
      for (const [id, value] of Object.entries(data['lid-mapping'] ?? {})) stored.set(id, String(value));
    },
    transaction: (work: () => Promise<unknown>) => work(),
    isInTransaction: () => false,
  };
  const client = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
    { creds: initAuthCreds(), keys: keys as never },
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
