import { done, failed } from '../../actors/failure.ts';
import type { ChannelView, MessageView, ShopOperations } from '../../actors/shops/shop-operations.ts';
import { type FakeMemory, type FakeShop, pageOf } from './fake-account.ts';
import { fakeBatches } from './fake-batches.ts';

const verdict = {
  recipientClass: 'cold',
  warmupDay: 0,
  caps: { perDay: 20, perHour: 10, coldPerDay: 5, declaredPerDay: 30 },
  usage: { today: 1, lastHour: 1, coldToday: 1, declaredToday: 0 },
} as const;

const group = { id: '120363041234567890@g.us', announce: false };

/** Returns the message or status that the idempotency key made before. */
function originalOf(
  { messages }: FakeShop,
  kind: MessageView['kind'],
  { idempotencyKey }: { readonly idempotencyKey: string | undefined },
): MessageView | undefined {
  if (idempotencyKey === undefined) return undefined;
  return messages.find((message) => message.kind === kind && message.idempotencyKey === idempotencyKey);
}

/** Shops in memory. A connection is made by the second poll after POST connect. */
export function fakeShops(memory: FakeMemory): ShopOperations {
  const setChannel = (shop: FakeShop, channel: ChannelView): ChannelView => {
    shop.channel = channel;
    shop.view = { ...shop.view, channelStatus: { msgapp: channel.status } };
    return channel;
  };

  type Posted = Pick<
    MessageView,
    'to' | 'kind' | 'text' | 'mediaUrl' | 'mediaType' | 'idempotencyKey' | 'requestId' | 'traceparent'
  >;

  function post(shop: FakeShop, draft: Posted) {
    const now = new Date().toISOString();
    const message: MessageView = {
      id: memory.id(),
      shopId: shop.view.id,
      channel: 'msgapp',
      ...draft,
      status: 'queued',
      reason: null,
      via: 'shop',
      policy: draft.kind === 'message' ? verdict : null,
      createdAt: now,
      updatedAt: now,
      sentAt: null,
      deliveredAt: null,
      readAt: null,
    };
    shop.messages.unshift(message);
    return { id: message.id, status: message.status, statusUrl: `/api/v1/messages/${message.id}` };
  }

  return {
    async channel(reference) {
      const stopped = await memory.stopped('channel');
      return (
        stopped ?? done(memory.shop(reference).channel ?? { status: 'disconnected', channelConfigId: null })
      );
    },
    async connect(reference) {
      const stopped = await memory.stopped('connect');
      if (stopped) return stopped;
      const shop = memory.shop(reference);
      const channelConfigId = shop.channel?.channelConfigId ?? memory.id();
      return done(
        setChannel(shop, {
          status: 'qr_waiting',
          channelConfigId,
          qr: '2@abc',
          qrImageDataUrl: 'data:image/png;base64,iVBORw0KGgo=',
          expiresAt: new Date(Date.now() + 20_000).toISOString(),
          pollAfterMs: 2000,
        }),
      );
    },
    async requestPairingCode(reference) {
      const stopped = await memory.stopped('requestPairingCode');
      if (stopped) return stopped;
      const shop = memory.shop(reference);
      if (shop.channel?.status === 'connected') return failed('MSGAPP_ALREADY_LINKED');
      const channelConfigId = shop.channel?.channelConfigId ?? memory.id();
      const expiresAt = new Date(Date.now() + 160_000).toISOString();
      return done(
        setChannel(shop, {
          status: 'starting',
          channelConfigId,
          code: 'K7QX2MZN',
          expiresAt,
          pollAfterMs: 2000,
        }),
      );
    },
    async pollConnection(reference) {
      const stopped = await memory.stopped('pollConnection');
      if (stopped) return stopped;
      const shop = memory.shop(reference);
      if (shop.channel === undefined) return failed('CHANNEL_NOT_STARTED');
      const { channelConfigId } = shop.channel;
      shop.groups = [
        { ...group, name: 'Regulars', participantCount: 42, isAdmin: true, canSend: true },
        { ...group, id: '9@g.us', name: 'Neighbours', participantCount: 7, isAdmin: false, canSend: false },
      ];
      return done(setChannel(shop, { status: 'connected', channelConfigId, phone: '41791234567' }));
    },
    async disconnect(reference) {
      const stopped = await memory.stopped('disconnect');
      if (stopped) return stopped;
      const shop = memory.shop(reference);
      if (shop.channel === undefined) return failed('CHANNEL_NEVER_CONFIGURED');
      return done(
        setChannel(shop, { status: 'disconnected', channelConfigId: shop.channel.channelConfigId }),
      );
    },
    async send(reference, draft) {
      const shop = memory.shop(reference);
      const original = originalOf(shop, 'message', draft);
      if (original !== undefined) {
        const { id, status, to, text } = original;
        const accepted = { id, status, statusUrl: `/api/v1/messages/${id}`, policy: verdict };
        return done({ replayed: true, differs: to !== draft.to || text !== (draft.text ?? null), accepted });
      }
      const stopped = await memory.stopped('send');
      if (stopped) return stopped;
      if (shop.channel?.status !== 'connected') return failed('MSGAPP_NOT_CONNECTED');
      const { to, text = null, mediaUrl = null, mediaType, idempotencyKey = null, requestId } = draft;
      const { traceparent = null } = draft;
      const posted = post(shop, {
        to,
        kind: 'message',
        text,
        mediaUrl,
        mediaType: mediaUrl === null ? null : mediaType,
        idempotencyKey,
        requestId,
        traceparent,
      });
      return done({ replayed: false, differs: false, accepted: { ...posted, policy: verdict } });
    },
    async listMessages(reference, { status, limit, cursor }) {
      const stopped = await memory.stopped('listMessages');
      if (stopped) return stopped;
      const { messages } = memory.shop(reference);
      return done(
        pageOf(
          messages.filter((message) => status === undefined || message.status === status),
          { limit, cursor },
        ),
      );
    },
    async message(tenantId, messageId) {
      const stopped = await memory.stopped('message');
      if (stopped) return stopped;
      const shops = [...memory.tenant(tenantId).shops.values()];
      const found = shops.flatMap(({ messages }) => messages).find(({ id }) => id === messageId);
      return found === undefined ? failed('MESSAGE_NOT_FOUND') : done(found);
    },
    async cancel(tenantId, messageId) {
      const stopped = await memory.stopped('cancel');
      if (stopped) return stopped;
      const shops = [...memory.tenant(tenantId).shops.values()];
      const found = shops.flatMap(({ messages }) => messages).find(({ id }) => id === messageId);
      if (found === undefined) return failed('MESSAGE_NOT_FOUND');
      if (found.status !== 'queued') return failed('NOT_CANCELLABLE');
      return done(Object.assign(found, { status: 'failed', reason: 'CANCELLED' } as const));
    },
    async cancelQueue(reference) {
      const stopped = await memory.stopped('cancelQueue');
      if (stopped) return stopped;
      const waiting = memory.shop(reference).messages.filter(({ status }) => status === 'queued');
      for (const message of waiting) Object.assign(message, { status: 'failed', reason: 'CANCELLED' });
      return done({ cancelled: waiting.length });
    },
    async schedule(reference, draft) {
      const stopped = await memory.stopped('schedule');
      if (stopped) return stopped;
      const scheduled = memory.shop(reference).scheduled;
      const { to, text = null, mediaUrl = null, mediaType, idempotencyKey = null, sendAtMs } = draft;
      const { notAfterMs = sendAtMs + 3_600_000 } = draft;
      const known = scheduled.find((one) => idempotencyKey !== null && one.idempotencyKey === idempotencyKey);
      if (known !== undefined) return done({ replayed: true, differs: false, accepted: known });
      const accepted = {
        ...{ id: memory.id(), shopId: reference.shopId, status: 'scheduled' as const, to, text, mediaUrl },
        ...{ mediaType: mediaUrl === null ? null : mediaType, idempotencyKey, messageId: null, code: null },
        sendAt: new Date(sendAtMs).toISOString(),
        notAfter: new Date(notAfterMs).toISOString(),
        createdAt: new Date().toISOString(),
      };
      scheduled.unshift(accepted);
      return done({ replayed: false, differs: false, accepted });
    },
    async listScheduled(reference, page) {
      const stopped = await memory.stopped('listScheduled');
      if (stopped) return stopped;
      return done(pageOf(memory.shop(reference).scheduled, page));
    },
    async scheduled(reference, scheduledId) {
      const stopped = await memory.stopped('scheduled');
      if (stopped) return stopped;
      const found = memory.shop(reference).scheduled.find(({ id }) => id === scheduledId);
      return found === undefined ? failed('SCHEDULED_NOT_FOUND') : done(found);
    },
    async unschedule(reference, scheduledId) {
      const stopped = await memory.stopped('unschedule');
      if (stopped) return stopped;
      const found = memory.shop(reference).scheduled.find(({ id }) => id === scheduledId);
      if (found === undefined) return failed('SCHEDULED_NOT_FOUND');
      return done(Object.assign(found, { status: 'cancelled' } as const));
    },
    ...fakeBatches(memory),
    async postStatus(reference, draft) {
      const shop = memory.shop(reference);
      const original = originalOf(shop, 'status', draft);
      if (original !== undefined) {
        const { id, status, text } = original;
        const accepted = { id, status, statusUrl: `/api/v1/messages/${id}` };
        return done({ replayed: true, differs: text !== (draft.caption ?? null), accepted });
      }
      const stopped = await memory.stopped('postStatus');
      if (stopped) return stopped;
      if (shop.channel?.status !== 'connected') return failed('MSGAPP_NOT_CONNECTED');
      const { caption = null, mediaUrl = null, mediaType, idempotencyKey = null, requestId } = draft;
      const { traceparent = null } = draft;
      return done({
        replayed: false,
        differs: false,
        accepted: post(shop, {
          to: null,
          kind: 'status',
          text: caption,
          mediaUrl,
          mediaType: mediaUrl === null ? null : mediaType,
          idempotencyKey,
          requestId,
          traceparent,
        }),
      });
    },
    async policy(_reference, to) {
      const stopped = await memory.stopped('policy');
      if (stopped) return stopped;
      const { warmupDay, caps, usage } = verdict;
      return done({
        warmupDay,
        caps,
        usage,
        groups: { perDay: 20, used: 0 },
        statuses: { perDay: 10, used: 0 },
        queue: { length: 0, pausedBy: null, pausedUntil: null, nextSendAt: null },
        coldBarredUntil: null,
        network: { restrictedUntil: null, restriction: null, newChats: null },
        forecast: to === undefined ? undefined : { recipientClass: 'cold', failure: undefined },
      });
    },
    async groups(reference) {
      const stopped = await memory.stopped('groups');
      if (stopped) return stopped;
      const shop = memory.shop(reference);
      return shop.channel?.status === 'connected' ? done(shop.groups) : failed('MSGAPP_NOT_CONNECTED');
    },
  };
}
