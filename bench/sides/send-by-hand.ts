/**
 * A send by hand: the service's own parts in one function. It stores the same as the service, key by key and command by
 * command, in fenced batches. It has no idempotency keys, errors, actors, supervision, other nodes or stored quota. It
 * has no metrics, operators' feed or tenants' events. Keys, shops and customers are in memory from the start. The
 * service's additional time is the price of its design. `send-by-hand.js <socket of Redis> <fleet.json>`
 */

import { readFileSync } from 'node:fs';
import { API_BASE_PATH } from '../../actors/base-path.ts';
import { NO_CONTENT } from '../../actors/shops/message-content.ts';
import { bodyWrite, dayExpiry, dayOfMessage } from '../../actors/shops/records/message-days.ts';
import { type MessageBody, statusUrl } from '../../actors/shops/records/message-record.ts';
import { shopKeys } from '../../actors/shops/records/shop-keys.ts';
import type { AcceptedReply } from '../../actors/shops/shop-operations.ts';
import { encodeAccepted } from '../../actors/shops/state/accepted-list.ts';
import { checkRequest } from '../../http/contract/checked-request.ts';
import { JSON_TYPE, rateHeaders, successBody } from '../../http/contract/envelope.ts';
import { hashOfKey } from '../../http/pipeline/presented-key.ts';
import { makeRouter } from '../../http/pipeline/router.ts';
import { type HttpResponse, uWebSockets } from '../../http/socket/uwebsockets.ts';
import { API_ENDPOINTS } from '../../http/tenant-api/endpoints.ts';
import { sendMessage } from '../../http/tenant-api/messages.ts';
import { evaluateMessage } from '../../policy/evaluate-message.ts';
import { QuotaMeter } from '../../policy/limits/quota-meter.ts';
import { SendLedger } from '../../policy/send-ledger.ts';
import { resolveSettings } from '../../policy/tenant-settings.ts';
import { shardOf } from '../../runtime/address.ts';
import { systemClock } from '../../runtime/clock.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import { fromRandomBytes } from '../../runtime/random.ts';
import { RedisEngine } from '../../runtime/redis/redis-engine.ts';
import type { Write } from '../../runtime/store.ts';
import type { Fleet } from '../harness/fleet.ts';
import { BatchesByHand } from './batches-by-hand.ts';
import {
  type Head,
  keyLimits,
  LIMITS,
  listen,
  log,
  logAnswered,
  makeId,
  openRequestLog,
  readHead,
} from './by-hand-parts.ts';

const [, , redisPath = '', fleetPath = ''] = process.argv;
const fleet = JSON.parse(readFileSync(fleetPath, 'utf8')) as Fleet;
const engine = await RedisEngine.connect(redisPath, { log, clock: systemClock, answerMs: 2_000 });
const batches = await BatchesByHand.claim(engine);
const requestLog = openRequestLog(engine);
const router = makeRouter(API_BASE_PATH, API_ENDPOINTS);
const settings = resolveSettings({});
const pairedAtMs = Date.now() - 20 * DAY_MS;
const makeWireId = fromRandomBytes(
  9,
  (pool, from) => `3EB0${pool.toString('hex', from, from + 9).toUpperCase()}`,
);

const tenants = new Map(
  fleet.keys.map(({ key, tenantId }) => {
    const caller = { keyId: hashOfKey(key)?.slice(0, 24) ?? '', permissions: new Set(['messages.send']) };
    const shard = shardOf(tenantId);
    const customers = new Set(fleet.recipients);
    const tenant = { tenantId, shard, customers, caller, quota: new QuotaMeter(), shops: new Map() };
    return [hashOfKey(key) ?? '', tenant as Tenant];
  }),
);
for (const { id, key } of fleet.shops) {
  const tenant = tenants.get(hashOfKey(key) ?? '') as Tenant;
  const keys = shopKeys(tenant.shard, id);
  tenant.shops.set(id, {
    id,
    keys,
    ledger: new SendLedger(),
    accepted: 0,
    queue: [],
    expiringDay: 0,
    later: undefined,
  });
}

interface Tenant {
  readonly tenantId: string;
  readonly shard: number;
  readonly customers: ReadonlySet<string>;
  readonly quota: QuotaMeter;
  readonly caller: { readonly keyId: string; readonly permissions: ReadonlySet<string> };
  readonly shops: Map<string, Shop>;
}

interface Shop {
  readonly id: string;
  readonly keys: ReturnType<typeof shopKeys>;
  readonly ledger: SendLedger;
  accepted: number;
  queue: readonly { readonly messageId: string; readonly to: string; readonly place: number }[];
  expiringDay: number;
  /** Sends that wait for the one before them; undefined while there is none under way. */
  later: (() => void)[] | undefined;
}

