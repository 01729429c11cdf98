import type { Clock } from '../../../runtime/clock.ts';
import type { EgressAddress } from '../../egress-address.ts';
import { egressThrough } from '../../outbound/egress.ts';
import { reachThrough } from '../../outbound/egress-check.ts';
import { EgressFailure } from '../../outbound/egress-failure.ts';

/** How long a connection may take, in milliseconds. */
const CONNECTED_WITHIN_MS = 10_000;

/**
 * Makes a connection to the socket's address through a proxy. Resolves with the reason if it fails, or undefined if it
 * works.
 */
export async function egressProblem(
  address: EgressAddress,
  { socketUrl, clock }: { readonly socketUrl: string; readonly clock: Pick<Clock, 'after'> },
): Promise<string | undefined> {
  const over = new AbortController();
  const timer = clock.after(CONNECTED_WITHIN_MS, () => over.abort());
  try {
    await reachThrough(egressThrough(address), socketUrl, over.signal);
    return undefined;
  } catch (error) {
    if (error instanceof EgressFailure) return error.message;
    throw error;
  } finally {
    timer.cancel();
  }
}
