/** The parts of both calls by hand: the head of a request, its windows, its id and both logs. */

import { addressOfBytes } from '../../http/pipeline/caller-address.ts';
import { bearer, hashOfKey } from '../../http/pipeline/presented-key.ts';
import { RequestLog } from '../../http/request-log/request-log.ts';
import type { RawHead } from '../../http/socket/found-headers.ts';
import { type App, type HttpResponse, uWebSockets } from '../../http/socket/uwebsockets.ts';
import { KeyLimits } from '../../policy/limits/key-limits.ts';
import { systemClock } from '../../runtime/clock.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import { objectIdGenerator } from '../../runtime/object-id.ts';
import { systemRandom } from '../../runtime/random.ts';
import type { Store } from '../../runtime/store.ts';
import { makeLogger } from '../../service/process-log.ts';

/** The limits of a bench's keys; no call is refused, and each is counted. */
export const LIMITS = { minute: 100_000_000, hour: 100_000_000, day: 100_000_000 };

/** The windows of all keys. */
export const keyLimits = new KeyLimits();

/** The log lines of the process. */
export const log = makeLogger({ level: 'info' });

/** Ids in order of making. */
export const makeId = objectIdGenerator(systemRandom);

/** Makes the request log as the service has it, with its entries in `store`. */
export function openRequestLog(store: Pick<Store, 'read' | 'append'>): RequestLog {
  const limits = { maxEntriesPerTenant: 100_000, maxAgeMs: DAY_MS, maxBytes: 1_000_000_000 };
  return new RequestLog({ store, clock: systemClock, log, limits });
}

/** The head of a request, read at once: the raw request is gone after the first wait. */
export interface Head {
  readonly startedMs: number;
  readonly method: string;
  readonly path: string;
  readonly ip: string;
  /** SHA-256 of the key; undefined without one. */
  readonly keyHash: string | undefined;
  readonly requestId: string;
}

/** Reads the head of a request and gives it an id. */
export function readHead(rawHead: RawHead, response: HttpResponse): Head {
  const startedMs = systemClock.monotonicMs();
  const token = bearer(rawHead.getHeader('authorization'));
  const givenId = rawHead.getHeader('x-request-id');
  return {
    startedMs,
    method: rawHead.getCaseSensitiveMethod(),
    path: rawHead.getUrl(),
    ip: addressOfBytes(response.getRemoteAddress()),
    keyHash: token === undefined ? undefined : hashOfKey(token),
    requestId: givenId === '' ? makeId(systemClock.wallMs()) : givenId,
  };
}

/** Writes an answered request to both logs. */
export function logAnswered(
  requestLog: RequestLog,
  { startedMs, method, ip, requestId }: Head,
  answered: {
    readonly tenantId: string;
    readonly keyId: string;
    readonly route: string;
    readonly status: number;
  },
): void {
  const { tenantId, keyId, route, status } = answered;
  const entry = {
    atMs: systemClock.wallMs(),
    requestId,
    tenantId,
    keyId,
    method,
    route,
    status,
    latencyMs: Math.round((systemClock.monotonicMs() - startedMs) * 100) / 100,
    ip,
    errorCode: undefined,
  };
  requestLog.record(entry);
  log.debug(entry, 'request');
}

/** Listens on a port of the system's choice and prints it on standard output. */
export function listen(app: App): void {
  app.listen('127.0.0.1', 0, 0, (listener) => {
    if (listener === false) throw new Error('no port could be had');
    const port = uWebSockets.us_socket_local_port(listener);
    process.stdout.write(`${JSON.stringify({ ready: true, api: `http://127.0.0.1:${port}/api/v1` })}\n`);
  });
}
