import { deflateSync } from 'node:zlib';
import { proto } from '@whiskeysockets/baileys';
import { stanzaTime } from './clock.ts';
import { type Companion, numberOf, sessionAddress } from './companions.ts';
import type { Network } from './network.ts';
import { addressOf } from './numbers.ts';
import { takeBundle } from './pre-key-queries.ts';

/**
 * A phone sends a companion its history once, at its first login. This one is empty, but a client that syncs history
 * holds its events back until it has come, for up to 20 s.
 */
export async function sendHistory(network: Network, companion: Companion): Promise<void> {
  if (!network.companions.takeHistoryDue(companion)) return;
  const handset = network.handsets.of(companion.phone);
  const syncType = proto.HistorySync.HistorySyncType.INITIAL_BOOTSTRAP;
  const history = proto.HistorySync.encode({ syncType, chunkOrder: 1, progress: 100 }).finish();
  const message: proto.IMessage = {
    protocolMessage: {
      type: proto.Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION,
      historySyncNotification: {
        syncType,
        chunkOrder: 1,
        progress: 100,
        initialHistBootstrapInlinePayload: deflateSync(history),
      },
    },
  };
  const address = sessionAddress(companion);
  if (!(await handset.knows(address))) await handset.openSession(address, takeBundle(network, companion));
  network.deliveries.add({
    companionId: companion.id,
    messageId: network.newId(),
    attrs: {
      from: addressOf(numberOf(companion), 'pn'),
      type: 'text',
      category: 'peer',
      t: stanzaTime(network.clock),
    },
    envelopes: [await handset.encrypt(address, message)],
    source: { phone: companion.phone, plaintext: proto.Message.encode(message).finish() },
  });
}
