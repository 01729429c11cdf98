import * as v from 'valibot';
import { encodeForwarded, type NodeRequest } from './forwarded-form.ts';
import { FORWARD_TIMEOUT_MS, type Forwarder } from './forwarder.ts';

/** The part of a forwarder that asks all nodes. */
export type OtherNodes = Pick<Forwarder, 'otherNodes' | 'forwardToNode'>;

/** A request to all nodes, the schema of its replies, and this node's own reply. */
export interface FleetQuestion<Answer> {
  readonly request: NodeRequest;
  /** Nodes of other builds answer too, so it must accept unknown fields. */
  readonly schema: v.GenericSchema<unknown, Answer>;
  own(): Promise<Answer>;
}

export interface FleetAnswers<Answer> {
  readonly own: Answer;
  readonly others: readonly { readonly nodeId: string; readonly answer: Answer }[];
  /** Nodes that did not answer within `FORWARD_TIMEOUT_MS`, or whose answer has another shape. */
  readonly silentNodes: readonly string[];
}

/** Asks this node and all others at once. Rejects only if this node's own answer does. */
export async function askAllNodes<Answer>(
  nodes: OtherNodes,
  { request, schema, own }: FleetQuestion<Answer>,
): Promise<FleetAnswers<Answer>> {
  const nodeIds = nodes.otherNodes();
  const [ownAnswer, settledAnswers] = await Promise.all([
    own(),
    Promise.allSettled(nodeIds.map((nodeId) => askNode(nodes, { nodeId, request, schema }))),
  ]);
  const otherAnswers: FleetAnswers<Answer>['others'][number][] = [];
  const silentNodes: string[] = [];
  for (const [index, nodeId] of nodeIds.entries()) {
    const result = settledAnswers[index];
    if (result?.status === 'fulfilled') otherAnswers.push({ nodeId, answer: result.value });
    else silentNodes.push(nodeId);
  }
  return { own: ownAnswer, others: otherAnswers, silentNodes };
}

/** Asks one other node. Rejects if it does not answer within `FORWARD_TIMEOUT_MS`, or with another shape. */
export async function askNode<Answer>(
  nodes: Pick<Forwarder, 'forwardToNode'>,
  { nodeId, request, schema }: { readonly nodeId: string } & Omit<FleetQuestion<Answer>, 'own'>,
): Promise<Answer> {
  const text = await nodes.forwardToNode(nodeId, encodeForwarded(request), FORWARD_TIMEOUT_MS);
  return v.parse(schema, JSON.parse(text));
}
