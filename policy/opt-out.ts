const keywords = new Set(['stop', 'arret', 'desabonner', 'unsubscribe']);
const longestKeywordUnits = 'unsubscribe'.length;
/**
 * Punctuation, symbols (emoji are symbols), marks (an emoji's variation selector is one), format characters,
 * white space.
 */
const ignoredAtEnds = /[\p{P}\p{S}\p{M}\p{Cf}\s]/uy;
const marks = /\p{M}|\p{Cf}/gu;

/**
 * True when an inbound text opts its sender out: the whole text is STOP, ARRÊT, DÉSABONNER or UNSUBSCRIBE, in
 * any case and with or without accents. White space, punctuation, symbols, emoji and formatting marks at both
 * ends are ignored, so `"STOP"`, `*STOP*`, `.STOP` and `STOP 😀` count (docs/contract.md, Opt-out). Invisible
 * format characters, which keyboards add around right-to-left text, are ignored too. Linear in the text.
 */
export function isOptOut(text: string): boolean {
  let start = 0;
  let end = text.length;
  while (end > 0 && isIgnoredAtEnds(text, end - 1)) {
    end -= 1;
  }
  while (start < end && isIgnoredAtEnds(text, start)) {
    start += 1;
  }
  const word = text.slice(start, end);
  // Decomposed letters and format characters lengthen a word; a text many times longer than any is no keyword.
  if (word.length > 4 * longestKeywordUnits) {
    return false;
  }
  return keywords.has(word.normalize('NFKD').replace(marks, '').toLowerCase());
}

/** Whether the character at the index is ignored. Either index of a surrogate pair stands for the pair. */
function isIgnoredAtEnds(text: string, index: number): boolean {
  ignoredAtEnds.lastIndex = index;
  return ignoredAtEnds.test(text);
}
