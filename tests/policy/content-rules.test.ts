/** Phones do not show some characters. A text that has no others is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CAPTION_LIMIT, hasText } from '../../policy/content-rules.ts';

const nameOf = (character: string): string => `U+${character.codePointAt(0)?.toString(16).padStart(4, '0')}`;

/** Blanks, joiners, fillers, selectors, and the two symbols that are drawn as a blank. */
const INVISIBLE = [
  ...[
    ' ',
    '\n',
    '\0',
    '\u00a0',
    '\u00ad',
    '\u034f',
    '\u061c',
    '\u115f',
    '\u1160',
    '\u17b4',
    '\u180b',
    '\u180e',
  ],
  ...['\u200b', '\u200d', '\u202e', '\u2060', '\u2800', '\u3000', '\u3164', '\ufe0f', '\ufeff', '\uffa0'],
  ...['\u{1d159}', '\u{e0020}', '\u{e0100}'],
];

/** Their neighbours: braille, a Hangul letter, an accent alone, a note, and the sign of an unknown character. */
const VISIBLE = ['.', '\u0301', '\u2801', '\u3163', '\ufffd', '\u{1d15d}', '\u{1f600}'];

test('a caption may have as many characters as the contract says', () => {
  assert.equal(CAPTION_LIMIT, 700);
});

test('a text without visible characters counts as no text', () => {
  assert.deepEqual(INVISIBLE.filter(hasText).map(nameOf), []);
  assert.equal(hasText(INVISIBLE.join('')), false);
});

test('one visible character makes a text, whatever surrounds it', () => {
  for (const character of VISIBLE) assert.ok(hasText(`\u2800${character}\u200b`), nameOf(character));
});
