/**
 * 64 bits that identify a text. Equal texts have equal fingerprints, so bulk is never missed. Two texts share one by
 * chance with odds of 2^-64. Among the at most 250 texts a shop sends in a day the odds are about 2·10^-15. A chance
 * pair would also have to add up to more than 20 numbers before it could block anything. The hash is not keyed: a
 * caller that builds colliding texts blocks only its own shop.
 */
export interface Fingerprint {
  readonly high: number;
  readonly low: number;
}

// The first two primes of xxHash (Collet). `avalanche` is the finaliser of MurmurHash3 (Appleby, public domain).
const HIGH_MULTIPLIER = 0x9e3779b1;
const LOW_MULTIPLIER = 0x85ebca77;
const LAST_ASCII = 0x7f;
const SPACE = 0x20;

/**
 * Returns the fingerprint of a text. It is the same for texts that docs/contract.md, Messages to numbers, calls equal.
 * Before the comparison a text is in NFKC, trimmed, its white space collapsed and its case folded.
 */
export function textFingerprint(text: string): Fingerprint {
  return hashCollapsed(text, false);
}

/** Fingerprint of an attachment's address, for a message without a text. Each character counts. */
export function mediaFingerprint(mediaUrl: string): Fingerprint {
  return hashExact(mediaUrl, 0x6d656469);
}

/** Fingerprint of a group identifier, which may be too long for a number. */
export function groupFingerprint(groupId: string): Fingerprint {
  return hashExact(groupId, 0x67726f75);
}

/** Case folding through capitals: lower case alone would keep `ß` and `SS`, `ς` and `σ` apart. */
function fold(text: string): string {
  return text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}

/**
 * Hash of a text. ASCII, the common case, is folded on the way; at the first other character it starts over on
 * the folded text.
 */
function hashCollapsed(text: string, isFolded: boolean): Fingerprint {
  let high = 0x74657874;
  let low = 0x2545f491;
  let hasPendingSpace = false;
  let hasStarted = false;
  for (let index = 0; index < text.length; index += 1) {
    let unit = text.charCodeAt(index);
    if (unit > LAST_ASCII && !isFolded) return hashCollapsed(fold(text), true);
    if (isSpace(unit)) {
      hasPendingSpace = hasStarted;
      continue;
    }
    if (unit >= 0x41 && unit <= 0x5a) unit += 0x20;
    if (hasPendingSpace) {
      high = Math.imul(high ^ SPACE, HIGH_MULTIPLIER);
      low = Math.imul(((low << 7) | (low >>> 25)) ^ SPACE, LOW_MULTIPLIER);
      hasPendingSpace = false;
    }
    hasStarted = true;
    high = Math.imul(high ^ unit, HIGH_MULTIPLIER);
    low = Math.imul(((low << 7) | (low >>> 25)) ^ unit, LOW_MULTIPLIER);
  }
  return finish(high, low);
}

function hashExact(text: string, seed: number): Fingerprint {
  let high = seed;
  let low = ~seed;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, HIGH_MULTIPLIER);
    low = Math.imul(((low << 7) | (low >>> 25)) ^ unit, LOW_MULTIPLIER);
  }
  return finish(high, low);
}

/** White space of ECMAScript that is left after NFKC. */
function isSpace(unit: number): boolean {
  return (
    unit === SPACE ||
    (unit >= 0x09 && unit <= 0x0d) ||
    (unit > LAST_ASCII && (unit === 0x1680 || unit === 0x2028 || unit === 0x2029 || unit === 0xfeff))
  );
}

/** Spreads both halves over each other; a bijection, so it adds no collisions. */
function finish(high: number, low: number): Fingerprint {
  let first = avalanche((high + low) | 0);
  let second = avalanche((low + first) | 0);
  first = (first + second) | 0;
  second = (second + first) | 0;
  return { high: first >>> 0, low: second >>> 0 };
}

function avalanche(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
