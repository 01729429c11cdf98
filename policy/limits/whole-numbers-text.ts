const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const digitOf = new Map([...alphabet].map((character, digit) => [character, digit]));

/** Values of the five bits that one character carries. Its sixth bit is set if another character follows. */
const radix = 32;

/** Whole numbers from 0 to 2^53 - 1 as short text: small numbers take one character (as in source maps). */
export function encodeWholeNumbers(numbers: readonly number[]): string {
  let text = '';
  for (const number of numbers) {
    let rest = number;
    while (rest >= radix) {
      text += alphabet[(rest % radix) + radix];
      rest = Math.floor(rest / radix);
    }
    text += alphabet[rest];
  }
  return text;
}

/** The numbers that were encoded. Throws on a text that `encodeWholeNumbers` did not write. */
export function decodeWholeNumbers(text: string): number[] {
  const numbers: number[] = [];
  let number = 0;
  let scale = 1;
  for (const character of text) {
    const digit = digitOf.get(character);
    if (digit === undefined) {
      throw new Error('stored numbers are not readable');
    }
    number += (digit % radix) * scale;
    scale *= radix;
    if (digit < radix) {
      numbers.push(number);
      number = 0;
      scale = 1;
    }
  }
  if (scale !== 1) {
    throw new Error('stored numbers are cut short');
  }
  return numbers;
}
