import type { Metrics } from './metrics.ts';

/**
 * Reasons for a refusal: no token, a wrong one, too many wrong ones from its address, too small a role, and too many
 * changes.
 */
const REFUSAL_REASONS = ['missing', 'invalid', 'limited', 'role', 'changes'] as const;

export type OperatorRefusalReason = (typeof REFUSAL_REASONS)[number];

/** Registers the counters of operators' calls. `operators`: the names of all operators. */
export function operatorCounters(
  metrics: Pick<Metrics, 'counted'>,
  operators: readonly string[],
): {
  readonly countRefusal: (labels: { readonly reason: OperatorRefusalReason }) => void;
  readonly countChange: (labels: { readonly operator: string }) => void;
} {
  return {
    countRefusal: metrics.counted(
      'msgapi_operator_refusals_total',
      'Requests of operators refused for their token, their role or too many changes, by reason',
      REFUSAL_REASONS.map((reason) => ({ reason })),
    ),
    countChange: metrics.counted(
      'msgapi_operator_changes_total',
      'Changes that operators tried, by operator',
      operators.map((operator) => ({ operator })),
    ),
  };
}
