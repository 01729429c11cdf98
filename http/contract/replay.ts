import type { HeaderLines } from './exchange.ts';

/** Whether what an idempotency key was given for before is answered, and whether the call then asked for that. */
interface Replay {
  readonly replayed: boolean;
  /** Its body is not the one of the original. */
  readonly differs: boolean;
}

const REPLAYED = '\r\nX-Idempotent-Replay: true';
const DIFFERS = `${REPLAYED}\r\nX-Idempotent-Mismatch: true`;

/** Says that nothing was done again (docs/contract.md, Idempotency). */
export function replayHeaders({ replayed, differs }: Replay): HeaderLines {
  if (!replayed) return '';
  return differs ? DIFFERS : REPLAYED;
}

/** Those headers, for the document. */
export const REPLAY_HEADERS = {
  'X-Idempotent-Replay': 'Always `true`.',
  'X-Idempotent-Mismatch': '`true` where this body asks for something else than the original did.',
} as const;
