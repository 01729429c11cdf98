import type { ActorSummary } from '../../runtime/actors.ts';
import type { Clock } from '../../runtime/clock.ts';
import { cachedFor } from '../../runtime/memoize.ts';
import type { LinkTopic } from '../../runtime/node/link-topics.ts';
import type { RuntimeNode } from '../../runtime/node/node.ts';
import { done, failed } from '../failure.ts';
import type { SessionHost } from '../sessions/session-host.ts';
import { type EachActor, type SeenActor, takeCensus } from '../shops/inspection/shop-census.ts';
import { listedShop } from '../shops/inspection/shop-inspection.ts';
import { shopSummary } from '../shops/inspection/shop-summary.ts';
import { shopAddress, shopOf } from '../shops/records/shop-keys.ts';
import { clientVersionView, setClientVersion } from './client-version-setting.ts';
import type { DeadLetterView, NodeOperations } from './operator-operations.ts';
import type { OperatorsDirectory } from './operators-directory.ts';
import { resumeSuspended } from './resume-suspended.ts';

/** A replay takes a turn of its actor, and may be forwarded once. */
const REPLAY_TIMEOUT_MS = 5_000;
/** How long a census is reused: actors are counted at most once a second, for any number of callers. */
const CENSUS_MS = 1_000;

/** Returns what operators may ask of this node: about its own actors, and about what all nodes share. */
export function nodeService(options: {
  readonly node: RuntimeNode;
  readonly clock: Clock;
  readonly directory: OperatorsDirectory;
  readonly host: Pick<SessionHost, 'isAvailable'>;
  /** Carries a replay to the node that owns the actor. */
  readonly link: LinkTopic;
}): NodeOperations {
  const { node, clock, directory, host, link } = options;
  link.serve(async (payload) => {
    const { id, shard } = JSON.parse(payload) as { id: string; shard: number };
    await node.deadLetters.replay(id, shard);
    return 'replayed';
  });
  const eachSeenActor: EachActor = (visit) => node.actors.each((summary) => visit(seenActor(summary)));
  return {
    listTenants: (query) => directory.list(query),
    eachShop: (visit) =>
      eachSeenActor((actor) => {
        if (actor.kind === 'shop') visit(actor);
      }),
    localShop(id) {
      const snapshot = node.actors.snapshot(shopAddress(shopOf({ id })));
      return snapshot && listedShop(snapshot);
    },
    census: cachedFor(() => takeCensus(eachSeenActor), { clock, keptMs: CENSUS_MS }),
    resumeSuspended: (filter) => resumeSuspended(filter, { eachActor: eachSeenActor, node, clock }),
    self: () => ({ nodeId: node.nodeId, workers: host.isAvailable() ? 'available' : 'lost' }),
    nodes: async () =>
      node.nodes().map(({ isSelf, ...record }) => ({
        ...record,
        self: isSelf,
        ...(isSelf ? { leaseMarginMs: node.leaseMarginMs() } : {}),
      })),
    shards: () =>
      node.shards().map(({ shard, owner, epoch }) => ({ shard, nodeId: owner?.nodeId ?? null, epoch })),
    async deadLetters({ limit, cursor }) {
      const after = cursor === undefined ? {} : { after: cursor };
      const letters = await node.deadLetters.list({ limit: limit + 1, ...after });
      const items = letters.slice(0, limit).map(letterView);
      return { items, nextCursor: letters.length > limit ? (items.at(-1)?.id ?? null) : null };
    },
    async deadLetter(id) {
      const letter = await node.deadLetters.find(id);
      return letter === undefined ? failed('NOT_FOUND') : done(letterView(letter));
    },
    async replayDeadLetter(id) {
      const letter = await node.deadLetters.find(id);
      if (letter === undefined) return failed('NOT_FOUND');
      const { shard } = letter.address;
      await link.call(shard, JSON.stringify({ id, shard }), REPLAY_TIMEOUT_MS);
      return done({ id, replayed: true });
    },
    clientVersion: () => clientVersionView(node.store),
    setClientVersion: (version) => setClientVersion(node.store, version),
  };
}

type Letter = NonNullable<Awaited<ReturnType<RuntimeNode['deadLetters']['find']>>>;

function letterView({ id, address, type, cause, atMs }: Letter): DeadLetterView {
  const at = new Date(atMs).toISOString();
  return { id, actor: `${address.kind}/${address.id}`, command: type ?? null, cause, at };
}

function seenActor(summary: ActorSummary): SeenActor {
  const { address, mailboxDepth, status } = summary;
  if (address.kind === 'shop') return shopSummary(summary);
  return { kind: 'tenant', tenantId: address.id, mailboxDepth, isSuspended: status === 'suspended' };
}
