/** Keys of the versions that the fleet's clients send. They are hints: written unfenced, and read by every node. */
import type { ClientVersion } from './worker-protocol.ts';

/** The version that the network's page named last. */
export const NAMED_VERSION_KEY = 'client-version';
/** The version that operators set. */
export const SET_VERSION_KEY = 'client-version:set';

/** Reads a stored version, or returns undefined if there is none. */
export function readClientVersion(text: unknown): ClientVersion | undefined {
  if (typeof text !== 'string') return undefined;
  const [major, minor, patch] = text.split('.').map(Number);
  const isWhole = [major, minor, patch].every((part) => Number.isSafeInteger(part));
  return isWhole ? [major ?? 0, minor ?? 0, patch ?? 0] : undefined;
}
