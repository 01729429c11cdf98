const keywords = new Set(['stop', 'arret', 'desabonner', 'unsubscribe']);
const longestKeywordUnits = 'unsubscribe'.length;
const ignoredAtEnd = /[\p{P}\p{Cf}\s]/uy;
const marks = /\p{M}|\p{Cf}/gu;

/**
 * True when an inbound text opts its sender out: the whole text is STOP, ARRÊT, DÉSABONNER or UNSUBSCRIBE, white
 * space around it and punctuation behind it ignored, in any case and with or without accents (DESIGN section 4).
 * Invisible format characters, which keyboards add around right-to-left text, are ignored too. Linear in the text.
 */
export function isOptOut(text: string): boolean {
  let end = text.length;
  while (end > 0 && isIgnoredAtEnd(text, end - 1)) {
    end -= 1;
  }
  const word = text.slice(0, end).trimStart();
  // Decomposed letters and format characters lengthen a word; a text many times longer than any is no keyword.
  if (word.length > 4 * longestKeywordUnits) {
    return false;
  }
  return keywords.has(word.normalize('NFKD').replace(marks, '').toLowerCase().trim());
}

function isIgnoredAtEnd(text: string, index: number): boolean {
  ignoredAtEnd.lastIndex = index;
  return ignoredAtEnd.test(text);
}