/** A send whose caller and route are known. */
interface Call {
  readonly head: Head;
  readonly tenant: Tenant;
  readonly response: HttpResponse;
  /** Returns true if the caller has disconnected: the response must then not be used. */
  readonly isGone: () => boolean;
  readonly rate: string;
}

const app = uWebSockets.App();
app.any('/*', (response, rawHead) => {
  const head = readHead(rawHead, response);
  const contentType = rawHead.getHeader('content-type');
  const idempotencyKey = rawHead.getHeader('idempotency-key');
  const traceparent = rawHead.getHeader('traceparent');
  const match = router(head.path);
  const tenant = tenants.get(head.keyHash ?? '');
  let isGone = false;
  response.onAborted(() => {
    isGone = true;
  });
  response.onData((bytes) => {
    const endpoint = match?.route.byMethod.get(head.method);
    if (tenant === undefined || match === undefined || endpoint?.name !== sendMessage.name)
      return refuse(response);
    const nowMs = systemClock.wallMs();
    const rate = keyLimits.take({ keyId: tenant.caller.keyId, limits: LIMITS, nowMs });
    const quota = tenant.quota.take({ plan: 'scale', nowMs });
    if (!rate.isAdmitted || !quota.isAdmitted || !tenant.caller.permissions.has('messages.send'))
      return refuse(response);
    const body = Buffer.from(bytes).toString('utf8');
    const { values } = match;
    const checkedParts = checkRequest(endpoint, { values, query: '', contentType, body, idempotencyKey });
    const shop = tenant.shops.get(values[0] ?? '');
    if (!checkedParts.ok || shop === undefined) return refuse(response);
    const call = { head, tenant, response, isGone: () => isGone, rate: rateHeaders(rate) };
    const { to, text } = checkedParts.body as { readonly to: string; readonly text: string };
    inTurn(shop, () => send(call, shop, { to, text, traceparent }));
  });
});
listen(app);

/** Decides the sends of a shop one after the other, since each is judged by those before it. */
function inTurn(shop: Shop, decide: () => void): void {
  if (shop.later === undefined) decide();
  else shop.later.push(decide);
}

function send(
  call: Call,
  shop: Shop,
  { to, text, traceparent }: { readonly to: string; readonly text: string; readonly traceparent: string },
): void {
  const { tenant, head, response, isGone } = call;
  const { tenantId, shard } = tenant;
  const nowMs = systemClock.wallMs();
  const evaluation = evaluateMessage(shop.ledger, {
    recipient: to,
    text,
    mediaUrl: undefined,
    isCustomer: tenant.customers.has(to),
    lastInboundAtMs: null,
    hasOptedOut: false,
    declaration: null,
    pairedAtMs,
    settings,
    nowMs,
  });
  if (!evaluation.isAdmitted) {
    if (!isGone()) response.cork(() => refuse(response));
    return;
  }
  const { verdict: policy, entry } = evaluation;
  const body: MessageBody = {
    id: makeId(nowMs),
    tenantId,
    shopId: shop.id,
    kind: 'message',
    to,
    via: 'shop',
    policy,
    createdAtMs: nowMs,
    wireId: makeWireId(),
    idempotencyKey: null,
    requestId: head.requestId,
    traceparent: traceparent === '' ? null : traceparent,
    reply: undefined,
    batchId: undefined,
    ...NO_CONTENT,
    text,
  };
  const { id } = body;
  const day = dayOfMessage(id);
  const writes: Write[] = [bodyWrite(shard, day, body)];
  if (day !== shop.expiringDay) writes.push(dayExpiry(shard, day, 30 * DAY_MS));
  writes.push(['RPUSH', shop.keys.accepted, encodeAccepted(id, entry)]);
  shop.later = [];
  batches.add(shard, {
    writes,
    settled() {
      shop.expiringDay = day;
      shop.ledger.record(entry);
      shop.queue = [...shop.queue, { messageId: id, to, place: shop.accepted }];
      shop.accepted += 1;
      answer(call, { id, status: 'queued', statusUrl: statusUrl(id), policy });
      const later = shop.later ?? [];
      shop.later = undefined;
      for (const decide of later) inTurn(shop, decide);
    },
  });
}

function answer({ head, tenant, response, isGone, rate }: Call, accepted: AcceptedReply): void {
  const { tenantId, caller } = tenant;
  logAnswered(requestLog, head, { tenantId, keyId: caller.keyId, route: sendMessage.path, status: 202 });
  if (isGone()) return;
  response.cork(() => {
    response.writeStatus('202 Accepted');
    const headers = `${JSON_TYPE}${rate}\r\nLocation: ${accepted.statusUrl}\r\nX-Request-Id: ${head.requestId}`;
    response.writeHeader('Content-Type', headers);
    response.end(successBody(accepted));
  });
}

/** Answers 400, which ends a bench: its figures would be those of refusals. */
function refuse(response: HttpResponse): void {
  response.writeStatus('400 Bad Request');
  response.end();
}
