import * as v from 'valibot';
import type { ResumedActors, SuspendedFilter } from '../../../actors/operators/resume-suspended.ts';
import { count } from '../../../actors/reply-schemas/reply-fields.ts';
import { askAllNodes, type OtherNodes } from '../../owner/ask-all-nodes.ts';

export interface ResumedEverywhere extends ResumedActors {
  /** Nodes that did not answer. Their suspended actors are not counted, and may have been resumed. */
  readonly silentNodes: readonly string[];
}

const resumedActors = v.object({ resumed: count, left: count });

/** Resumes on this node and on all others. */
export async function resumeEverywhere(
  filter: SuspendedFilter,
  nodes: {
    readonly own: (filter: SuspendedFilter) => Promise<ResumedActors>;
    readonly forwarder: OtherNodes;
  },
): Promise<ResumedEverywhere> {
  const { own, others, silentNodes } = await askAllNodes(nodes.forwarder, {
    request: { kind: 'resume_all', filter },
    schema: resumedActors,
    own: () => nodes.own(filter),
  });
  const answers = [own, ...others.map(({ answer }) => answer)];
  return {
    resumed: answers.reduce((sum, { resumed }) => sum + resumed, 0),
    left: answers.reduce((sum, { left }) => sum + left, 0),
    silentNodes,
  };
}
