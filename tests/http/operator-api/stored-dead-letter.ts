import { type Address, shardKey } from '../../../runtime/address.ts';
import { objectIdGenerator } from '../../../runtime/object-id.ts';
import { systemRandom } from '../../../runtime/random.ts';
import type { ServiceFixture } from '../service-fixture.ts';

const newId = objectIdGenerator(systemRandom);

/** Stores a dead letter with the cause `boom`, as if the actor had thrown at the command. Resolves with its id. */
export async function storeDeadLetter(
  { store }: Pick<ServiceFixture, 'store'>,
  { shard, kind, id: actorId }: Address,
  command: object,
): Promise<string> {
  const atMs = Date.now();
  const id = newId(atMs);
  const letter = JSON.stringify({ kind, id: actorId, command, cause: 'boom', atMs });
  await store.append([['ZADD', shardKey(shard, 'dead-letters'), 0, `${id} ${letter}`]]);
  return id;
}
