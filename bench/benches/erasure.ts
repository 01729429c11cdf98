import { setTimeout as delay } from 'node:timers/promises';
import { shardOf } from '../../runtime/address.ts';
import { systemClock } from '../../runtime/clock.ts';
import { RedisEngine } from '../../runtime/redis/redis-engine.ts';
import type { RedisCommand } from '../../runtime/store.ts';
import type { Bench, BenchContext, Run } from '../harness/bench.ts';
import type { OperatorAccess, RunningSide } from '../harness/running-side.ts';
import { startSide } from '../harness/side.ts';
import {
  type CallLatencies,
  figuresOfCalls,
  LEAD_MS,
  ME_PER_SECOND,
  SENDS_PER_SECOND,
  wellBehaved,
} from '../harness/well-behaved.ts';
import { callAll } from '../load/http-calls.ts';
import { fleetFor } from './compared.ts';

const EVENTS = 50_000;
/** Events that are added at a time. */
const EVENTS_AT_ONCE = 1_000;
/** Redis notes commands that take longer than this, in microseconds. */
const SLOW_US = 500;
const ERASURES = ['a tenant erased', 'a shop erased'] as const;
const PHASES = ['alone', ...ERASURES, 'afterwards'] as const;
type Phase = (typeof PHASES)[number];

/**
 * Measures the effect of an erasure on other tenants: p99 of `GET /me` and of sends, on schedule. First alone, then
 * during the erasure of a tenant with `--shops=500` shops and `--events=50000` events. Then during the erasure of one
 * shop of such a tenant, and afterwards. `longestRedisMs` is the longest command in Redis' slow log, `erasedMs` the
 * duration of the erasure. `…P99Ratio` is against `alone`.
 */
export const erasure: Bench = {
  name: 'erasure',
  title: `${ME_PER_SECOND} GET /me and ${SENDS_PER_SECOND} sends a second, beside an erasure`,
  isMain: false,
  targets: [
    { kind: 'never over', figure: 'longestRedisMs', sides: ERASURES, must: 5, aim: 2 },
    { kind: 'never over', figure: 'meP99Ratio', sides: ERASURES, must: 2, aim: 1.5 },
    { kind: 'never over', figure: 'sendP99Ratio', sides: ERASURES, must: 2, aim: 1.5 },
    { kind: 'never over', figure: 'notAnswered2xx', must: 0, aim: 0 },
  ],
  async run(context) {
    const runs: Run[] = [];
    const seconds = context.seconds + LEAD_MS / 1_000;
    for (let round = 1; round <= context.rounds; round += 1) {
      const side = await startSide('service', {
        directory: context.directory,
        build: context.build,
        fleet: fleetFor({ messages: SENDS_PER_SECOND * seconds * PHASES.length, isPaused: true }),
        appendfsync: 'always',
        progress: (text) => context.progress(`erasure: round ${round}, ${text}`),
      });
      const redis = await engineOf(side);
      try {
        runs.push(...(await measured(side, redis, round, context)));
      } finally {
        await redis.close();
        await side.stop();
      }
    }
    return runs;
  },
};

function engineOf({ redisPath }: RunningSide): Promise<RedisEngine> {
  if (redisPath === undefined) throw new Error('the side has no Redis');
  const quiet = (): void => undefined;
  const log = { debug: quiet, info: quiet, warn: quiet, error: console.error };
  return RedisEngine.connect(redisPath, { log, clock: systemClock, answerMs: 5_000 });
}

