/** The plans: how many shops a tenant may have, and its API calls of a calendar month (docs/contract.md, Quota). */
export const PLANS = {
  free: { shops: 1, apiCallsPerMonth: 1_000 },
  starter: { shops: 3, apiCallsPerMonth: 50_000 },
  growth: { shops: 20, apiCallsPerMonth: 1_000_000 },
  scale: { shops: 500, apiCallsPerMonth: 50_000_000 },
} as const;

/** The name of a plan. */
export type PlanName = keyof typeof PLANS;

/** The names of all plans. */
export const PLAN_NAMES = Object.keys(PLANS) as PlanName[];
