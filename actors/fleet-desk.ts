import type { ActorSnapshot } from '../runtime/actors.ts';
import type { RuntimeNode } from '../runtime/node.ts';
import type { OperatorsDirectory } from './directory/operators-directory.ts';
import { done, failed } from './failure.ts';
import type { FleetOperations } from './operator-operations.ts';

/** What operators ask of the whole. */
export function fleetDesk(parts: {
  readonly node: RuntimeNode;
  readonly directory: OperatorsDirectory;
}): FleetOperations {
  const { node, directory } = parts;
  return {
    listTenants: (query) => directory.list(query),
    *localActors() {
      for (const snapshot of node.actors.snapshots()) {
        if (snapshot.address.kind === 'shop') yield actorView(snapshot);
      }
    },
    nodes: async () =>
      node
        .nodes()
        .map((each) => (each.self ? { ...each, leaseMarginMs: node.leaseMarginMs() } : { ...each })),
    shards: () =>
      node.shards().map(({ shard, owner, epoch }) => ({ shard, nodeId: owner?.nodeId ?? null, epoch })),
    async deadLetters({ limit, cursor }) {
      const letters = await node.deadLetters.list({ limit: limit + 1, ...(cursor ? { after: cursor } : {}) });
      const items = letters.slice(0, limit).map(({ id, address, command, cause, atMs }) => ({
        id,
        actor: `${address.kind}/${address.id}`,
        command: (command as { type?: string }).type ?? null,
        cause,
        at: new Date(atMs).toISOString(),
      }));
      return { items, nextCursor: letters.length > limit ? (items.at(-1)?.id ?? null) : null };
    },
    async replayDeadLetter(id) {
      const letters = await node.deadLetters.list();
      const letter = letters.find((each) => each.id === id);
      if (letter === undefined) return failed('NOT_FOUND');
      if (!node.actors.owns(letter.address.shard)) {
        return failed('CONFLICT', { message: 'Another node owns this actor; replay it there.' });
      }
      await node.deadLetters.replay(id, letter.address.shard);
      return done({ id, replayed: true });
    },
  };
}

/** A live shop as the operators' list shows it. */
export function actorView({ address, state, status, ...snapshot }: ActorSnapshot): Record<string, unknown> {
  return {
    tenantId: state.tenantId,
    shopId: state.shopId,
    name: state.name,
    state: state.status,
    status,
    shard: address.shard,
    ...snapshot,
    details: state,
  };
}
