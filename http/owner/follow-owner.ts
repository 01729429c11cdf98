import { type Clock, sleep } from '../../runtime/clock.ts';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import type { Random } from '../../runtime/random.ts';
import { FORWARD_TIMEOUT_MS, type Forwarder } from './forwarder.ts';
import type { OwnerReply } from './owner-reply.ts';

export interface FollowOptions {
  readonly forwarder: Pick<Forwarder, 'ownership' | 'ownerMayCome'>;
  readonly clock: Clock;
  readonly random: Random;
}

/** A request of a tenant that may be moving to another node. */
export interface FollowedRequest {
  readonly tenantId: string;
  /** The reply of an owner that was asked before, and its ownership. Absent if none was asked. */
  readonly refused?: { readonly ownership: string | undefined; readonly reply: OwnerReply };
  /** Asks the tenant's present owner. `spentMs`: milliseconds waited so far. Rejects only by a defect. */
  ask(spentMs: number): MaybePromise<OwnerReply>;
}

/**
 * Most requests of an edge that wait for an owner at a time. After a node died, whole shards have no owner, and other
 * requests need the memory.
 */
const MOST_WAITING = 256;
/**
 * The range of waits between two checks of the owner, in milliseconds. Each wait is random, so that the requests of a
 * tenant do not come together.
 */
const LOOK_AGAIN_MS = { from: 10, to: 40 };

/**
 * Forwards requests to the owners of tenants that are moving. An owner is asked once each time it gets the tenant. It
 * may answer that the tenant has moved and that it did nothing. The request then waits for the next owner, up to the
 * time limit of a forwarded request. Any other answer is final. Waiting reads this node's own view of the owners, so it
 * costs Redis nothing.
 */
export function ownerFollower({
  forwarder,
  clock,
  random,
}: FollowOptions): (request: FollowedRequest) => Promise<OwnerReply> {
  let waitingCount = 0;

  /** Resolves with true once another owner is known, or with false if it gives up. */
  async function nextOwner(
    tenantId: string,
    formerOwner: string | undefined,
    endMs: number,
  ): Promise<boolean> {
    if (waitingCount >= MOST_WAITING) return false;
    waitingCount += 1;
    try {
      for (;;) {
        const ownership = forwarder.ownership(tenantId);
        if (ownership !== undefined && ownership !== formerOwner) return true;
        const { from, to } = LOOK_AGAIN_MS;
        const pauseMs = from + (to - from) * random();
        if (!forwarder.ownerMayCome() || clock.monotonicMs() + pauseMs >= endMs) return false;
        await sleep(clock, pauseMs);
      }
    } finally {
      waitingCount -= 1;
    }
  }

  return async ({ tenantId, refused, ask }) => {
    const startedMs = clock.monotonicMs();
    const endMs = startedMs + FORWARD_TIMEOUT_MS;
    let ownership = refused === undefined ? forwarder.ownership(tenantId) : refused.ownership;
    let reply = refused === undefined ? await ask(0) : refused.reply;
    while (reply.hasMoved && (await nextOwner(tenantId, ownership, endMs))) {
      ownership = forwarder.ownership(tenantId);
      reply = await ask(clock.monotonicMs() - startedMs);
    }
    return reply;
  };
}
