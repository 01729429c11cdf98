import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';

/** A message as the API of version 1 listed it just before its node was killed. */
export interface EarlierMessage {
  readonly id: string;
  readonly text: string;
  readonly status: string;
  readonly reason: string | null;
}

/** A shop of that store, its messages newest first. */
export interface EarlierShop {
  readonly shopId: string;
  readonly messages: readonly EarlierMessage[];
}

/**
 * What a node of commit e771943 had stored when it was killed: a `busy` shop with sent, rejected, waiting and one
 * message on the wire, a `held` one whose messages an operator holds, a `quiet` one that sent all it had, and a `lost`
 * one whose two messages the shop `pool` of the tenant `platformId` carries, one of them on the wire. Its keys are
 * commands in the file's further lines; what belongs to nodes and to the request log is left out.
 */
export interface EarlierStore {
  readonly tenantId: string;
  readonly platformId: string;
  readonly pool: string;
  readonly shops: Readonly<Record<'busy' | 'held' | 'quiet' | 'lost', EarlierShop>>;
  readonly commands: readonly (readonly string[])[];
}

/** The store as it would have been left at `nowMs`: old messages expire, so all its times are moved. */
export function readEarlierStore(nowMs: number): EarlierStore {
  const text = readFileSync(new URL('./store-of-version-1.jsonl', import.meta.url), 'utf8');
  const [head = ''] = text.split('\n', 1);
  const { madeAtMs, shops } = JSON.parse(head) as { madeAtMs: number; shops: EarlierStore['shops'] };
  const laterMs = Math.round((nowMs - madeAtMs) / 1_000) * 1_000;
  const ids = Object.values(shops).flatMap(({ messages }) => messages.map(({ id }) => id));
  const moved = text
    .replaceAll(/\b1[78]\d{11}\b/g, (ms) => String(Number(ms) + laterMs))
    .replaceAll(/"([kcdgs])(m[0-9a-z]{7})\./g, (_, kind, time) => `"${kind}${laterBase36(time, laterMs)}.`)
    .replaceAll(new RegExp(ids.join('|'), 'g'), (id) => laterId(id, laterMs));
  const [meta, ...commands] = moved
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { ...meta, commands };
}

/** Fills a Redis with it. */
export async function fillWith({ commands }: EarlierStore, redisUrl: string): Promise<void> {
  const redis = new Redis(redisUrl);
  for (const [name = '', ...args] of commands) await redis.call(name, ...args);
  redis.disconnect();
}

function laterBase36(time: string, laterMs: number): string {
  return (Number.parseInt(time, 36) + laterMs).toString(36);
}

function laterId(id: string, laterMs: number): string {
  return (Number.parseInt(id.slice(0, 8), 16) + laterMs / 1_000).toString(16) + id.slice(8);
}
