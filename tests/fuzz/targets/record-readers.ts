import { readOptOuts, readPast, readStoredMachines } from '../../../actors/shops/number-past/number-past.ts';
import { decodeNumberUse } from '../../../actors/shops/number-past/number-use.ts';
import { readBatches } from '../../../actors/shops/reading/batch-reading.ts';
import { decodeCarried } from '../../../actors/shops/records/carried-message.ts';
import { inboundOwner, readInboundRecords } from '../../../actors/shops/records/inbound-records.ts';
import { decodeReceipts } from '../../../actors/shops/records/message-receipts.ts';
import { decodeMessage } from '../../../actors/shops/records/message-record.ts';
import { decodeSent } from '../../../actors/shops/records/sent-index.ts';
import { shopKeys } from '../../../actors/shops/records/shop-keys.ts';
import { decodeWriter } from '../../../actors/shops/records/writer.ts';
import { decodeBatches } from '../../../actors/shops/state/batches.ts';
import { decodeNotices } from '../../../actors/shops/state/opt-out-notice.ts';
import { decodePooled } from '../../../actors/shops/state/pooled-message.ts';
import { decodeScheduled } from '../../../actors/shops/state/scheduled-sends.ts';
import { readLedger } from '../../../actors/shops/state/stored-ledger.ts';
import { decodeLimits } from '../../../actors/shops/state/stored-limits.ts';
import { decodeUndelivered } from '../../../actors/shops/state/undelivered.ts';
import { decodeContact } from '../../../actors/tenants/contact-record.ts';
import { decodeEvent } from '../../../actors/tenants/stored-events/tenant-event.ts';
import { decodeProgress, ofShops } from '../../../actors/tenants/stored-webhooks/webhook-progress.ts';
import { firstProgress } from '../../../actors/webhooks/progress.ts';
import { webhookAccess } from '../../../actors/webhooks/webhook-access.ts';
import {
  type WebhookDeliveriesOptions,
  webhookDeliveries,
} from '../../../actors/webhooks/webhook-deliveries.ts';
import { decodeForwarded, decodeOwnerReply } from '../../../http/owner/forwarded-form.ts';
import { DeclarationLedger } from '../../../policy/declaration-limits.ts';
import { decodeEntry } from '../../../policy/ledger-entry.ts';
import { KeyLimits } from '../../../policy/limits/key-limits.ts';
import { QuotaMeter } from '../../../policy/limits/quota-meter.ts';
import { decodeWholeNumbers } from '../../../policy/limits/whole-numbers-text.ts';
import type { Actors } from '../../../runtime/actors.ts';
import { parseRecord } from '../../../runtime/engine.ts';
import type { Read, Store } from '../../../runtime/store.ts';
import { webhookRecord } from '../../actors/webhooks/endpoint-world.ts';
import { fakeOf } from '../../testbed/fake-of.ts';
import { readsBy } from '../../testbed/reads-by.ts';
import type { Draw } from '../draw.ts';

/** The present for the readers of stored records. */
export const NOW_MS = 1_800_000_000_000;
/** These reads ask no actor. */
const NO_ACTORS = {} as Actors;
const ID = '66b1f0a2c3d4e5f60718293a';
/** Every reader of a stored text, or of the texts of a hash. */
export const READERS: Readonly<Record<string, (text: string, draw: Draw) => unknown>> = {
  webhookProgress: async (text) => {
    ofShops(decodeProgress(text), new Set([ID]));
    await webhookAccess({ actors: NO_ACTORS, store: answering(() => [text]) }).viewOf(ID, webhookRecord());
  },
  webhookAttempt: (text) =>
    webhookDeliveries(
      { store: answering(() => [['1-1', ['w', 'hook', 'd', text]]]) } as unknown as WebhookDeliveriesOptions,
      {
        ...webhookAccess({ actors: NO_ACTORS, store: answering(() => [null]) }),
        withWebhook: (_tenantId, _webhookId, answer) => answer(webhookRecord(), true),
      },
    ).attempts(ID, 'hook', 10),
  storedBatch: (text, draw) => {
    const store = answering(() => [
      draw.pick([text, '{}']),
      draw.pick([text, null]),
      draw.pick([text, null]),
    ]);
    return readBatches([ID], { keys: shopKeys(0, ID), store });
  },
  inbound: (text, draw) => {
    inboundOwner(text);
    const store = answering(() => [draw.pick([text, `${ID} ${ID} person ${text}`]), draw.pick([text, null])]);
    return readInboundRecords(0, [ID], { store, vault: { open: () => text } });
  },
  numberPast: async (text, draw) => {
    const fields = ['+33612345678', text, text, text];
    const answers: Record<string, unknown> = { HGETALL: fields, HSCAN: ['0', fields], HGET: text };
    const store = answering(([command]) => answers[command] ?? [text]);
    const machines = await readStoredMachines(
      0,
      ID,
      answering(() => null),
    );
    const left = draw.isOneIn(2) ? {} : { left: { atMs: NOW_MS, warmupSinceMs: null } };
    await readOptOuts({ shard: 0, store }, ID);
    await readPast({ shopId: ID, ...left }, machines, { shard: 0, store, nowMs: NOW_MS });
  },
  batches: (text) => decodeBatches(['66b1f0a2c3d4e5f60718293a', text]),
  scheduled: (text) => decodeScheduled(['66b1f0a2c3d4e5f60718293a', text]),
  carried: (text, draw) => decodeCarried([text, draw.isOneIn(2) ? null : text]),
  message: (text, draw) =>
    decodeMessage('66b1f0a2c3d4e5f60718293a', [text, draw.isOneIn(2) ? null : text, null]),
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
  reply: (text) => decodeOwnerReply(text),
  declared: (text) => DeclarationLedger.restore([text], NOW_MS),
  keyWindows: (text) => new KeyLimits().restore({ keyId: 'k', state: text, nowMs: NOW_MS }),
  quota: (text) => QuotaMeter.restore(text, NOW_MS),
  wholeNumbers: (text) => decodeWholeNumbers(text),
  shard: (text) => parseRecord(text),
};

/** A whole record of readers whose records no golden file has. */
export const SAMPLES: Readonly<Record<string, string>> = {
  webhookProgress: JSON.stringify({
    ...firstProgress({ since: '1-1', enabledAtMs: 0 }),
    failingSinceMs: NOW_MS,
    missedUntilMs: NOW_MS,
    retries: [{ place: '1-1', shopId: ID, tries: 1, dueAtMs: NOW_MS }],
    dead: [`1-1 ${ID}`],
  }),
  webhookAttempt: JSON.stringify({
    eventId: ID,
    type: 'queue.resumed',
    atMs: NOW_MS,
    durationMs: 9,
    number: 1,
    status: 500,
    error: 'the endpoint answered 500',
    isDead: false,
  }),
  storedBatch: JSON.stringify([{ to: '+33612345678', code: 'VALIDATION_ERROR' }]),
  inbound: JSON.stringify({
    from: '+33612345678',
    lid: null,
    name: 'Ana',
    atMs: NOW_MS,
    kind: 'text',
    text: 'hello',
    replyTo: null,
    media: null,
    wireId: '3EB0C767D26A1D1F',
  }),
  numberPast: JSON.stringify({ lastInboundAtMs: NOW_MS, stampMs: NOW_MS, optedOut: true, wireIds: ['3EB0'] }),
};

/** A store that answers each read like this. */
function answering(answer: (read: Read) => unknown): Store {
  return fakeOf<Store>({ read: readsBy(answer) });
}
