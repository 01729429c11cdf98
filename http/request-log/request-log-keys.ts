import { createHash } from 'node:crypto';
import { memoize } from '../../runtime/memoize.ts';

/** When each log was last written: member tenant, score Redis's milliseconds. */
export const REQUEST_LOG_INDEX = 'requests:index';

/** Size of each log in bytes. */
export const REQUEST_LOG_BYTES = 'requests:bytes';

/** Erased logs: member `erasedMark`, score the node's milliseconds. */
export const REQUEST_LOG_ERASED = 'requests:erased';

const REMEMBERED_MARKS = 10_000;

/** The digest by which an erased tenant, shop or person is known without its id. */
export const erasedMark = memoize(REMEMBERED_MARKS, (id: string): string =>
  createHash('sha256').update(id).digest('base64url'),
);

/** Returns the keys of a tenant's log and its counters. They have one hash tag, since one script touches both. */
export function requestLogKeys(logName: string): readonly [log: string, counters: string] {
  return [`{requests:${logName}}:log`, `{requests:${logName}}:tally`];
}

/** Members and scores of a reply WITHSCORES, which RESP3 nests and RESP2 does not. */
export function scoredMembers(reply: unknown): readonly (readonly [member: string, score: number])[] {
  const flatReply = (reply as readonly unknown[]).flat();
  const pairs: [string, number][] = [];
  for (let index = 0; index < flatReply.length; index += 2)
    pairs.push([String(flatReply[index]), Number(flatReply[index + 1])]);
  return pairs;
}
