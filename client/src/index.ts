/** The exports of the package. */
export { ApiError, type ClientErrorCode } from './api-error.ts';
export type { ClientClock } from './client-clock.ts';
export type { ClientOptions } from './client-options.ts';
export type { ConnectOptions } from './connect-shop.ts';
export { type EventFeed, endedMessage, type FollowOptions } from './event-feed.ts';
export type { WaitOptions } from './message-outcomes.ts';
export { type MessagingClient, messagingClient } from './messaging-client.ts';
export type { Answer, CallOptions, OperationName, Params } from './methods.ts';
export type {
  AcceptedMessage,
  AcceptedStatus,
  Article,
  Batch,
  Channel,
  ChannelStatus,
  ConsentedContact,
  CreatedShop,
  ErrorCode,
  Event,
  FieldProblem,
  FreshWebhook,
  Group,
  Identity,
  InboundMessage,
  Message,
  MessageReason,
  MessageStatus,
  Operations,
  Page,
  PolicyVerdict,
  ReceivedMessage,
  ScheduledSend,
  Shop,
  ShopPolicy,
  TakenBatch,
  Webhook,
  WebhookAttempts,
} from './operations.ts';
export {
  UnverifiedWebhook,
  verifyWebhook,
  type WebhookEvent,
  type WebhookOptions,
  type WebhookRequest,
} from './verify-webhook.ts';