async function measured(
  side: RunningSide,
  redis: RedisEngine,
  round: number,
  context: BenchContext,
): Promise<readonly Run[]> {
  const { admin } = side;
  if (admin === undefined) throw new Error('the side has no operators');
  const server = side.watch.server ?? process.pid;
  const runs: Run[] = [];
  let alone: CallLatencies | undefined;
  let made = 0;
  for (const phase of PHASES) {
    context.progress(`erasure: round ${round}, ${phase}`);
    const path = await toErase(phase, { admin, redis }, context);
    await redis.append([
      ['CONFIG', 'SET', 'slowlog-log-slower-than', SLOW_US],
      ['SLOWLOG', 'RESET'],
    ]);
    const erased = path === undefined ? undefined : eraseSoon(admin, path);
    const felt = await wellBehaved(side, side.fleet, { seconds: context.seconds, from: made });
    made = felt.send.made;
    const erasedMs = (await erased) ?? 0;
    alone ??= felt;
    const longest = await longestCommand(redis);
    const figures = {
      ...figuresOfCalls(felt, alone, server),
      erasedMs,
      longestRedisMs: longest.ms,
    };
    context.progress(`erasure: round ${round}, ${phase}: the longest command was ${longest.command}`);
    runs.push({ side: phase, round, figures });
  }
  return runs;
}

/** Makes the tenant of a phase. Returns the path of the erasure of the tenant, or of a shop. */
async function toErase(
  phase: Phase,
  { admin, redis }: { readonly admin: OperatorAccess; readonly redis: RedisEngine },
  context: BenchContext,
): Promise<string | undefined> {
  if (phase === 'alone' || phase === 'afterwards') return undefined;
  const post = (path: string, body: object) => ({ method: 'POST', path, token: admin.token, body });
  const [tenant] = (await callAll(admin.port, [
    post('/admin/v1/tenants', {
      name: 'Large',
      plan: 'scale',
      owner: { name: 'Large', notificationNumber: null },
    }),
  ])) as { id: string }[];
  const path = `/admin/v1/tenants/${tenant?.id}`;
  const count = context.setting('shops', 500);
  const shops = (await callAll(
    admin.port,
    Array.from({ length: count }, (_, index) => post(`${path}/shops`, { name: `Shop ${index}` })),
  )) as { id: string }[];
  const stream = `{s${shardOf(tenant?.id ?? '')}}:tenant:${tenant?.id}:events`;
  const events = context.setting('events', EVENTS);
  for (let from = 0; from < events; from += EVENTS_AT_ONCE) {
    const added = Array.from(
      { length: Math.min(EVENTS_AT_ONCE, events - from) },
      (_, index): RedisCommand => {
        const shopId = shops[(from + index) % count]?.id ?? '';
        return ['XADD', stream, '*', 't', 'queue.resumed', 's', shopId, 'd', '{}'];
      },
    );
    await redis.append(added);
  }
  return phase === 'a tenant erased' ? path : `${path}/shops/${shops[0]?.id}`;
}

/** Begins the erasure in the measured part; how long it took until nothing was left. */
async function eraseSoon({ port, token }: OperatorAccess, path: string): Promise<number> {
  await delay(LEAD_MS);
  const begunMs = performance.now();
  const ask = async (method: string, path: string): Promise<number> => {
    const init = {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    };
    const answer = await fetch(
      `http://127.0.0.1:${port}${path}`,
      method === 'GET' ? init : { ...init, body: '{}' },
    );
    await answer.arrayBuffer();
    return answer.status;
  };
  const erasurePath = `${path.split('/shops/')[0]}/erasure`;
  let status = await ask('DELETE', path);
  while (status === 202) {
    await delay(50);
    status = (await ask('GET', erasurePath)) === 200 ? 202 : 200;
  }
  if (status !== 200) throw new Error(`the erasure was answered ${status}`);
  return performance.now() - begunMs;
}

/** Returns the longest command since the slow log was emptied, and the beginning of its words. */
async function longestCommand(redis: RedisEngine): Promise<{ ms: number; command: string }> {
  type Entry = [id: number, atSeconds: number, microseconds: number, words: string[]];
  const [entries] = (await redis.append([['SLOWLOG', 'GET', 1_000]])) as [Entry[]];
  return entries.reduce(
    (longest, [, , microseconds, words]) =>
      microseconds / 1_000 > longest.ms
        ? { ms: microseconds / 1_000, command: words.slice(0, 4).join(' ').slice(0, 200) }
        : longest,
    { ms: 0, command: `under ${SLOW_US} µs` },
  );
}
