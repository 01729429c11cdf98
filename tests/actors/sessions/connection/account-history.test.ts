import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { proto } from '@whiskeysockets/baileys';
import {
  AccountHistory,
  type AccountHistoryOptions,
} from '../../../../actors/sessions/worker-thread/connection/account-history.ts';
import { SessionContext } from '../../../../actors/sessions/worker-thread/shared/session-context.ts';
import {
  type MediaEnvironment,
  newShopMemory,
  type SessionEnvironment,
} from '../../../../actors/sessions/worker-thread/shared/session-environment.ts';
import type { FairSlots, Slot } from '../../../../runtime/fair-slots.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';

const INLINE = proto.HistorySync.encode({ syncType: proto.HistorySync.HistorySyncType.RECENT }).finish();

test('a part that failed to download is retried in the same connection, at the next check of stored parts', async () => {
  const kept = new Map<string, Buffer>();
  let isAway = true;
  let told: (line: string) => void = () => undefined;
  const nextLine = (): Promise<string> => new Promise((resolve) => (told = resolve));
  const histories = fakeOf<FairSlots>({
    async run(_name, work) {
      if (isAway) throw new Error('the network told no file in time');
      return work(fakeOf<Slot>({}));
    },
  });
  const context = new SessionContext(
    {
      environment: fakeOf<SessionEnvironment>({
        clock: new FakeClock(),
        media: fakeOf<MediaEnvironment>({ histories }),
        post: (message) => void (message.kind === 'log' && told(message.message)),
      }),
      memory: newShopMemory(new FakeClock()),
      shop: { shard: 1, tenantId: 'tenant', shopId: 'shop' },
      opening: { generation: 1, clientVersion: undefined },
    },
    () => undefined,
  );
  const history = new AccountHistory({
    context,
    socket: { ev: { on: () => undefined } } as unknown as AccountHistoryOptions['socket'],
    credentials: {} as AccountHistoryOptions['credentials'],
    sealedStore: {
      find: async (_hash: string, name: string) => kept.get(name),
      async write({ fields }: { readonly fields: ReadonlyMap<string, Buffer | undefined> }) {
        for (const [name, value] of fields) if (value !== undefined) kept.set(name, value);
      },
      writeLater({ fields }: { readonly fields: ReadonlyMap<string, Buffer | undefined> }) {
        for (const name of fields.keys()) kept.delete(name);
      },
    } as unknown as AccountHistoryOptions['sealedStore'],
    bounds: {} as AccountHistoryOptions['bounds'],
  });
  const failed = nextLine();
  await history.storeNotice('A', { initialHistBootstrapInlinePayload: deflateSync(INLINE) });
  assert.equal(await failed, 'data of the account was not taken');
  assert.deepEqual([...kept.keys()], ['history-notice/A']);
  isAway = false;
  const taken = nextLine();
  history.resume([...kept.keys()]);
  assert.equal(await taken, 'the phone sent its history');
});
