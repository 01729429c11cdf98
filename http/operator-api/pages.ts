import { errorReply, JSON_TYPE, successBody } from '../contract/envelope.ts';
import { headerLines, type ReplyValue, type RequestValue } from '../contract/exchange.ts';
import type { TokenRole } from '../contract/operator-role.ts';
import type { EventStream } from '../events/event-stream.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { openApiDocument } from '../openapi/openapi.ts';
import type { Page } from '../pipeline/pages.ts';
import type { OperatorDoor } from './door.ts';
import { OPERATOR_BASE_PATH, OPERATOR_ENDPOINTS } from './endpoints.ts';
import { EVENT_OPERATION } from './event-operation.ts';
import { OPERATOR_SCHEMAS } from './named-schemas.ts';

/** What the pages of the operators' listener show. */
export interface OperatorPagesOptions {
  readonly door: OperatorDoor;
  readonly version: string;
  readonly health: { ready(): boolean | Promise<boolean> };
  readonly metrics: Metrics;
  readonly events: EventStream;
}

/** Probes without a token; metrics, events and the operators' own document with one of the role each names. */
export function operatorPages(options: OperatorPagesOptions): readonly Page[] {
  const { door, version, health, metrics, events } = options;
  const started = new Date();

  function guarded(
    path: string,
    role: TokenRole,
    answer: (request: RequestValue) => ReplyValue | Promise<ReplyValue>,
  ): Page {
    return {
      path,
      answer(request) {
        const admitted = door.admit(request, { role, changes: false });
        return admitted.operator === undefined ? admitted.refusal : answer(request);
      },
    };
  }

  return [
    {
      path: '/healthz',
      answer: () => json(successBody({ status: 'alive', version, startedAt: started.toISOString() })),
    },
    {
      path: '/readyz',
      async answer() {
        const ready = await health.ready();
        return ready ? json(successBody({ status: 'ready' })) : NOT_READY;
      },
    },
    guarded('/metrics', 'metrics', async () => ({
      status: 200,
      contentType: metrics.contentType,
      headers: '',
      body: await metrics.text(),
    })),
    guarded(`${OPERATOR_BASE_PATH}/events`, 'read', (request) => events.open(request.headers.lastEventId)),
    guarded(`${OPERATOR_BASE_PATH}/openapi.json`, 'read', () => json(operatorDocument())),
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
        'Tenants, keys, actors and the request log. For the operators of the service only. Where there is GET there is HEAD.',
      serverUrl: OPERATOR_BASE_PATH,
      security: 'operator',
      endpoints: OPERATOR_ENDPOINTS,
      named: OPERATOR_SCHEMAS,
      streams: { '/events': EVENT_OPERATION },
    }),
  );
}
