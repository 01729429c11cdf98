/** Spans of one message, as a collector gets them, and nothing of the SDK where there is none. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { otlpTracing } from '../../../service/otlp-tracing.ts';
import { listening } from '../../testbed/listening.ts';
import { until } from '../../testbed/waiting.ts';
import { startMemoryStack } from '../stack/memory-stack.ts';
import { type ServiceStack, startServiceStack } from '../stack/service-stack.ts';
import { connectShop, untilStatus } from '../stack/shop-steps.ts';

const require = createRequire(import.meta.url);
const CUSTOMER = '+33622220001';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

const spans: CollectedSpan[] = [];
const collector = createServer(async (request, response) => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const { resourceSpans } = JSON.parse(Buffer.concat(pieces).toString()) as {
    resourceSpans: { scopeSpans: { spans: CollectedSpan[] }[] }[];
  };
  for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
  response.setHeader('content-type', 'application/json').end('{}');
});
let stack: ServiceStack;

before(async () => {
  const port = await listening(collector);
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
  stack = await startServiceStack({ environment, logLevel: 'debug' });
  await connectShop(stack, stack.shopId, '+33611110061');
});
after(async () => {
  await stack.stop();
  collector.close();
});

test('the collector sees a message from its request to its acknowledgement, under the trace of its caller', async () => {
  const body = { channel: 'msgapp', to: CUSTOMER, text: 'a text of nobody else' };
  const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
  const sentAnswer = await stack.api.post(`/shops/${stack.shopId}/messages`, body, headers);
  assert.equal(sentAnswer.status, 202);
  await untilStatus(stack, String(sentAnswer.data.id), 'sent');
  const ownSpans = await until('all of its spans', async () => {
    const foundSpans = spans.filter(({ traceId }) => traceId === TRACE);
    return foundSpans.some(({ name }) => name === 'send') && foundSpans.length >= 5 && foundSpans;
  });
  const request = one(ownSpans, 'POST /shops/{idOrName}/messages');
  assert.equal(request.parentSpanId, PARENT);
  const turn = one(ownSpans, 'turn');
  const send = one(ownSpans, 'send');
  assert.equal(turn.parentSpanId, request.spanId);
  assert.equal(one(ownSpans, 'commit').parentSpanId, turn.spanId);
  assert.equal(send.parentSpanId, request.spanId);
  const acknowledgement = one(ownSpans, 'acknowledgement');
  assert.equal(acknowledgement.parentSpanId, send.spanId);
  for (const { name, startTimeUnixNano, endTimeUnixNano } of ownSpans)
    assert.ok(BigInt(startTimeUnixNano) <= BigInt(endTimeUnixNano), name);
  const record = await stack.api.get(`/messages/${String(sentAnswer.data.id)}`);
  assert.equal(record.data.traceparent, `00-${TRACE}-${request.spanId}-01`);
  assert.ok(stack.serviceLog().includes(`"traceparent":"00-${TRACE}-${request.spanId}-01"`));
  assert.ok(!JSON.stringify(spans).includes('nobody else') && !JSON.stringify(spans).includes(CUSTOMER));
});

test('a trace that its caller does not keep is not sent, and continues under the same name', async () => {
  const trace = TRACE.replace('0a', '0b');
  const body = { channel: 'msgapp', to: '+33622220002', text: 'unkept' };
  const headers = { traceparent: `00-${trace}-${PARENT}-00` };
  const sentAnswer = await stack.api.post(`/shops/${stack.shopId}/messages`, body, headers);
  const record = await stack.api.get(`/messages/${String(sentAnswer.data.id)}`);
  assert.match(String(record.data.traceparent), new RegExp(`^00-${trace}-[0-9a-f]{16}-00$`));
  // A later span has arrived, so an earlier one would have, too.
  await until('a later span', async () => spans.some(({ name }) => name === 'GET /messages/{id}'));
  assert.equal(spans.filter(({ traceId }) => traceId === trace).length, 0);
});

test('without a collector nothing of the SDK is loaded', async () => {
  const sdk = (): boolean =>
    Object.keys(require.cache).some((path) => path.includes('@opentelemetry/sdk-trace'));
  const quietStack = await startMemoryStack({});
  await quietStack.stop();
  assert.equal(sdk(), false);
  const endpoint = 'http://127.0.0.1:9';
  const share = { keptShare: 1, random: () => 0 };
  const tracing = await otlpTracing({
    endpoint,
    serviceName: 'test',
    version: '0',
    nodeId: 'test',
    ...share,
  });
  assert.equal(sdk(), true, 'this is where it would be seen');
  await tracing.stop();
});

test('a caller cannot have more of its traces kept than the share of the setting', async () => {
  let drawn = 0;
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const random = (): number => (++drawn % 2 ? 0.4 : 0.6);
  const share = { keptShare: 0.5, random };
  const tracing = await otlpTracing({
    endpoint,
    serviceName: 'test',
    version: '0',
    nodeId: 'test',
    ...share,
  });
  const asked = `00-${TRACE}-${PARENT}-01`;
  const flags = (kind: 'server' | 'internal', parent = asked): string =>
    tracing.start('call', { parent, kind }).traceparent.slice(-2);
  assert.deepEqual([flags('server'), flags('server')], ['01', '00']);
  assert.deepEqual([flags('internal'), flags('internal')], ['01', '01'], 'what is kept is kept whole');
  assert.equal(flags('server', asked.replace(/01$/, '00')), '00');
  await tracing.stop();
});

function one(foundSpans: readonly CollectedSpan[], name: string): CollectedSpan {
  const namedSpans = foundSpans.filter((span) => span.name === name);
  assert.equal(namedSpans.length, 1, `${name} among ${foundSpans.map((span) => span.name).join()}`);
  return namedSpans[0] as CollectedSpan;
}
