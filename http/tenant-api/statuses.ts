import * as v from 'valibot';
import { API_BASE_PATH } from '../../actors/base-path.ts';
import { acceptedStatus } from '../../actors/reply-schemas/message-schemas.ts';
import { CAPTION_LIMIT } from '../../policy/content-rules.ts';
import { STATUS_POLICY_CODES } from '../../policy/refusal.ts';
import { EXAMPLES } from '../bodies/examples.ts';
import { closedObject } from '../contract/closed-object.ts';
import { text } from '../contract/fields.ts';
import { mediaUri } from '../contract/media-uri.ts';
import { REPLAY_HEADERS } from '../contract/replay.ts';
import { acceptedReply } from './messages.ts';
import { NAMED_SHOP_ERRORS, withShop } from './named-shop.ts';
import { apiEndpoint } from './services.ts';

const queuedReply = {
  id: EXAMPLES.messageId,
  status: 'queued',
  statusUrl: `${API_BASE_PATH}/messages/${EXAMPLES.messageId}`,
} as const;

export const postStatus = apiEndpoint({
  name: 'postStatus',
  method: 'POST',
  path: '/shops/{idOrName}/statuses',
  tag: 'Statuses',
  summary: "Post a status through the shop's number",
  description:
    'A caption without a visible character counts as no caption. Without `mediaUrl` the call is then refused with `EMPTY_MESSAGE`. White space, controls, default-ignorable characters and an empty braille cell (U+2800) show nothing.',
  permission: 'statuses.post',
  takesIdempotencyKey: true,
  body: closedObject({
    caption: v.optional(text({ max: CAPTION_LIMIT })),
    mediaUrl: v.optional(mediaUri),
    mediaType: v.optional(v.picklist(['image', 'video']), 'image'),
  }),
  bodyExample: { caption: 'Fresh bread at five.', mediaUrl: 'https://example.com/bread.jpg' },
  replies: {
    202: {
      description: 'Queued.',
      data: acceptedStatus,
      headers: { Location: 'The `statusUrl`.' },
      example: queuedReply,
    },
    200: {
      description: 'The original status of the same Idempotency-Key; nothing was posted again.',
      data: acceptedStatus,
      headers: REPLAY_HEADERS,
      example: { ...queuedReply, status: 'sent' },
    },
  },
  errors: [...NAMED_SHOP_ERRORS, ...STATUS_POLICY_CODES, 'MSGAPP_NOT_CONNECTED', 'MSGAPP_SESSION_LOST'],
  handle(request) {
    const { body, call, idempotencyKey } = request;
    const { requestId, traceparent } = call;
    const { caption, mediaUrl, mediaType } = body;
    const draft = { caption, mediaUrl, mediaType, idempotencyKey, requestId, traceparent };
    return withShop(request, async (shop) =>
      acceptedReply(await request.services.shops.postStatus(shop, draft)),
    );
  },
});
