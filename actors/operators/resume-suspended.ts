import { type Clock, sleep } from '../../runtime/clock.ts';
import type { RuntimeNode } from '../../runtime/node/node.ts';
import { partsOf } from '../../runtime/parts.ts';
import type { EachActor } from '../shops/inspection/shop-census.ts';
import { shopAddress, shopOf } from '../shops/records/shop-keys.ts';
import { tenantAddress } from '../tenants/tenant-keys.ts';

/** Selects the suspended actors to resume; all without a filter. */
export interface SuspendedFilter {
  /** The tenant's own actor and its shops'. */
  readonly tenantId: string | undefined;
  /**
   * Part of the error that crashed the actor; case is ignored. An actor with no known cause on its node does not match.
   */
  readonly cause: string | undefined;
}

/** How many suspended actors were resumed, and how many matching ones are left for the next call. */
export interface ResumedActors {
  readonly resumed: number;
  readonly left: number;
}

/** Actors that one call starts on one node: the number that fits into a forwarded request, at the pace of `STEP`. */
const MOST_RESUMED = 200;
/** Actors resumed in one step, and the time between steps: each may open a socket. The pace is that of a take-over. */
const STEP = 20;
const STEP_MS = 50;

/**
 * Resumes up to `MOST_RESUMED` matching suspended actors of this node, and does not wait for the results. If the cause
 * of a crash remains, the actor crashes and is suspended again.
 */
export async function resumeSuspended(
  filter: SuspendedFilter,
  { eachActor, node, clock }: { eachActor: EachActor; node: Pick<RuntimeNode, 'actors'>; clock: Clock },
): Promise<ResumedActors> {
  const suspendedAddresses: ReturnType<typeof tenantAddress>[] = [];
  await eachActor((actor) => {
    if (actor.kind === 'shop') {
      if (actor.status.words.includes('suspended')) suspendedAddresses.push(shopAddress(shopOf(actor)));
    } else if (actor.isSuspended) {
      suspendedAddresses.push(tenantAddress(actor.tenantId));
    }
  });
  const cause = filter.cause?.toLowerCase();
  const matchingAddresses = suspendedAddresses.filter((address) => {
    if (filter.tenantId !== undefined && address.id.split('/')[0] !== filter.tenantId) return false;
    if (cause === undefined) return true;
    const message = node.actors.snapshot(address)?.lastError?.message ?? '';
    return message.toLowerCase().includes(cause);
  });
  const resumedAddresses = matchingAddresses.slice(0, MOST_RESUMED);
  for (const [step, addresses] of [...partsOf(resumedAddresses, STEP)].entries()) {
    if (step > 0) await sleep(clock, STEP_MS);
    // A crash is shown in the log and on the actor's page.
    for (const address of addresses) void node.actors.resume(address).catch(() => undefined);
  }
  return { resumed: resumedAddresses.length, left: matchingAddresses.length - resumedAddresses.length };
}
