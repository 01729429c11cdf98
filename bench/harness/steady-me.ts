import { requestBytes } from '../load/request-bytes.ts';
import { SteadyCalls } from '../load/steady-calls.ts';
import type { Figures } from './bench.ts';
import type { LiveShop, LiveSide } from './live-side.ts';

/** Calls `GET /me` at this rate, with the keys of the shops in rotation, until it is stopped. */
export async function startSteadyMe(
  side: LiveSide,
  shops: readonly LiveShop[],
  perSecond: number,
): Promise<SteadyCalls> {
  const requests = keysOf(shops).map((token) =>
    Buffer.from(requestBytes({ method: 'GET', path: '/api/v1/me', token }), 'latin1'),
  );
  return await SteadyCalls.start({ port: side.apiPort, requests, perSecond });
}

/** Returns the figures of the calls since they were last taken. */
export function takeMeFigures(me: SteadyCalls): Figures {
  const { count, notAnswered2xx, p50Ms, p99Ms, mostMs } = me.take();
  return { me: count, meP50Ms: p50Ms, meP99Ms: p99Ms, meMostMs: mostMs, meNotAnswered2xx: notAnswered2xx };
}

/** Returns the keys of the shops, each once: the shops of a tenant share one. */
export function keysOf(shops: readonly LiveShop[]): string[] {
  return [...new Set(shops.map(({ key }) => key))];
}
