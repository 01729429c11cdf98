import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { AsciiText } from '../../http/ascii-text.ts';

const ascii = fc.stringMatching(/^[ -~]{0,900}$/);

describe('text kept as bytes', () => {
  it('holds what was added, in order, however it grows', () => {
    const pieces = fc.array(fc.record({ text: ascii, asBytes: fc.boolean() }));
    const property = fc.property(pieces, (added) => {
      const text = new AsciiText();
      for (const piece of added) {
        if (piece.asBytes) text.addBytes(Buffer.from(piece.text));
        else text.add(piece.text);
      }
      const expected = added.map((piece) => piece.text).join('');
      assert.equal(text.bytes.toString(), expected);
      assert.equal(text.length, expected.length);
    });
    fc.assert(property);
  });

  it('writes a number with two decimals as JSON does', () => {
    const property = fc.property(fc.integer({ min: 0, max: 10_000_000 }), (hundredths) => {
      const text = new AsciiText();
      text.addHundredths(hundredths / 100);
      assert.equal(text.bytes.toString(), JSON.stringify(hundredths / 100));
    });
    fc.assert(property, { examples: [[0], [7], [10], [99], [100], [101], [110], [99_999]] });
  });

  it('is empty once taken, and what was taken stays as it was', () => {
    const text = new AsciiText();
    text.add('before');
    const taken = text.takeBytes();
    text.add('after');
    assert.equal(taken.toString(), 'before');
    assert.equal(text.bytes.toString(), 'after');
  });
});
