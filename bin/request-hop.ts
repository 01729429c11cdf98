import type { Hop } from '../http/hop.ts';
import { shardOf } from '../runtime/address.ts';
import type { LinkTopic } from '../runtime/link-topics.ts';
import type { RuntimeNode } from '../runtime/node.ts';

/** Carries requests to the node that owns their tenant's shard, over its topic of the runtime's link. */
export function hopThrough(node: RuntimeNode, link: LinkTopic): Hop {
  const { actors } = node;
  return {
    ownerIsLocal: (tenantId) => actors.owns(shardOf(tenantId)),
    forward: (tenantId, payload, timeoutMs) => link.call(shardOf(tenantId), payload, timeoutMs),
    stillOwner: (tenantId) => actors.owns(shardOf(tenantId)),
    otherNodes: () => node.nodes().flatMap(({ nodeId, self }) => (self ? [] : [nodeId])),
    forwardToNode: (nodeId, payload, timeoutMs) => link.call(nodeId, payload, timeoutMs),
  };
}
