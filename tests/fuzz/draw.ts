import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { Random } from '../../runtime/random.ts';
import { seededRandom } from '../testbed/seeded-random.ts';

/** Values at which parsers of JSON and of stored forms go wrong. */
const ODD: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    2 ** 31,
    2 ** 53,
    -(2 ** 63),
    1e308,
    '',
    ' ',
    '\u0000',
    '\ud800',
    '\u202e',
  ],
  ...[
    '__proto__',
    'constructor',
    '../..',
    '%00',
    '+',
    'x'.repeat(70_000),
    '😀'.repeat(3_000),
    '1e999',
    'NaN',
  ],
  ...[[], {}, [[]], [null], { a: { b: {} } }, Array(2_000).fill(0)],
];
/** Bytes that mean something to the parsers of heads, protobufs and numbers. */
const TELLING = [0, 1, 9, 10, 13, 32, 34, 37, 44, 45, 47, 58, 61, 92, 123, 125, 127, 128, 255];

/** All chances of one case, drawn from its number: the same number gives the same case. */
export class Draw {
  readonly random: Random;

  constructor(name: string) {
    this.random = seededRandom(createHash('sha256').update(name).digest().readUInt32LE());
  }

  /** A whole number from 0 up to, and without, `below`. */
  int(below: number): number {
    return Math.floor(this.random() * below);
  }

  isOneIn(cases: number): boolean {
    return this.int(cases) === 0;
  }

  pick<Value>(values: readonly Value[]): Value {
    if (values.length === 0) throw new Error('there is nothing to choose from');
    return values[this.int(values.length)] as Value;
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.int(256)));
  }

  /** A value that fast-check makes. */
  made<Value>(values: fc.Arbitrary<Value>): Value {
    return fc.sample(values, { seed: this.int(2 ** 31), numRuns: 1 })[0] as Value;
  }

  odd(): unknown {
    return this.pick(ODD);
  }

  /** The bytes with one to eight changes: flipped, cut off, doubled, moved, or taken from `otherArrays`. */
  mutated(bytes: Uint8Array, otherArrays: readonly Uint8Array[] = []): Buffer {
    let result: Buffer = Buffer.from(bytes);
    for (let changes = 1 + this.int(8); changes > 0; changes -= 1)
      result = this.#changed(result, otherArrays);
    return result;
  }

  /** The text with such changes to its UTF-8. */
  mutatedText(text: string): string {
    return this.mutated(Buffer.from(text)).toString();
  }

  /** The JSON value with one part left out, doubled or instead of another. */
  mutatedJson(value: unknown): unknown {
    if (this.isOneIn(6) || typeof value !== 'object' || value === null) return this.#otherLeaf(value);
    if (Array.isArray(value)) {
      const items = [...value] as unknown[];
      const index = this.int(items.length + 1);
      if (this.isOneIn(4)) items.splice(index, 1);
      else if (this.isOneIn(3)) items.splice(index, 0, this.odd());
      else if (items.length > 0) items[index % items.length] = this.mutatedJson(items[index % items.length]);
      return items;
    }
    const names = Object.keys(value);
    const name = names.length > 0 && !this.isOneIn(8) ? this.pick(names) : String(this.odd()).slice(0, 20);
    if (this.isOneIn(5)) return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
    return { ...value, [name]: this.mutatedJson((value as Record<string, unknown>)[name]) };
  }

  #otherLeaf(value: unknown): unknown {
    if (typeof value === 'string' && this.isOneIn(2)) return this.mutatedText(value);
    if (typeof value === 'number' && this.isOneIn(2)) return value + this.pick([-1, 1, 0.5, 1e6, -1e12]);
    return this.odd();
  }

  #changed(bytes: Buffer, otherArrays: readonly Uint8Array[]): Buffer {
    const index = this.int(bytes.length + 1);
    const end = Math.min(bytes.length, index + 1 + this.int(16));
    const [bytesBefore, part, after] = [
      bytes.subarray(0, index),
      bytes.subarray(index, end),
      bytes.subarray(end),
    ];
    switch (this.int(8)) {
      case 0:
        return bytesBefore;
      case 1:
        return Buffer.concat([bytesBefore, after]);
      case 2:
        return Buffer.concat([bytesBefore, part, part, after]);
      case 3:
        return Buffer.concat([bytesBefore, Buffer.alloc(1 + this.int(64), this.pick(TELLING)), part, after]);
      case 4:
        return Buffer.concat([bytesBefore, this.bytes(part.length), after]);
      case 5: {
        const otherBytes = otherArrays.length === 0 ? bytes : Buffer.from(this.pick(otherArrays));
        const from = this.int(otherBytes.length);
        return Buffer.concat([bytesBefore, otherBytes.subarray(from, from + this.int(200)), after]);
      }
      default: {
        if (index >= bytes.length) return bytes;
        const changedBytes = Buffer.from(bytes);
        changedBytes[index] = this.isOneIn(2)
          ? this.pick(TELLING)
          : (changedBytes[index] ?? 0) ^ (1 << this.int(8));
        return changedBytes;
      }
    }
  }
}
