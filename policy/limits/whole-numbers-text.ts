const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const DIGIT_OF = new Map([...ALPHABET].map((character, digit) => [character, digit]));

/** Values of the five bits that one character carries. Its sixth bit is set if another character follows. */
const RADIX = 32;

/** Whole numbers from 0 to 2^53 - 1 as short text: small numbers take one character (as in source maps). */
export function encodeWholeNumbers(numbers: readonly number[]): string {
  let text = '';
  for (const number of numbers) {
    let remainder = number;
    while (remainder >= RADIX) {
      text += ALPHABET[(remainder % RADIX) + RADIX];
      remainder = Math.floor(remainder / RADIX);
    }
    text += ALPHABET[remainder];
  }
  return text;
}

/** Returns the numbers that were encoded. Throws on a text with another character, or one that is cut short. */
export function decodeWholeNumbers(text: string): number[] {
  const numbers: number[] = [];
  let number = 0;
  let scale = 1;
  for (const character of text) {
    const digit = DIGIT_OF.get(character);
    if (digit === undefined) throw new Error('stored numbers are not readable');
    number += (digit % RADIX) * scale;
    scale *= RADIX;
    if (digit < RADIX) {
      numbers.push(number);
      number = 0;
      scale = 1;
    }
  }
  if (scale !== 1) throw new Error('stored numbers are cut short');
  return numbers;
}
