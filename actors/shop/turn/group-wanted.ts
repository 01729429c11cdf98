import type { Failure } from '../../failure.ts';

/** A send to a group of which the open session did not tell: it is asked for that group once before the answer. */
export interface GroupWanted {
  readonly ok: false;
  /** The answer when it still tells of none. */
  readonly failure: Failure;
  readonly groupId: string;
}
