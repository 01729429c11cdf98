/** Words that the project gave up for the field's own do not come back. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, writtenFiles } from './repository-files.ts';

interface RefusedWord {
  /** Matches the word where it stands for the concept. */
  readonly word: RegExp;
  /** What to write in its place. */
  readonly instead: string;
  /** Paths where the word means something else, or is part of a form that is stored or sent. */
  readonly allowed?: RegExp;
}

const REFUSED: readonly RefusedWord[] = [
  { word: /\b(?:Eventual|onceKnown)\b/, instead: 'MaybePromise, mapMaybePromise' },
  { word: /\bremembering\b/, instead: 'memoize' },
  { word: /\bpatience(?:Ms)?\b|\bPATIENCE\w*/i, instead: 'timeout, TakeoverGrace' },
  { word: /\bfoothold\b/i, instead: 'ActorResources' },
  { word: /\bTurnEnd\b/, instead: 'Waiters' },
  { word: /\b\w*lookout\b/i, instead: 'ActorIndex' },
  { word: /\b\w*glance\b/i, instead: 'summary' },
  { word: /\bstirred\b/, instead: 'dirty' },
  {
    word: /\bstandings?\b|Standing/,
    instead: 'status',
    // The name of a field of the operators' event `node`.
    allowed:
      /^http\/(?:events|operator-api|console)\/|^tests\/(?:http\/fleet-events|e2e\/several-nodes|console)/,
  },
  { word: /\b[hH]ops?\b|\b[a-z]+Hop\b|\bhop[A-Z]/, instead: 'forward (to the owner)' },
  { word: /\b\w*desks?\b/i, instead: 'service, client' },
  { word: /household/i, instead: 'ProcessGroup' },
  { word: /\bRequestWords\b/, instead: 'LogLineParts' },
  { word: /\bAsciiText\b/, instead: 'GrowingBuffer' },
  { word: /\bHeldRefusals\b/, instead: 'DelayedRejections' },
  { word: /\bcondemn|#lonely\b/, instead: 'terminate, unreachableTimer' },
  { word: /\bbur(?:y|ied)\b/, instead: 'deadLetter' },
  { word: /\bSlices\b/, instead: 'Yielder' },
  { word: /\bgoOnAlike\b/, instead: 'sameWhenRestored' },
  {
    word: /\bfates?\b|\bfate[A-Z]|[a-z]Fate|\bFate/,
    instead: 'state, outcome',
    // The name of a field that nodes send each other.
    allowed: /^actors\/shop\/(?:turn|record|effect)\/|^tests\/actors\/pool\.test\.ts$/,
  },
  { word: /\b\w*[sS]eats?\b/, instead: 'slot' },
  {
    word: /\btally\b|\bTally\b/,
    instead: 'counters',
    // What the policy's ledger counts of one recipient; the name of a key in Redis.
    allowed: /^policy\/|^(?:tests|bench)\/policy\/|^http\/request-log\//,
  },
  { word: /\bhand_over\b|\bhanded_over\b|\bhandedOver\b/, instead: 'relinquish, relayed' },
  { word: /\bShopDraft\b/, instead: 'TurnBuilder' },
  { word: /\bsupervisedTenant\b/, instead: 'inspectTenant' },
];

/** This file and the documents that tell of former times. */
const EXEMPT = /^tests\/bin\/refused-words\.test\.ts$|^CHANGELOG\.md$/;

/** Each use of a refused word in a text, with its replacement. */
function refusedIn(path: string, text: string): string[] {
  return REFUSED.filter(({ word, allowed }) => word.test(text) && !allowed?.test(path)).map(
    ({ word, instead }) => `${path}: "${word.exec(text)?.[0]}"; write ${instead}`,
  );
}

test('no file uses a word that was given up', () => {
  const paths = writtenFiles().filter((path) => !EXEMPT.test(path));
  assert.ok(paths.length > 500, `${paths.length} files`);
  assert.deepEqual(
    paths.flatMap((path) => refusedIn(path, readFileSync(join(ROOT, path), 'utf8'))),
    [],
  );
});

test('each of these words is found where it stands', () => {
  const samples =
    'onceKnown remembering patienceMs Foothold TurnEnd ActorLookout glance stirred standing hops'
      .concat(' PoolDesk Household RequestWords AsciiText HeldRefusals condemn bury Slices goOnAlike fates')
      .concat(' SessionSeat tally handedOver ShopDraft supervisedTenant')
      .split(' ');
  assert.equal(samples.length, REFUSED.length);
  for (const sample of samples) assert.equal(refusedIn('a.ts', ` ${sample} `).length, 1, sample);
});
