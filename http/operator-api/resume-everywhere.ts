import type { ResumedActors, SuspendedFilter } from '../../actors/operators/resume-suspended.ts';
import { encodeForwarded } from '../owner/forwarded-form.ts';
import { FORWARD_TIMEOUT_MS, type Forwarder } from '../owner/remote-owner.ts';

/** The result on all nodes. */
export interface ResumedEverywhere extends ResumedActors {
  /** Nodes that did not answer: what is suspended there is not counted, and may have been resumed. */
  readonly silentNodes: readonly string[];
}

/** Resumes on this node and on all others. */
export async function resumeEverywhere(
  filter: SuspendedFilter,
  {
    own,
    forwarder,
  }: {
    readonly own: (filter: SuspendedFilter) => Promise<ResumedActors>;
    readonly forwarder: Pick<Forwarder, 'otherNodes' | 'forwardToNode'>;
  },
): Promise<ResumedEverywhere> {
  const others = forwarder.otherNodes();
  const payload = encodeForwarded({ kind: 'resume_all', filter });
  const [here, ...answers] = await Promise.all([
    own(filter),
    ...others.map((nodeId) =>
      forwarder.forwardToNode(nodeId, payload, FORWARD_TIMEOUT_MS).then(
        (answer) => JSON.parse(answer) as ResumedActors,
        () => nodeId,
      ),
    ),
  ]);
  const told = [here, ...answers.filter((answer) => typeof answer !== 'string')];
  return {
    resumed: told.reduce((sum, { resumed }) => sum + resumed, 0),
    left: told.reduce((sum, { left }) => sum + left, 0),
    silentNodes: answers.filter((answer) => typeof answer === 'string'),
  };
}
