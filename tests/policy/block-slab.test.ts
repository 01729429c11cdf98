import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BLOCK_SIZES, BlockSlab, WORDS_PER_POINT } from '../../policy/limits/block-slab.ts';
import { propertyRuns } from './property-runs.ts';

test('blocks in use never share a word, whatever was freed before, and all memory comes back', (t) => {
  const step = fc.record({
    size: fc.nat({ max: BLOCK_SIZES.length - 1 }),
    times: fc.nat({ max: 40 }),
    frees: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const slab = new BlockSlab();
      const live: { size: number; block: number; mark: number }[] = [];
      let mark = 0;
      for (const { size, times, frees } of steps) {
        for (let time = 0; time < times; time += 1) {
          const [gone] = frees ? live.splice((7 * time) % Math.max(1, live.length), 1) : [];
          if (gone !== undefined) {
            slab.free(gone.size, gone.block);
          } else {
            mark += 1;
            const block = slab.allocate(size);
            partsOf(slab, size, block).fill(mark);
            live.push({ size, block, mark });
          }
        }
      }
      for (const { size, block, mark } of live) {
        assert.ok(partsOf(slab, size, block).every((word) => word === mark));
      }
      assert.equal(slab.bytes > 0, live.length > 0);
      for (const { size, block } of live) {
        slab.free(size, block);
      }
      assert.equal(slab.bytes, 0);
    }),
    propertyRuns(t, 300),
  );
});

test('freed blocks are used before new chunks are made', () => {
  const slab = new BlockSlab();
  const blocks = Array.from({ length: 5000 }, () => slab.allocate(1));
  const { bytes } = slab;
  assert.ok(bytes < 1.1 * 5000 * 4 * WORDS_PER_POINT * BLOCK_SIZES[1], `${bytes} bytes`);
  for (const block of blocks.filter((_, index) => index % 2 === 0)) {
    slab.free(1, block);
  }
  for (let index = 0; index < 2500; index += 1) {
    slab.allocate(1);
  }
  assert.equal(slab.bytes, bytes);
});

function partsOf(slab: BlockSlab, size: number, block: number): Uint32Array {
  const offset = slab.offset(size, block);
  return slab.chunk(size, block).subarray(offset, offset + (BLOCK_SIZES[size] as number) * WORDS_PER_POINT);
}
