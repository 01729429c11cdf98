import { replyCode } from '../described-error.ts';
import { outcomeUnknownFailure, RuntimeFailure, unavailableFailure } from '../runtime-failure.ts';

/** Errors by which Redis refuses to serve now; the script or command was not run. */
const REFUSALS: Readonly<Record<string, string>> = {
  OOM: 'Redis is full (maxmemory)',
  READONLY: 'Redis is a read-only replica',
  MISCONF: 'Redis cannot persist to its disk',
  LOADING: 'Redis is loading its data',
  BUSY: 'Redis is busy with a script',
  NOREPLICAS: 'Redis has too few replicas',
  MASTERDOWN: 'Redis has lost its master',
  CLUSTERDOWN: 'the Redis Cluster is down',
  TRYAGAIN: 'the Redis Cluster is moving slots',
  NOAUTH: 'Redis asks for a password',
  NOPERM: 'Redis does not permit this user to do so',
};

/**
 * Refusals of a server that is not the master, or may no longer be. It is a replica, copies the new master's data, or
 * is cut off from its own replicas.
 */
const MASTERLESS: ReadonlySet<string> = new Set(['READONLY', 'MASTERDOWN', 'LOADING', 'NOREPLICAS']);

/** True if a reply is a refusal of a server that may not be the master. */
export function isMasterless(error: unknown): boolean {
  return MASTERLESS.has(codeOf(error) ?? '');
}

/** Returns the sentence for an answer by which Redis refuses to serve, or `undefined` for any other error. */
export function refusalOf(error: unknown): string | undefined {
  return REFUSALS[codeOf(error) ?? ''];
}

/** Returns the code that begins an error reply, or `undefined` for any other error. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return undefined;
  return replyCode(error.message);
}

/**
 * Translates an error of the client library. If Redis refused, or the command never left, nothing was changed. A reply
 * that names a mistake of ours stays the error it is. In all other cases the command may have been sent, and got no
 * reply.
 */
export function failureOf(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if (error.name === 'ReplyError') {
    const refusal = refusalOf(error);
    return refusal === undefined ? error : unavailableFailure(refusal);
  }
  if (/isn't writeable|isn't ready/.test(error.message)) return unavailableFailure('Redis cannot be reached');
  return outcomeUnknownFailure('the connection to Redis ended before it answered');
}

/** Like `failureOf`, for reads. They change nothing, so no outcome is unknown. */
export function readFailureOf(error: unknown): Error {
  const failure = failureOf(error);
  if (!(failure instanceof RuntimeFailure)) return failure;
  return unavailableFailure(failure.message);
}
