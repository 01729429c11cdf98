// @ts-check
import { html } from '/console/preact.js';
import { milliseconds } from './format.js';
import { Table } from './parts.js';

/**
 * Which node owns which shard, as cells and in words.
 * @param {{ nodes: any[], shards: { shard: number, nodeId: string | null, epoch: number }[] }} props
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
      keyOf=${(/** @type {any} */ { incarnation }) => incarnation}
      columns=${[
        {
          name: 'Node',
          cell: (/** @type {any} */ { nodeId, self }) =>
            html`<span class="node"><i class=${mark(nodeId)}></i>${nodeId}${self ? ' (this one)' : ''}</span>`,
        },
        { name: 'Shards', numeric: true, cell: (/** @type {any} */ node) => node.shards },
        {
          name: 'Lease holds',
          numeric: true,
          cell: (/** @type {any} */ { leaseMarginMs }) =>
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
