import { Redis } from 'ioredis';
import type { Fleet } from '../e2e/stack/fleet.ts';
import { textsIn, tracesOf } from '../e2e/stack/traces.ts';
import type { History } from './history.ts';

/** Times of messages from a number, which the policy needs (docs/contract.md, Erasing a person). */
const KEEPS_NUMBERS = /:writers$/;

/** Writes down every key of Redis whose name or content still has an erased tenant, shop, message of one, or person. */
export async function lookForErased(fleet: Fleet, history: History): Promise<void> {
  const erased = new Set(history.of('erased').map(({ shop }) => shop));
  const shops = new Map([...erased].map((shop) => [shop, shop]));
  for (const { id, shop } of history.of('accepted')) if (erased.has(shop)) shops.set(id, shop);
  const tenants = new Set(history.of('erased_tenant').map(({ tenant }) => tenant));
  const redis = new Redis(fleet.pair?.master().socketPath ?? '');
  try {
    for (const { key, id } of await tracesOf(redis, new Set([...shops.keys(), ...tenants]))) {
      // A key whose making was cut off has no owner, and its entry expires (docs/promises.md, Erasure).
      if (key.startsWith('api-key:') && (await redis.ttl(key)) > 0) continue;
      const [kind, name] = tenants.has(id)
        ? (['tenant', id] as const)
        : (['shop', shops.get(id) ?? ''] as const);
      history.add({ kind: 'left_after_erasure', of: kind, name, what: `${id} in ${key}` });
    }
    const people = history.of('erased_person');
    const byText = new Map(
      people.flatMap(({ person, by }) => [[person, person] as const, [by, person] as const]),
    );
    for (const { key, text } of await textsIn(redis, [...byText.keys()])) {
      if (!KEEPS_NUMBERS.test(key)) {
        history.add({
          kind: 'left_after_erasure',
          of: 'person',
          name: byText.get(text) ?? '',
          what: `${text} in ${key}`,
        });
      }
    }
  } finally {
    redis.disconnect();
  }
}
