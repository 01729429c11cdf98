import { freshKey, key } from '../../../actors/reply-schemas/account-schemas.ts';
import { batch } from '../../../actors/reply-schemas/batch-schemas.ts';
import { messageReason, messageStatus } from '../../../actors/reply-schemas/message-schemas.ts';
import {
  deadLetter,
  node,
  tenant,
  tenantInspection,
} from '../../../actors/reply-schemas/operator-schemas.ts';
import { channel, channelStatus, shop } from '../../../actors/reply-schemas/shop-schemas.ts';
import { freshWebhook, webhook, webhookAttempts } from '../../../actors/reply-schemas/webhook-schemas.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { checkRequest } from '../../contract/checked-request.ts';
import { closedObject } from '../../contract/closed-object.ts';
import type { NamedSchemas } from '../../contract/endpoint.ts';
import { errorReply, JSON_TYPE, successBody } from '../../contract/envelope.ts';
import { headerLines, type ReplyValue, type RequestValue } from '../../contract/exchange.ts';
import type { TokenRole } from '../../contract/operator-role.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { openApiDocument } from '../../openapi/openapi.ts';
import type { EventStream } from '../../operator-events/event-stream.ts';
import type { Page } from '../../pipeline/pages.ts';
import { loggedRequest } from '../../request-log/request-log-entry.ts';
import { OPERATOR_BASE_PATH } from '../base-path.ts';
import { OPERATOR_ENDPOINTS } from '../endpoints.ts';
import { machine, overview, seriesPoint, shard } from '../schemas/fleet-resources.ts';
import { operatorEvent } from '../schemas/operator-event-schemas.ts';
import { shopActor, shopInspection } from '../schemas/shop-actors.ts';
import { shopDetails } from '../schemas/shop-details.ts';
import type { OperatorTokenCheck } from './operator-token-check.ts';

/** The names of resources in the operators' document. */
export const OPERATOR_SCHEMAS: NamedSchemas = {
  Shop: shop,
  Channel: channel,
  ChannelStatus: channelStatus,
  MessageStatus: messageStatus,
  MessageReason: messageReason,
  Batch: batch,
  Tenant: tenant,
  SupervisedTenant: tenantInspection,
  Key: key,
  FreshKey: freshKey,
  Webhook: webhook,
  FreshWebhook: freshWebhook,
  WebhookAttempts: webhookAttempts,
  LoggedRequest: loggedRequest,
  Overview: overview,
  SeriesPoint: seriesPoint,
  Node: node,
  Shard: shard,
  Machine: machine,
  ShopActor: shopActor,
  ShopInspection: shopInspection,
  ShopDetails: shopDetails,
  DeadLetter: deadLetter,
  OperatorEvent: operatorEvent,
};

const sharedResponse = (name: string) => ({ $ref: `#/components/responses/${name}` });

/** The stream of events in the operators' document. No endpoint declares it, because its reply stays open. */
export const EVENT_OPERATION = {
  operationId: 'followEvents',
  tags: ['Fleet'],
  summary: 'Stream the events of all nodes, as server-sent events',
  description:
    'Each event has an `id` and the name of its `type`. Its `data` is the JSON of this schema. A client that reconnects with `Last-Event-ID` gets the events that it missed, at most the last 1,000. If this node knows of more, `missed` comes first. Its `count` may be too low for an `id` of another node, or from before a restart.\n\nRole: `read`.',
  'x-role': 'read',
  parameters: [
    {
      name: 'Last-Event-ID',
      in: 'header',
      required: false,
      description: 'The `id` of the last event seen, at this node or another.',
      schema: { type: 'string' },
    },
  ],
  responses: {
    200: {
      description: 'The events. The reply stays open.',
      headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } },
      content: { 'text/event-stream': { schema: { $ref: '#/components/schemas/OperatorEvent' } } },
    },
    401: sharedResponse('Unauthorized'),
    403: sharedResponse('Forbidden'),
    422: sharedResponse('UnprocessableEntity'),
    429: sharedResponse('TooManyRequests'),
    500: sharedResponse('InternalServerError'),
  },
} as const;

/** The call that opens the stream, as far as its parts are checked. */
const EVENTS_REQUEST = {
  method: 'GET',
  params: [],
  query: closedObject({}),
  body: undefined,
  takesIdempotencyKey: false,
} as const;
const NO_PARTS = { values: [], contentType: '', body: '', idempotencyKey: '' };

export interface OperatorPagesOptions {
  readonly tokenCheck: OperatorTokenCheck;
  readonly version: string;
  readonly health: { isReady(): boolean | Promise<boolean> };
  readonly metrics: Metrics;
  readonly events: EventStream;
  readonly clock: Pick<Clock, 'wallMs'>;
}

/**
 * Returns the operators' pages. Probes need no token; metrics, events and the operators' document need a token of their
 * role.
 */
export function operatorPages(options: OperatorPagesOptions): readonly Page[] {
  const { tokenCheck, version, health, metrics, events, clock } = options;
  const startedAt = new Date(clock.wallMs());

  function guardPage(
    path: string,
    role: TokenRole,
    answer: (request: RequestValue) => ReplyValue | Promise<ReplyValue>,
  ): Page {
    return {
      path,
      answer(request) {
        const admitted = tokenCheck.admit(request, { role, isChange: false });
        return admitted.isAdmitted ? answer(request) : admitted.refusal;
      },
    };
  }

  return [
    {
      path: '/healthz',
      answer: () => json(successBody({ status: 'alive', version, startedAt: startedAt.toISOString() })),
    },
    {
      path: '/readyz',
      async answer() {
        const isReady = await health.isReady();
        return isReady ? json(successBody({ status: 'ready' })) : NOT_READY;
      },
    },
    guardPage('/metrics', 'metrics', async () => ({
      status: 200,
      contentType: metrics.contentType,
      headers: '',
      body: await metrics.text(),
    })),
    guardPage(`${OPERATOR_BASE_PATH}/events`, 'read', ({ query, headers }) => {
      const result = checkRequest(EVENTS_REQUEST, { ...NO_PARTS, query });
      if (!result.ok) return errorReply({ code: 'VALIDATION_ERROR', fields: result.fields });
      return events.open(headers.lastEventId);
    }),
    guardPage(`${OPERATOR_BASE_PATH}/openapi.json`, 'read', () => json(operatorDocument())),
  ];
}

const NOT_STORED = headerLines({ 'Cache-Control': 'no-store' });

function json(body: string): ReplyValue {
  return { status: 200, contentType: JSON_TYPE, headers: NOT_STORED, body };
}

const NOT_READY = errorReply(
  { code: 'SERVICE_UNAVAILABLE', message: 'This node may not serve now.' },
  NOT_STORED,
);

function operatorDocument(): string {
  return JSON.stringify(
    openApiDocument({
      title: 'Operator API',
      description:
        'Tenants, keys, actors and the request log. For the operators of the service only. Each GET also answers HEAD.',
      serverUrl: OPERATOR_BASE_PATH,
      security: 'operator',
      endpoints: OPERATOR_ENDPOINTS,
      namedSchemas: OPERATOR_SCHEMAS,
      streams: { '/events': EVENT_OPERATION },
    }),
  );
}
