import type { RunningHttp } from '../http/start-http.ts';
import type { Logger } from '../runtime/logger.ts';

/** Above the first share of descriptors in use new connections are refused, and below the second accepted again. */
const REFUSED_ABOVE = 0.97;
const ACCEPTED_BELOW = 0.9;

/** Keeps the last descriptors of a process for Redis, the chat network and operators. */
export interface SparedDescriptors {
  /** True while new connections of tenants are refused. */
  readonly isSparing: boolean;
  /** Takes the share in use. */
  onSeen(share: number): void;
}

/**
 * Refuses new connections of tenants while hardly any descriptor is left. Otherwise they would wait without an answer
 * until one is free. Meanwhile uWebSockets tries to accept them all the time, which takes a whole core.
 */
export function sparedDescriptors(options: {
  readonly http: Pick<RunningHttp, 'accept'>;
  readonly log: Pick<Logger, 'error' | 'info'>;
}): SparedDescriptors {
  const { http, log } = options;
  let isSparing = false;
  return {
    get isSparing() {
      return isSparing;
    },
    onSeen(share) {
      const wasSparing = isSparing;
      if (share > REFUSED_ABOVE) isSparing = true;
      else if (share < ACCEPTED_BELOW) isSparing = false;
      http.accept(!isSparing);
      if (isSparing && !wasSparing)
        log.error({ share }, 'few file descriptors are left: new calls are refused');
      if (!isSparing && wasSparing)
        log.info({ share }, 'enough file descriptors are free: new calls are accepted');
    },
  };
}
