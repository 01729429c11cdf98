import type { ActorSnapshot } from '../runtime/actors.ts';
import type { LinkTopic } from '../runtime/link-topics.ts';
import type { RuntimeNode } from '../runtime/node.ts';
import type { OperatorsDirectory } from './directory/operators-directory.ts';
import { done, failed } from './failure.ts';
import type { FleetOperations } from './operator-operations.ts';

/** A replay takes a turn of its actor, and at most one hop. */
const REPLAY_TIMEOUT_MS = 5_000;

/** What operators ask of the whole. */
export function fleetDesk(parts: {
  readonly node: RuntimeNode;
  readonly directory: OperatorsDirectory;
  /** Carries a replay to the node that owns the actor. */
  readonly link: LinkTopic;
}): FleetOperations {
  const { node, directory, link } = parts;
  link.serve(async (payload) => {
    const { id, shard } = JSON.parse(payload) as { id: string; shard: number };
    await node.deadLetters.replay(id, shard);
    return 'replayed';
  });
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
      const { shard } = letter.address;
      await link.call(shard, JSON.stringify({ id, shard }), REPLAY_TIMEOUT_MS);
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
