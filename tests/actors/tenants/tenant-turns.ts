import { tenantBehaviour } from '../../../actors/tenants/turns/tenant-behaviour.ts';
import { KeyLimits } from '../../../policy/limits/key-limits.ts';

/** The facts of a turn if nothing is stored about the numbers of its command. */
export const NO_FACTS = { contacts: new Map(), customers: new Set<string>() };

/** Returns the behaviour of tenants. Their effects do nothing. */
export function tenantTurns(change: Partial<Parameters<typeof tenantBehaviour>[0]> = {}) {
  return tenantBehaviour({
    keyLimits: new KeyLimits(),
    makeId: () => '',
    retentionMs: 1,
    perform: () => undefined,
    leave: () => undefined,
    reseal: (_tenantId, webhook) => webhook,
    ...change,
  });
}
