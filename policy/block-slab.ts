/** Points that blocks of each size hold. 257 is what a window of sub-buckets needs, 1,000 what an exact one may. */
export const BLOCK_SIZES = [4, 8, 16, 32, 64, 128, 257, 512, 1000] as const;

/** 32-bit words of a point. */
export const WORDS_PER_POINT = 2;

/** Words of a chunk, about: 64 KiB, small enough to be no burden and large enough to hold many blocks. */
const chunkWords = 16_384;

const noBlock = 0xffff_ffff;

interface BlocksOfSize {
  readonly words: number;
  readonly blocksPerChunk: number;
  readonly chunks: Uint32Array[];
  /** Blocks ever handed out; the ones behind them were never touched. */
  used: number;
  /** First of the freed blocks; each holds the number of the next in its first word. */
  freed: number;
}

/**
 * Blocks of memory in a few sizes, cut from chunks that are shared by all windows, so that a window costs no object
 * of its own. A freed block is used again for the next window of its size; chunks are kept, so that the memory in
 * use follows the most that was ever needed at a time.
 */
export class BlockSlab {
  readonly #sizes: readonly BlocksOfSize[] = BLOCK_SIZES.map((points) => {
    const words = points * WORDS_PER_POINT;
    return { words, blocksPerChunk: Math.floor(chunkWords / words), chunks: [], used: 0, freed: noBlock };
  });

  /** Memory of all chunks in bytes. */
  get bytes(): number {
    return this.#sizes.reduce(
      (total, size) => total + 4 * size.chunks.length * size.blocksPerChunk * size.words,
      0,
    );
  }

  /** A block of this size, with arbitrary contents. */
  allocate(size: number): number {
    const blocks = this.#of(size);
    if (blocks.freed !== noBlock) {
      const block = blocks.freed;
      blocks.freed = this.chunk(size, block)[this.offset(size, block)] as number;
      return block;
    }
    if (blocks.used === blocks.chunks.length * blocks.blocksPerChunk) {
      blocks.chunks.push(new Uint32Array(blocks.blocksPerChunk * blocks.words));
    }
    blocks.used += 1;
    return blocks.used - 1;
  }

  /** Gives a block back. */
  free(size: number, block: number): void {
    const blocks = this.#of(size);
    this.chunk(size, block)[this.offset(size, block)] = blocks.freed;
    blocks.freed = block;
  }

  /** The chunk in which a block lies. */
  chunk(size: number, block: number): Uint32Array {
    const blocks = this.#of(size);
    return blocks.chunks[Math.floor(block / blocks.blocksPerChunk)] as Uint32Array;
  }

  /** The first word of a block in its chunk. */
  offset(size: number, block: number): number {
    const blocks = this.#of(size);
    return (block % blocks.blocksPerChunk) * blocks.words;
  }

  #of(size: number): BlocksOfSize {
    return this.#sizes[size] as BlocksOfSize;
  }
}
