const KEYWORDS = new Set(['stop', 'arret', 'desabonner', 'unsubscribe']);
const LONGEST_KEYWORD_UNITS = 'unsubscribe'.length;
/**
 * Punctuation, symbols (emoji are symbols), marks (an emoji's variation selector is one), format characters,
 * white space.
 */
const IGNORED_AT_ENDS = /[\p{P}\p{S}\p{M}\p{Cf}\s]/uy;
/** The emoji of a digit. Its variation selector may be missing. */
const KEYCAP = /[0-9]\uFE0F?\u20E3/gu;
/** The number of a line in a list: digits directly followed by a full stop, a bracket or similar. */
const LIST_NUMBER = /\p{Nd}{1,3}(?=[\p{P}\p{M}])/uy;
const MARKS = /\p{M}|\p{Cf}/gu;

/**
 * True if an inbound text opts its sender out: the whole text is STOP, ARRÊT, DÉSABONNER or UNSUBSCRIBE. Case and
 * accents do not matter. The number of a list may precede the word, as in `1. STOP`; `1 stop` may be another kind of
 * answer.
 *
 * Ignored at both ends are white space, punctuation, symbols, emoji and formatting marks. So `"STOP"`, `*STOP*`,
 * `.STOP` and `STOP 😀` count (docs/contract.md, Opt-out). Invisible format characters, which keyboards add around
 * right-to-left text, are ignored too. The time grows linearly with the text.
 */
export function isOptOut(message: string): boolean {
  // A keycap counts as punctuation: it is ignored at the ends, and not within a word.
  const text = message.replace(KEYCAP, '!');
  let end = text.length;
  while (end > 0 && isIgnoredAtEnds(text, end - 1)) end -= 1;
  let start = afterIgnored(text, 0, end);
  LIST_NUMBER.lastIndex = start;
  if (LIST_NUMBER.test(text)) start = afterIgnored(text, LIST_NUMBER.lastIndex, end);
  const word = text.slice(start, end);
  // Decomposed letters and format characters lengthen a word. A text far longer than any keyword is not one.
  if (word.length > 4 * LONGEST_KEYWORD_UNITS) return false;
  return KEYWORDS.has(word.normalize('NFKD').replace(MARKS, '').toLowerCase());
}

/** Returns the index of the first character between the two that is not ignored. */
function afterIgnored(text: string, startIndex: number, end: number): number {
  let start = startIndex;
  while (start < end && isIgnoredAtEnds(text, start)) start += 1;
  return start;
}

/** True if the character at the index is ignored. Either index of a surrogate pair means the pair. */
function isIgnoredAtEnds(text: string, index: number): boolean {
  IGNORED_AT_ENDS.lastIndex = index;
  return IGNORED_AT_ENDS.test(text);
}
