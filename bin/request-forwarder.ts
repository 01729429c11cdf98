import { tenantAddress } from '../actors/tenant/tenant-keys.ts';
import type { Forwarder } from '../http/owner/remote-owner.ts';
import type { LinkTopic } from '../runtime/node/link-topics.ts';
import type { RuntimeNode } from '../runtime/node/node.ts';

/** Carries requests to the node that owns their tenant's shard, over its topic of the runtime's link. */
export function forwarderThrough(node: RuntimeNode, link: LinkTopic): Forwarder {
  const { actors } = node;
  return {
    ownerIsLocal: (tenantId) => actors.owns(tenantAddress(tenantId).shard),
    ownership(tenantId) {
      const owner = node.link.ownerOf(tenantAddress(tenantId).shard);
      return owner === undefined ? undefined : `${owner.incarnation} ${owner.epoch}`;
    },
    ownerMayCome: () => node.ready() || node.nodes().some(({ self }) => !self),
    forward: (tenantId, payload, timeoutMs) => link.call(tenantAddress(tenantId).shard, payload, timeoutMs),
    stillOwner: (tenantId) => actors.owns(tenantAddress(tenantId).shard),
    otherNodes: () => node.nodes().flatMap(({ nodeId, self }) => (self ? [] : [nodeId])),
    forwardToNode: (nodeId, payload, timeoutMs) => link.call(nodeId, payload, timeoutMs),
  };
}
