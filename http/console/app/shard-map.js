// @ts-check
import { html } from '/console/preact.js';
import { milliseconds } from './format.js';
import { Table } from './parts.js';
/** @import { FleetNode } from './answers.js' */

/**
 * Shows the owner of each shard, as cells and as text.
 * @param {{ nodes: FleetNode[], shards: { shard: number, nodeId: string | null, epoch: number }[] }} props
 */
export function ShardMap({ nodes, shards }) {
  const names = nodes.map(({ nodeId }) => nodeId).sort();
  const mark = (/** @type {string | null} */ nodeId) =>
    nodeId === null ? 'nobody' : `s${names.indexOf(nodeId) % 6}`;
  return html`
    <${Table}
      caption="Nodes"
      empty="No node is known."
      rows=${nodes}
      keyOf=${(/** @type {FleetNode} */ { incarnation }) => incarnation}
      columns=${[
        {
          name: 'Node',
          cell: (/** @type {FleetNode} */ { nodeId, self }) =>
            html`<span class="node"><i class=${mark(nodeId)}></i>${nodeId}${self ? ' (this one)' : ''}</span>`,
        },
        { name: 'Shards', numeric: true, cell: (/** @type {FleetNode} */ node) => node.shards },
        {
          name: 'Lease holds',
          numeric: true,
          cell: (/** @type {FleetNode} */ { leaseMarginMs }) =>
            leaseMarginMs === undefined ? '–' : milliseconds(leaseMarginMs),
        },
      ]}
    />
    <div class="shards" aria-hidden="true">
      ${shards.map(
        ({ shard, nodeId, epoch }) =>
          html`<i class=${mark(nodeId)} title=${`shard ${shard}: ${nodeId ?? 'nobody'}, epoch ${epoch}`}></i>`,
      )}
    </div>
  `;
}
